// SPDX-License-Identifier: MIT
// What a node is initialised for ([packet]): successive jobs of one type on the node share one
// initialisation.  The node itself remembers, in a folder that does not outlive a boot, so that
// neither a restarted daemon nor a slow controller makes a job believe what is not so.
//
// Of a node NODE there are two files.  NODE.owner says for whom it is initialised and only root
// reads and writes it; NODE.done is the user's, and holds a line once the initialisation has
// succeeded.  A user can lie in the latter, but only to own jobs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/result.hpp"

namespace elastic::node {

// For whom a node is initialised.  What it was initialised for counts for the same user, type and
// program only, and until the next boot.
struct Owner {
    uid_t user = 0;
    std::string type;     // of jobs, "" for a job that has none
    std::string program;  // that initialises
    std::uint32_t job = 0;

    bool shares_with(const Owner& other) const {
        return user == other.user && type == other.type && program == other.program;
    }
};

// The record of one node, locked until this goes away: tasks of one node take turns, and all but
// the first find it initialised.
class Record {
  public:
    // As root, in the process of a task.  Waits for the lock; forgets what another owner left.
    // `folder` is made if its parent is there, and has to be root's alone to write.  An error names
    // the file.
    static Result<Record> take(const std::string& folder, const std::string& node, const Owner&);

    Record(Record&&) noexcept;
    Record& operator=(Record&&) = delete;
    ~Record();

    // As the user, in the same process.
    bool is_initialised() const;
    Result<void> set_initialised();

    const std::string& node() const { return node_; }

  private:
    Record(std::string node, int lock, int done)
        : node_(std::move(node)), lock_(lock), done_(done) {}

    std::string node_;
    int lock_, done_;  // descriptors, closed before any other program runs
};

// A job that needs no initialisation is to run on the node: what another job left is forgotten.  As
// root.
Result<void> forget(const std::string& folder, const std::string& node, std::uint32_t job);

// Runs the program as this process's user, in its folder and with its output, and waits.  It has no
// input: that is for the task.  `environment` ends with a null pointer; the node is added to it as
// ELASTIC_NODE.  The program's exit status, or 128 and the number of the signal that ended it; 126
// or 127 if it could not be run, as of a shell.
int run_program(const std::string& program, const std::string& node,
                const char* const* environment);

}  // namespace elastic::node
