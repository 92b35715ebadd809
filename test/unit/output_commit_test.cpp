// SPDX-License-Identifier: MIT
// What is saved before what is told.
#include "controller/output_commit.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>

#include "controller_test.hpp"
#include "folder.hpp"
#include "log_memory.hpp"

using namespace elastic;
using namespace elastic::testing;

namespace {

// What becomes of the files of a folder, in order: a new one takes a name, or one is written to.
class Watch {
  public:
    explicit Watch(const std::string& folder) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        check_that(fd_ >= 0);
        check_that(::inotify_add_watch(fd_, folder.c_str(), IN_MOVED_TO | IN_MODIFY) >= 0);
    }
    ~Watch() { ::close(fd_); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Since the last call.
    std::vector<std::string> take() {
        std::vector<std::string> names;
        alignas(inotify_event) char buffer[4096];
        for (ssize_t size = 0; (size = ::read(fd_, buffer, sizeof buffer)) > 0;)
            for (ssize_t at = 0; at < size;) {
                inotify_event event{};
                std::memcpy(&event, buffer + at, sizeof event);
                at += static_cast<ssize_t>(sizeof event);
                const std::string name = buffer + at;
                at += event.len;
                if (name == "elastic.journal" || event.mask & IN_MOVED_TO) names.push_back(name);
            }
        return names;
    }

  private:
    int fd_;
};

struct Committing : Room {
    Committing() { check_ok(storage.open(folder / "")); }

    // With what the files have seen before it.
    void see(const std::string& what) {
        for (auto& name : watch.take()) seen.push_back(std::move(name));
        if (!what.empty()) seen.push_back(what);
    }
    // What commit() does, in order.
    std::vector<std::string> commit() {
        output.commit(now);
        see("");
        return std::exchange(seen, {});
    }

    Folder folder;
    Watch watch{folder / ""};
    std::vector<std::string> seen;
    Result<void> saved;  // how saving Slurm's records goes
    StableStorage storage{config, state, site};
    RecordSaving records{[this] { see("records soon"); },
                         [this] {
                             see("records");
                             return saved;
                         }};
    OutputCommit output{outbox, storage, site.timings, records, [this](const Outbox& out) {
                            see(fmt::format("told {}", out.messages.size()));
                        }};
};

}  // namespace

TEST(records_and_state_are_saved_before_the_journal_and_that_before_applications) {
    Committing room;
    room.outbox.resized = room.outbox.changed = true;
    room.outbox.note(room.now, journal::Ready{7, 1});
    room.outbox.send(7, protocol::Planned{});
    check_eq(room.commit(),
             (std::vector<std::string>{"records", "elastic_state", "elastic.journal", "told 1"}));
    check_that(room.outbox.events.empty() && room.outbox.messages.empty());
    check_that(!room.outbox.resized && !room.outbox.changed);
    check_eq(room.site.timings.saves.count, 1u);
}

TEST(records_on_which_nothing_rests_are_saved_some_time) {
    Committing room;
    room.outbox.changed = true;
    check_eq(room.commit(), (std::vector<std::string>{"records soon", "told 0"}));
}

TEST(an_agreement_that_changed_without_an_event_is_saved) {
    Committing room;
    room.outbox.unsaved = true;
    check_eq(room.commit(), (std::vector<std::string>{"elastic_state", "told 0"}));
}

TEST(answers_alone_are_told_at_once) {
    Committing room;
    room.outbox.send(7, protocol::Planned{});
    check_eq(room.commit(), std::vector<std::string>{"told 1"});
}

TEST(only_what_rests_on_a_resize_may_have_to_wait) {
    Committing room;
    check_that(room.output.next() == OutputCommit::Clock::time_point::max());
    check_that(!room.output.must_wait(OutputCommit::Clock::time_point::min()));
    room.outbox.resized = true;
    const auto next = room.output.next();
    check_that(!room.output.must_wait(next));
    check_that(room.output.must_wait(next - std::chrono::seconds(1)));
}

TEST(records_that_cannot_be_saved_are_reported_once_and_all_is_told) {
    Committing room;
    LogMemory log;
    room.saved = error("disk full");
    for (int i = 0; i < 2; ++i) {
        room.outbox.resized = true;
        check_eq(room.commit(), (std::vector<std::string>{"records", "told 0"}));
    }
    check_eq(log.take(), std::vector<std::string>{"disk full; resizes would not survive a crash"});
    room.saved = {};
    room.outbox.resized = true;
    (void)room.commit();
    check_eq(log.take(), std::vector<std::string>{"state is saved again"});
}
