// SPDX-License-Identifier: MIT
// Where nodes and cores of a job stand before and after its nodes change.
#include "controller/places.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

// "0>1 0>4 (2)": the place of each node that is kept, that of its first core, its cores.
std::string kept(const Places& places) {
    std::string text;
    places.for_each_kept([&](const Places::Kept& node) {
        text += fmt::format("{}>{} {}>{} ({}); ", node.before, node.after, node.core_before,
                            node.core_after, node.cores);
    });
    return text;
}

}  // namespace

TEST(a_node_that_joins_before_others_moves_them) {
    Places places;
    places.add(4, false, true);
    places.add(2, true, true);
    places.add(8, true, true);
    check_eq(kept(places), "0>1 0>4 (2); 1>2 2>6 (8); ");
    check_eq(places.nodes_before(), 2);
    check_eq(places.nodes_after(), 3);
    check_eq(places.cores_before(), 10);
    check_eq(places.cores_after(), 14);
}

TEST(a_node_that_leaves_is_not_kept_and_moves_those_behind_it) {
    Places places;
    places.add(4, true, true);
    places.add(2, true, false);
    places.add(8, true, true);
    check_eq(kept(places), "0>0 0>0 (4); 2>1 6>4 (8); ");
    check_eq(places.nodes_before(), 3);
    check_eq(places.nodes_after(), 2);
    check_eq(places.cores_before(), 14);
    check_eq(places.cores_after(), 12);
}

TEST(without_nodes_there_is_nothing_to_keep) {
    const Places places;
    check_eq(kept(places), "");
    check_eq(places.nodes_before() + places.nodes_after(), 0);
}
