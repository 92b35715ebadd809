// SPDX-License-Identifier: MIT
// Terms of nodes come into force, change and end; journal, log and queries say so.
#include "controller/supply_tracker.hpp"

#include "common/atomic_file.hpp"
#include "controller/wakeup.hpp"
#include "controller_test.hpp"
#include "folder.hpp"
#include "log_memory.hpp"

using namespace elastic;
using namespace elastic::testing;

namespace {

struct Tracking : Room {
    // Waits until the source has news.
    void follow() {
        while (!tracker.follow(now)) wait();
    }
    void wait() { wakeup.wait_until(std::chrono::steady_clock::now() + std::chrono::hours(1)); }
    void announce(std::vector<journal::Supply> in_force) {
        tracker.announce(std::move(in_force), {}, now);
    }
    // What the journal is to be told of the supply; it is not there any more then.
    std::vector<journal::Supply> told() {
        std::vector<journal::Supply> all;
        for (const auto& event : std::exchange(outbox.events, {}))
            all.push_back(std::get<journal::Supply>(event.what));
        return all;
    }

    Wakeup wakeup;
    SupplyTracker tracker{outbox, site, [this] { wakeup.notify(); }};
};

const journal::Supply spot{"spot", "n[1-4]", 0.5, -1};
const journal::Supply capped{"n[5-8]", "n[5-8]", 0, 2};

}  // namespace

TEST(terms_follow_their_source_and_the_time) {
    const Folder folder;
    check_ok(write_file(folder / "supply", "a price=1\n@2000 a price=2\n",
                        Durability::survives_process));
    Tracking room;
    room.config.supply_file = folder / "supply";
    room.tracker.configure(room.config);
    room.follow();
    check_eq(room.tracker.terms().at(0).price, 1.0);
    check_eq(room.tracker.next(), 2000.0);
    check_that(!room.tracker.follow(1999));
    check_that(room.tracker.follow(2000));
    check_eq(room.tracker.terms().at(0).price, 2.0);
    check_eq(room.tracker.next(), kNever);
    room.tracker.configure({});
    check_that(room.tracker.follow(2001));
    check_that(room.tracker.terms().empty());
}

TEST(who_asks_is_told_why_a_source_cannot_be_read) {
    const Folder folder;
    Tracking room;
    room.config.supply_file = folder / "absent";
    room.tracker.configure(room.config);
    while (!room.tracker.is_ready()) room.wait();
    check_that(!room.tracker.follow(room.now));
    check_that(room.site.supply_complaint.find(folder / "absent") != std::string::npos);
}

TEST(what_comes_into_force_changes_or_ends_is_told_once) {
    Tracking room;
    room.announce({spot, capped});
    check_eq(room.told(), (std::vector{spot, capped}));
    room.announce({capped, spot});
    check_that(room.told().empty());
    const journal::Supply dearer{"spot", "n[1-4]", 0.75, -1}, fewer{"spot", "n[1-3]", 0.75, -1};
    room.announce({dearer, capped});
    check_eq(room.told(), std::vector{dearer});
    room.announce({fewer, capped});
    check_eq(room.told(), std::vector{fewer});
    room.announce({capped});
    check_eq(room.told(), (std::vector<journal::Supply>{{"spot", "n[1-3]", 0, -1}}));
    check_eq(room.site.supply, std::vector{capped});
}

TEST(the_log_names_what_is_in_force) {
    LogMemory log;
    Tracking room;
    room.announce({spot});
    check_eq(log.take(), std::vector{"supply: " + journal::describe({room.now, spot})});
    room.announce({spot});
    check_that(log.take().empty());
}

TEST(what_cannot_be_in_force_is_said_once_as_long_as_it_lasts) {
    LogMemory log;
    Tracking room;
    const auto look = [&](std::vector<std::string> errors) {
        room.tracker.announce({}, errors, room.now);
        check_eq(room.site.supply_errors, errors);
        return log.take();
    };
    check_eq(look({"a: no nodes", "b: no nodes"}),
             (std::vector<std::string>{"supply: a: no nodes", "supply: b: no nodes"}));
    check_that(look({"a: no nodes", "b: no nodes"}).empty());
    check_that(look({"b: no nodes"}).empty());
    check_eq(look({"a: no nodes"}), std::vector<std::string>{"supply: a: no nodes"});
    check_that(room.told().empty());
}
