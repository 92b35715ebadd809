// SPDX-License-Identifier: MIT
// The state file comes first and has the events that the journal is about to be told, so a crash in
// between loses nothing: the next controller completes the journal out of it.
//
// Always holds: the journal never says more than the state file, unless the log says that the state
// cannot be saved; one that lacks events is told what there is in place of what has happened since.
#include "controller/stable_storage.hpp"

#include "common/log.hpp"
#include "controller/state_file.hpp"
#include "controller/telling.hpp"

namespace elastic::controller {

Result<void> StableStorage::open(const std::string& directory) {
    directory_ = directory;
    if (auto loaded = load_state_file(state_file(), state_); !loaded)
        log_error("{}: what was in flight is given up", loaded.error().message);
    return open_journal();
}

Result<void> StableStorage::open_journal() {
    std::string path = config_.journal_file;
    if (path.empty()) path = directory_ + "/elastic.journal";
    const bool is_first = !journal_.is_open();
    auto opened = journal_.path() == path ? journal_.reopen() : journal_.open(path);
    if (!opened) return opened;
    site_.journal_path = path;
    if (!is_first) return {};
    if (auto completed = journal_.complete(state_.telling); !completed)
        log_error("{}", completed.error().message);
    return {};
}

void StableStorage::save(const std::vector<journal::Event>& events, Time now) {
    if (!journal_.is_open()) no_journal_.report(open_journal());
    if (auto looked = journal_.look(); !looked)
        log_error("{}; the file was deleted, events are lost until that works again",
                  looked.error().message);
    const bool tells_anew = journal_.has_gap() && !events.empty();
    state_.telling = journal_.prepare(
        tells_anew ? tell_anew(state_.jobs, site_, config_.policy_name, now) : events);
    outage_.report(save_state());
    if (auto written = journal_.write(state_.telling); !written)
        log_error("{}", written.error().message);
    site_.lost_events = journal_.lost();
}

Result<void> StableStorage::save_state() {
    Stopwatch watch(site_.timings.states);
    return save_state_file(state_file(), state_);
}

}  // namespace elastic::controller
