// SPDX-License-Identifier: MIT
// A program that ends while it is to stop may have come to its end, or have died; it has stopped if
// it ends with the status that is known for that, else if its checkpoint is another than before it
// was told.
#include "selastic-run/stopping.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "common/fd.hpp"

namespace elastic::tools {

std::optional<Stopping::FileState> Stopping::state_of(const std::string& path) {
    struct stat found {};
    if (path.empty() || ::stat(path.c_str(), &found) != 0) return std::nullopt;
    return FileState(found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

void Stopping::program_starts() {
    checkpoint_ = state_of(options_.checkpoint);
}

bool Stopping::has_checkpoint() const {
    return options_.checkpoint.empty() || state_of(options_.checkpoint).has_value();
}

bool Stopping::checkpoint_changed() const {
    return state_of(options_.checkpoint) != checkpoint_;
}

void Stopping::begin(Time now) {
    began_ = now;
    patient_until_ = now + options_.stop_seconds;
    tried_ = sent_ = false;
}

void Stopping::send(const SendSignal& send_signal) {
    if (!std::exchange(tried_, true)) checkpoint_ = state_of(options_.checkpoint);
    if (!options_.stop_file.empty()) sent_ = make_file();
    if (!options_.stop_signal.empty()) sent_ = send_signal(options_.stop_signal);
}

bool Stopping::make_file() const {
    return static_cast<bool>(
        Fd(::open(options_.stop_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)));
}

bool Stopping::has_worked(int status) const {
    if (!under_way() || !tried_) return false;
    if (options_.stopped_status >= 0) return status == options_.stopped_status;
    return options_.checkpoint.empty() || checkpoint_changed();
}

Duration Stopping::end(Time now) {
    patient_until_ = kNever;
    return now - std::exchange(began_, kNever);
}

void Stopping::remove_file() const {
    if (!options_.stop_file.empty()) ::unlink(options_.stop_file.c_str());
}

}  // namespace elastic::tools
