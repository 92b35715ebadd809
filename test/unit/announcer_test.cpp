// SPDX-License-Identifier: MIT
// What the journal is told of the controller, and where among the other events.
#include "controller/announcer.hpp"

#include "controller_test.hpp"

using namespace elastic;
using namespace elastic::testing;
using What = journal::Controller::What;

namespace {

struct Announcing : Room {
    const journal::Controller& told(std::size_t at) const {
        return std::get<journal::Controller>(outbox.events.at(at).what);
    }
    Announcer announcer{config, site, outbox};
};

}  // namespace

TEST(the_controller_is_announced_before_what_has_happened) {
    Announcing room;
    room.config.policy_name = "easy";
    room.outbox.note(990, journal::Ready{7, 1});
    room.announcer.announce(What::start, 1000);
    check_eq(room.outbox.events.size(), 2u);
    check_eq(room.outbox.events[0].time, 990.0);
    check_that(room.told(0).what == What::start);
    check_eq(room.told(0).nodes, 16);
    check_eq(room.told(0).policy, "easy");
}

TEST(where_nothing_has_happened_it_is_announced_as_of_now) {
    Announcing room;
    room.announcer.announce(What::reconfigure, 1000);
    check_eq(room.outbox.events.at(0).time, 1000.0);
}

TEST(its_end_comes_behind_all) {
    Announcing room;
    room.outbox.note(990, journal::Ready{7, 1});
    room.announcer.announce(What::stop, 1000);
    check_that(room.told(1).what == What::stop);
    check_eq(room.outbox.events[1].time, 1000.0);
}

TEST(other_nodes_are_announced_once) {
    Announcing room;
    room.announcer.announce(What::start, 1000);
    room.announcer.announce_other_nodes(1001);
    check_eq(room.noted(), "controller");
    room.site.nodes = 17;
    room.announcer.announce_other_nodes(1002);
    room.announcer.announce_other_nodes(1003);
    check_eq(room.outbox.events.size(), 1u);
    check_that(room.told(0).what == What::reconfigure);
    check_eq(room.told(0).nodes, 17);
}
