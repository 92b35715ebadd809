// SPDX-License-Identifier: MIT
// Lets one thread wait until another has something for it, or until a time.
//
// Always holds: who was notified between two waits does not wait, so nothing is left lying however
// the threads meet; several notifications before a wait are one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace elastic::controller {

class Wakeup {
  public:
    // Any thread.
    void notify() {
        std::lock_guard guard(mutex_);
        notified_ = true;
        condition_.notify_one();
    }

    // One thread.
    void wait_until(std::chrono::steady_clock::time_point time) {
        std::unique_lock guard(mutex_);
        condition_.wait_until(guard, time, [this] { return notified_; });
        notified_ = false;
    }

  private:
    std::mutex mutex_;
    std::condition_variable condition_;
    bool notified_ = false;  // since the last wait
};

}  // namespace elastic::controller
