// SPDX-License-Identifier: MIT
// Reads what nodes cost and how many may be used (core/model/supply.hpp), again and again, from a
// file or a command.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/model/config.hpp"
#include "core/model/supply.hpp"

namespace elastic::controller {

class SupplySource {
  public:
    // `wake` is called by another thread whenever take() has something new.
    explicit SupplySource(std::function<void()> wake) : wake_(std::move(wake)) {}
    ~SupplySource() { stop(); }

    // Reads what the configuration names from now on, and at once; nothing if it names nothing.
    void configure(const core::Config&);
    void stop();

    // Whether what is named has been tried once, or has had its time: before that nobody knows what
    // may be used.
    bool is_ready() const;

    // What was read last, once for each change.  Nothing named, nothing is in force.
    std::optional<core::Supply> take();

    // Why the last reading changed nothing, "" if it was good.
    std::string complaint() const;

  private:
    void run();
    Result<std::string> read() const;
    void read_once(std::string& last);
    void complain(const std::string& complaint);

    std::function<void()> wake_;
    std::string file_, command_;
    Duration interval_ = 0, timeout_ = 0;
    mutable std::mutex mutex_;  // for the next two
    std::optional<core::Supply> news_;
    std::string complaint_;
    std::atomic<bool> stopping_ = false;
    std::condition_variable wakeup_;
    std::atomic<bool> has_tried_ = false;
    std::chrono::steady_clock::time_point begun_{};
    std::thread thread_;
};

}  // namespace elastic::controller
