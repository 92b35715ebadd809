// SPDX-License-Identifier: MIT
// One counter that all threads draw from is all the queue there is: tasks are long (milliseconds
// and more), so nothing finer pays.
#include "studies/run_pool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "common/time.hpp"

namespace elastic::studies {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Progress that nobody can be told of must not end the work.
void print_error(const std::string& text) {
    (void)std::fputs(text.c_str(), stderr);
}

// A line on the terminal that is written over and over.
class Progress {
  public:
    Progress(const PoolOptions& options, std::size_t all)
        : what_(options.progress),
          is_part_(options.is_part),
          all_(all),
          is_shown_(!what_.empty() && ::isatty(STDERR_FILENO) == 1) {}
    ~Progress() {
        if (is_shown_) print_error("\r\033[K");
        if (!what_.empty() && !is_part_)
            print_error(fmt::format("{}: {} in {:.1f} s\n", what_, all_, seconds_since(begin_)));
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void one_more() {
        if (!is_shown_) return;
        const std::scoped_lock lock(mutex_);
        ++done_;
        const double passed = seconds_since(begin_);
        if (passed < last_ + kEvery && done_ < all_) return;
        last_ = passed;
        const double left = passed / static_cast<double>(done_) * static_cast<double>(all_ - done_);
        print_error(fmt::format("\r\033[K{}: {} of {}, {} left", what_, done_, all_,
                                format_duration(left)));
    }

  private:
    static constexpr double kEvery = 0.2;  // seconds

    const std::string what_;
    const bool is_part_;
    const std::size_t all_;
    const bool is_shown_;
    const Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;
    std::size_t done_ = 0;
    double last_ = 0;
};

std::size_t number_of_threads(int wanted, std::size_t tasks) {
    const std::size_t threads = wanted > 0 ? static_cast<std::size_t>(wanted)
                                           : std::max(1U, std::thread::hardware_concurrency());
    return std::min(threads, tasks);
}

}  // namespace

void run_all(std::size_t count, const PoolOptions& options,
             const std::function<void(std::size_t)>& task) {
    Progress progress(options, count);
    std::atomic<std::size_t> next = 0;
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) try {
                task(i);
                progress.one_more();
            } catch (...) {
                const std::scoped_lock lock(failure_mutex);
                if (!failure) failure = std::current_exception();
                next = count;
            }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < number_of_threads(options.threads, count); ++i)
            others.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace elastic::studies
