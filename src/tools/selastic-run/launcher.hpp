// SPDX-License-Identifier: MIT
// What a rebirth needs of the machine: the steps of worlds, what they say, the memory they leave.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/channel.hpp"
#include "selastic-run/job_step.hpp"
#include "selastic-run/options.hpp"
#include "selastic-run/rendezvous.hpp"
#include "selastic-run/worlds.hpp"

namespace elastic::tools {

class Launcher {
  public:
    explicit Launcher(const RunOptions& options);

    // Starts a world at its place; its process.
    pid_t start(const World& world, std::int64_t generation);
    // The world, by such a process.
    void kill(pid_t process);
    // Such a process has ended.
    void forget(pid_t process) { steps_.erase(process); }

    int descriptor() const { return rendezvous_.fd(); }
    std::vector<Rendezvous::Received> receive() { return rendezvous_.receive(); }
    void send(int connection, const runtime::Message& message) {
        rendezvous_.send(connection, message);
    }
    void hang_up(int connection) { rendezvous_.close(connection); }

    // A world has opened the library, so that there may be something in the memory of its nodes,
    // and in files in the folder `spill`.
    void opened(const std::string& spill);
    // Removes what worlds that died have left there; the end of the job, if it has come, does that
    // itself.
    void free_memory(const std::string& nodes);

  private:
    RunOptions options_;
    const std::string id_;  // of their folders in shared memory
    Rendezvous rendezvous_;
    std::map<pid_t, JobStep> steps_;
    std::string spill_ = "/tmp";
    bool opened_ = false;
};

}  // namespace elastic::tools
