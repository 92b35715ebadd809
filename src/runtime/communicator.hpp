// SPDX-License-Identifier: MIT
// The processes of a program, by node, and what they do together.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "common/result.hpp"
#include "runtime/layout.hpp"
#include "runtime/store.hpp"

namespace elastic::runtime {

// All functions that are not const are collective.
class Communicator {
  public:
    explicit Communicator(MPI_Comm comm);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    MPI_Comm comm() const { return comm_; }
    const std::string& node() const { return nodes_[static_cast<std::size_t>(rank_)]; }
    const std::vector<std::string>& nodes() const { return nodes_; }  // of each process
    std::vector<int> on(const std::string& node) const;
    bool leads_node() const { return on(node()).front() == rank_; }

    // These wait without taking a processor from those who compute.
    std::string share(std::string text, int root = 0);  // what process `root` has
    int highest(int value);
    void barrier();
    // The first error that any process has.
    Result<void> all(const Result<void>& mine);

    // Puts the blocks of an array on their nodes, on each of which there is a process: the array as
    // it is then.  The files have the stem and the block's number in their names.
    Result<Array> move(Store& store, const Array& array, const Bounds& bounds,
                       const std::vector<std::string>& nodes, const std::string& stem);

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
    std::vector<std::string> nodes_;
};

}  // namespace elastic::runtime
