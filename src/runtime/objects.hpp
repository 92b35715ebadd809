// SPDX-License-Identifier: MIT
// Irregular work ([gupta] section III): a program's objects, which processes have, pack and unpack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/communicator.hpp"
#include "runtime/store.hpp"

namespace elastic::runtime {

// What the program says of its objects; see elastic_mpi_objects().
struct ObjectCalls {
    std::uint64_t count = 0;
    std::size_t (*pack)(std::uint64_t, void*, void*) = nullptr;
    void (*unpack)(std::uint64_t, const void*, std::size_t, void*) = nullptr;
    double (*load)(std::uint64_t, void*) = nullptr;
    void* arg = nullptr;
};

enum class Balancing { refine, greedy };

// What needs a Communicator is collective.
class Objects {
  public:
    // In a program that begins: equal blocks.
    void deal(const Communicator& communicator, const ObjectCalls& calls);
    // In one that is reborn: the owners that the checkpoint says, before the program's calls are
    // known.
    void inherit(std::vector<int> owners) { owners_ = std::move(owners); }
    // The objects that this process has of `packed`, by the program's calls.
    Result<void> unpack(Communicator& communicator, const Store& store, const Array& packed,
                        const ObjectSet& set, const ObjectCalls& calls);

    // The process that has an object; -1: there is no such object.
    int owner(std::uint64_t object) const;

    // Packs all into `next`, for processes on `nodes`: an array and who is to have what of it.
    Result<void> pack(Communicator& communicator, const Store& store, Balancing balancing,
                      const std::vector<std::string>& nodes, Checkpoint& next) const;

  private:
    bool is_mine(const Communicator& communicator, std::size_t object) const {
        return owners_[object] == communicator.rank();
    }
    std::vector<double> loads(Communicator& communicator) const;
    std::vector<std::uint64_t> sizes(Communicator& communicator) const;
    std::vector<int> next_owners(Communicator& communicator, Balancing balancing,
                                 const std::vector<std::string>& nodes) const;
    Result<void> write(const Communicator& communicator, const Store& store,
                       const std::string& stem, std::uint64_t bytes,
                       const std::vector<std::uint64_t>& offsets) const;

    ObjectCalls calls_;
    std::vector<int> owners_;
};

}  // namespace elastic::runtime
