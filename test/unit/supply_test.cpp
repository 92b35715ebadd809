// SPDX-License-Identifier: MIT
// Prices and caps of sets of nodes over time, and what is said of wrong lines.
#include "core/model/supply.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

Supply read(std::string_view text) {
    const auto supply = parse_supply(text, "prices");
    check_ok(supply);
    return *supply;
}

void check_refused(std::string_view text, std::string_view words) {
    const auto supply = parse_supply(text, "prices");
    check_that(!supply);
    if (!supply) check_that(supply.error().message.find(words) != std::string::npos);
}

}  // namespace

TEST(lines_say_what_sets_of_nodes_cost_and_how_many_may_be_used) {
    SupplyClock clock(read("# now\n\nspot price=0.43 cap=8\n  n[01-32]\tcap=24 # all\n"));
    check_that(clock.advance(0));
    check_eq(clock.terms().size(), 2U);
    check_eq(clock.terms()[0].nodes, "spot");
    check_eq(clock.terms()[0].price, 0.43);
    check_eq(clock.terms()[0].most.value(), 8);
    check_eq(clock.terms()[1].nodes, "n[01-32]");
    check_eq(clock.terms()[1].price, 0);
    check_eq(clock.terms()[1].most.value(), 24);
    check_eq(clock.next(), kNever);
}

TEST(what_a_line_says_holds_until_another_says_otherwise) {
    SupplyClock clock(read("@200 spot cap=none\nspot price=1 cap=4\n@100 spot price=2\n"));
    check_that(clock.advance(99));
    check_eq(clock.terms()[0].price, 1);
    check_eq(clock.next(), 100);
    check_that(!clock.advance(99.5));
    check_that(clock.advance(100));
    check_eq(clock.terms()[0].price, 2);
    check_eq(clock.terms()[0].most.value(), 4);
    check_that(clock.advance(1000));
    check_that(!clock.terms()[0].most);
    check_eq(clock.next(), kNever);
}

TEST(times_may_be_dates) {
    check_eq(read("@1970-01-02T00:00:01Z a price=1").changes[0].from, 86401);
}

TEST(what_is_wrong_is_named_with_its_line) {
    check_refused("a price=1\nb\n", "prices:2: neither price= nor cap=");
    check_refused("price=1", "stands where a partition");
    check_refused("a price=x", "price=x: must be a number");
    check_refused("a price=-1", "price=-1");
    check_refused("a price=1 price=2", "price is given twice");
    check_refused("a cap=1.5", "cap=1.5: must be a number of nodes");
    check_refused("a cap=", "cap=");
    check_refused("a cost=3", "'cost=3' is neither price= nor cap=");
    check_refused("@yesterday a cap=1", "@yesterday: must be seconds");
    check_refused("@5", "a time with nothing behind it");
    std::string many;
    for (int i = 0; i <= 64; ++i) many += fmt::format("p{} cap=1\n", i);
    check_refused(many, "more than 64 different sets");
    check_refused(std::string(5000, 'a'), "5000 characters");
}
