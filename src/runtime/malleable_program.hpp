// SPDX-License-Identifier: MIT
// A program's part in resizes: what libelastic-mpi is, behind its C interface.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "runtime/channel.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/communicator.hpp"
#include "runtime/elastic_mpi.h"
#include "runtime/objects.hpp"

namespace elastic::runtime {

// elastic_mpi.h describes the functions that have the same names there.
class MalleableProgram {
  public:
    // Sets `code` if it fails.
    static Result<std::unique_ptr<MalleableProgram>> open(MPI_Comm comm, unsigned flags, int& code);

    bool reborn() const { return checkpoint_.generation > 0; }

    struct Block {
        void* data;
        std::uint64_t lo, hi;
    };
    // Sets `code` if it fails.
    Result<Block> array(const std::string& name, std::uint64_t element, std::uint64_t count,
                        int& code);
    Result<void> value(const std::string& name, void* data, std::size_t size);
    Result<void> objects(const ObjectCalls& calls);
    int owner(std::uint64_t object) const { return objects_.owner(object); }
    bool due();
    void sync();
    Result<void> request(int change);
    bool requested() const { return requested_; }
    void close();

    std::string detail;

  private:
    MalleableProgram(MPI_Comm comm, unsigned flags) : communicator_(comm), flags_(flags) {}

    std::string temporary_folder();
    Result<void> meet();
    Result<void> be_reborn();
    Result<void> restore(Phases& phases);
    Result<void> map_all();
    Result<void> map(const Array& array);
    Result<Array> make_array(const std::string& name, std::uint64_t element, std::uint64_t count);
    Bounds bounds_of(const Array& array, std::size_t blocks) const;
    bool hear(std::string& over);
    void resize(const Message& request);
    Result<void> save(const Message& request, const std::vector<std::string>& staying,
                      Phases& phases);
    std::string hand_over(const Result<void>& saved, const Phases& phases);
    Result<Checkpoint> evacuate(const Message& request, const std::vector<std::string>& staying,
                                Phases& phases);
    Result<void> move_all(Checkpoint& checkpoint, const std::vector<std::string>& nodes,
                          const std::string& stem);
    void leave(const std::vector<std::string>& staying);
    void forget_resize();
    std::string stem() const;

    Communicator communicator_;
    unsigned flags_;
    std::optional<Meeting> meeting_;  // nothing: there is no launcher
    std::optional<Channel> channel_;  // process 0's
    std::optional<Message> due_;      // a resize that sync() carries out
    bool requested_ = false;          // and there was neither a resize nor an answer
    std::optional<Message> answer_;   // process 0's, which the others do not know of yet
    double answered_ = 0;             // when it came
    std::string spill_;
    std::optional<Store> store_;
    Checkpoint checkpoint_;  // of which this world has been born; arrays: those there are now
    std::map<std::string, Mapping> mapped_;
    std::map<std::string, std::pair<void*, std::size_t>> values_;
    Objects objects_;
};

}  // namespace elastic::runtime
