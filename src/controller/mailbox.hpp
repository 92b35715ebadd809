// SPDX-License-Identifier: MIT
// A queue from one thread to another, which is woken by other means.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace elastic::controller {

template <class T>
class Mailbox {
  public:
    void put(T letter) {
        std::lock_guard guard(mutex_);
        letters_.push_back(std::move(letter));
    }
    // The oldest.
    std::optional<T> take() {
        std::lock_guard guard(mutex_);
        if (letters_.empty()) return std::nullopt;
        T oldest = std::move(letters_.front());
        letters_.pop_front();
        return oldest;
    }
    std::deque<T> take_all() {
        std::lock_guard guard(mutex_);
        return std::exchange(letters_, {});
    }
    std::size_t size() const {
        std::lock_guard guard(mutex_);
        return letters_.size();
    }

  private:
    mutable std::mutex mutex_;
    std::deque<T> letters_;
};

}  // namespace elastic::controller
