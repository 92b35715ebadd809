// SPDX-License-Identifier: MIT
// Who is named in the log, by which name, and how often.
#include "controller/warnings.hpp"

#include "controller_test.hpp"
#include "log_memory.hpp"

using namespace elastic;
using namespace elastic::testing;

namespace {

struct Warned : Room {
    // What is said of a job on this pool.
    std::vector<std::string> look(const core::Pool& pool, bool malleable = true) {
        core::Snapshot snapshot;
        snapshot.pools = {core::Pool{}, pool};
        snapshot.running.emplace_back();
        snapshot.running[0].id = 7;
        snapshot.running[0].elastic.malleable = malleable;
        snapshot.running[0].batch_host_pool = 1;
        warnings.name_who_cannot_leave(snapshot);
        return log.take();
    }

    LogMemory log;
    Warnings warnings{state, site};
};

constexpr core::Pool kFailing{.failing = true};
constexpr core::Pool kMaintained{.failing = true, .maintained = true};

}  // namespace

TEST(who_cannot_leave_a_node_is_named_once_as_long_as_it_lasts) {
    Warned room;
    room.add(7);
    check_eq(room.look(kFailing),
             std::vector<std::string>{
                 "job 7: cannot leave n1, which is drained or failing: its batch script runs "
                 "there; wait for its end, or `scontrol requeue 7`"});
    check_that(room.look(kFailing).empty());
    check_that(room.look(kMaintained).empty());
    check_eq(room.site.bound, (std::map<JobId, std::string>{{7, "n1"}}));
    check_that(room.look({}).empty());
    check_that(room.site.bound.empty());
    check_eq(room.look(kMaintained),
             std::vector<std::string>{
                 "job 7: cannot leave n1, which is reserved for maintenance: its batch script runs "
                 "there; wait for its end, or `scontrol requeue 7`"});
}

TEST(who_need_not_leave_or_has_no_batch_script_is_not_named) {
    Warned room;
    check_that(room.look(kFailing).empty());  // not in the table
    room.add(7).batch_host.clear();
    check_that(room.look(kFailing).empty());
    room.add(7);
    check_that(room.look(kFailing, false).empty());
    check_that(room.site.bound.empty());
}
