// SPDX-License-Identifier: MIT
// What plans would do is told when it begins and when it is over, however often they say it.
#include "controller/observations.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

using What = Observations::What;

struct Watch {
    Observations observations;
    Outbox outbox;

    // A plan that would have job 7 grow by so many nodes, or nothing if there are none.
    void plan(int nodes, Time now) {
        observations.begin_look();
        if (nodes > 0) observations.would(What::expand, 7, nodes, 0, now, outbox);
        observations.end_look(now, outbox);
    }
    std::string told() {
        std::string text;
        for (const auto& event : std::exchange(outbox.events, {}))
            text += journal::describe(event) + "\n";
        return text;
    }
};

}  // namespace

TEST(what_would_be_is_told_once) {
    Watch w;
    w.plan(3, 100);
    check_eq(w.told(), "job 7: would grow by 3 nodes\n");
    w.plan(3, 110);
    check_eq(w.told(), "");
    check_eq(w.observations.of(7), "would grow by 3 nodes");
    check_eq(w.observations.of(8), "");
    w.plan(0, 130);
    check_eq(w.told(), "job 7: would not grow by 3 nodes any more, after 30 s\n");
    check_eq(w.observations.of(7), "");
}

TEST(what_changes_is_over_and_begins) {
    Watch w;
    w.plan(3, 100);
    w.told();
    w.plan(1, 110);
    check_eq(
        w.told(),
        "job 7: would not grow by 3 nodes any more, after 10 s\njob 7: would grow by 1 node\n");
    w.observations.end(120, w.outbox);
    check_eq(w.told(), "job 7: would not grow by 1 node any more, after 10 s\n");
}

TEST(a_job_may_be_of_two_minds) {
    Watch w;
    w.observations.begin_look();
    w.observations.would(What::shrink, 7, 2, 9, 100, w.outbox);
    w.observations.would(What::start, 9, 4, 0, 100, w.outbox);
    w.observations.end_look(100, w.outbox);
    check_eq(w.told(),
             "job 7: would give up 2 nodes for job 9\njob 9: would start on 4 nodes that others "
             "give up\n");
}
