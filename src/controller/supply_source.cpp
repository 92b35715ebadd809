// SPDX-License-Identifier: MIT
// A thread of its own: a file may lie on a file server that hangs, and a command takes as long as
// it takes, while slurmctld's scheduler goes on with what was read before.  There is none where
// nothing is configured.
//
// Always holds: a source that cannot be read or understood changes nothing, and is complained of
// once until it says something else.
#include "controller/supply_source.hpp"

#include <utility>

#include "common/atomic_file.hpp"
#include "common/command.hpp"
#include "common/log.hpp"

namespace elastic::controller {

void SupplySource::configure(const core::Config& config) {
    const bool is_same = file_ == config.supply_file && command_ == config.supply_command &&
                         interval_ == config.supply_interval && timeout_ == config.supply_timeout;
    if (is_same && thread_.joinable()) return;
    const bool had_one = thread_.joinable();
    stop();
    file_ = config.supply_file;
    command_ = config.supply_command;
    interval_ = config.supply_interval;
    timeout_ = config.supply_timeout;
    stopping_ = false;
    has_tried_ = false;
    complaint_.clear();
    begun_ = std::chrono::steady_clock::now();
    if (!file_.empty() || !command_.empty())
        thread_ = std::thread([this] { run(); });
    else if (had_one)
        news_ = core::Supply{};
}

void SupplySource::stop() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard guard(mutex_);
        stopping_ = true;
    }
    wakeup_.notify_one();
    thread_.join();
}

bool SupplySource::is_ready() const {
    return !thread_.joinable() || has_tried_ ||
           std::chrono::steady_clock::now() - begun_ > std::chrono::duration<double>(timeout_);
}

std::optional<core::Supply> SupplySource::take() {
    std::lock_guard guard(mutex_);
    return std::exchange(news_, std::nullopt);
}

Result<std::string> SupplySource::read() const {
    return file_.empty() ? output_of(command_, timeout_, core::kMaxSupplyText, stopping_)
                         : read_file(file_, core::kMaxSupplyText);
}

std::string SupplySource::complaint() const {
    std::lock_guard guard(mutex_);
    return complaint_;
}

// Logs it where it is another than the last one.
void SupplySource::complain(const std::string& complaint) {
    {
        std::lock_guard guard(mutex_);
        if (std::exchange(complaint_, complaint) == complaint) return;
    }
    if (!complaint.empty())
        log_error("{}", complaint);
    else
        log_info("{}: can be read again", file_.empty() ? command_ : file_);
}

void SupplySource::read_once(std::string& last) {
    const Result<std::string> text = read();
    const std::string& name = file_.empty() ? command_ : file_;
    Result<core::Supply> supply = text ? core::parse_supply(*text, name) : text.error();
    if (stopping_) return;
    if (!supply)
        return complain(
            fmt::format("{}; what it said before stays in force", supply.error().message));
    complain("");
    if (*text == last) return;
    last = *text;
    {
        std::lock_guard guard(mutex_);
        news_ = *std::move(supply);
    }
    wake_();
}

void SupplySource::run() {
    std::string last;
    for (;;) {
        read_once(last);
        if (!has_tried_.exchange(true)) wake_();
        std::unique_lock guard(mutex_);
        wakeup_.wait_for(guard, std::chrono::duration<double>(interval_),
                         [this] { return stopping_.load(); });
        if (stopping_) return;
    }
}

}  // namespace elastic::controller
