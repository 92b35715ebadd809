// SPDX-License-Identifier: MIT
// What is given to whoever asks, made once for all of them, and where it stands for the threads to
// take.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "common/time.hpp"

namespace elastic::tools {

using Body = std::shared_ptr<const std::string>;

struct Document {
    Body body;
    std::string tag;  // another one for another body
};

struct Publication {
    bool up = false;      // the controller answers
    std::string trouble;  // why not
    Document jobs, nodes;
    std::string journal;            // the token behind its last event
    Body metrics, metrics_as_text;  // without what is the server's own, and without an end
};

class Board {
  public:
    using Shown = std::shared_ptr<const Publication>;

    Shown shown() const {
        const std::scoped_lock lock(mutex_);
        return shown_;
    }
    void show(Publication publication) {
        auto next = std::make_shared<const Publication>(std::move(publication));
        const std::scoped_lock lock(mutex_);
        shown_ = std::move(next);
    }

    // Somebody has asked for something, at that time of a steady clock.
    void note_request(Time now) {
        const std::scoped_lock lock(mutex_);
        asked_ = now;
        has_asked_.notify_one();
    }
    Time asked() const {
        const std::scoped_lock lock(mutex_);
        return asked_;
    }
    // Until somebody asks, or the time is over.
    void wait_for_request(Duration most) {
        std::unique_lock lock(mutex_);
        const Time before = asked_;
        has_asked_.wait_for(lock, std::chrono::duration<double>(most),
                            [&] { return asked_ != before; });
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable has_asked_;
    Shown shown_ = std::make_shared<const Publication>();
    Time asked_ = 0;
};

}  // namespace elastic::tools
