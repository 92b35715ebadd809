// SPDX-License-Identifier: MIT
// The worlds of a program: the processes of one start of it each, which say hello by process 0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/time.hpp"
#include "runtime/channel.hpp"
#include "selastic-run/listener.hpp"
#include "selastic-run/options.hpp"
#include "selastic-run/step.hpp"

namespace elastic::tools {

inline constexpr int kNobody = -1;

struct World {
    std::unique_ptr<Step> step;  // null: it has ended, or there is none
    int connection = kNobody;    // of its process 0, once that has said hello
    int attempt = 0;
    Time greeted = kNever;  // when it did

    bool speaks() const { return connection != kNobody; }
};

class Worlds {
  public:
    explicit Worlds(const RunOptions& options);

    World now, next, old;  // that computes, that is to be born, that is to end

    std::int64_t generation() const { return generation_; }  // of the newest world
    void begin_generation();                                 // whose world is `next`
    void start(World& world, const StepPlace& place);
    // It is not listened to any more, but stays connected: it would take the loss for an error and
    // say so before it is killed.
    void kill(World& world);

    int descriptor() const { return listener_.fd(); }
    std::vector<Listener::Received> receive() { return listener_.receive(); }
    void send(const World& world, const runtime::Message& message);
    void tell(const World& world, runtime::Verb word, const std::string& reason = "");
    // The world that says hello, which speaks from here on if it is one of so many processes as it
    // was started with; null: nobody of ours.
    World* greeted(int from, const runtime::Message& hello);

    // Removes what worlds that died have left in shared memory of the nodes; the end of the job, if
    // it has come, does that itself.
    void free_memory(const std::string& nodes);

  private:
    RunOptions options_;
    const std::string id_;  // of their folders in shared memory
    Listener listener_;
    std::int64_t generation_ = 0;
    std::string spill_ = "/tmp";
    bool has_spoken_ = false;  // a world, so that there may be something in shared memory
};

}  // namespace elastic::tools
