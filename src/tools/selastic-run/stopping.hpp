// SPDX-License-Identifier: MIT
// How a program with restart files is told to stop, and whether it has because of that.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

#include "common/time.hpp"
#include "selastic-run/options.hpp"

namespace elastic::tools {

class Stopping {
  public:
    // Sends a signal to the program; whether that could be done.
    using SendSignal = std::function<bool(const std::string& name)>;

    explicit Stopping(const RunOptions& options) : options_(options) {}

    // The program starts.
    void program_starts();
    bool has_checkpoint() const;      // from which it goes on, as far as is known
    bool checkpoint_changed() const;  // since it has started, or was told to stop

    // It is to stop.
    void begin(Time now);
    bool under_way() const { return began_ < kNever; }
    bool is_to_be_sent() const { return under_way() && !sent_; }
    void send(const SendSignal& send_signal);
    Time patient_until() const { return patient_until_; }
    // It goes on, but may still stop.
    void lose_patience() { patient_until_ = kNever; }
    // Whether a program that has ended with this status was stopped.
    bool has_worked(int status) const;
    // It has ended; how long that took.
    Duration end(Time now);

    void remove_file() const;

  private:
    // A file's identity and age: unequal for another file, or the same one written to meanwhile.
    using FileState = std::tuple<ino_t, off_t, std::int64_t, std::int64_t>;
    static std::optional<FileState> state_of(const std::string& path);
    bool make_file() const;

    const RunOptions& options_;
    std::optional<FileState> checkpoint_;
    Time began_ = kNever, patient_until_ = kNever;
    bool tried_ = false, sent_ = false;  // whether the program may know, does know
};

}  // namespace elastic::tools
