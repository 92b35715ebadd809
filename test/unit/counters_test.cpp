// SPDX-License-Identifier: MIT
// What monitoring is told: each event of the journal is counted once, by few labels, and sums never
// fall.
#include "controller/counters.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using journal::Event;

namespace {

struct Book {
    Book() {
        counters.begin(AgreementBook(1), 100);
        Job& job = jobs.get(7);
        job.elastic = job.annotation.malleable = true;
        job.annotation.min = 1;
        job.annotation.max = 8;
    }
    template <class What>
    void tell(Time at, What what) {
        counters.count({Event{at, std::move(what)}}, jobs);
    }
    // How often, such as "asked shrink other".
    std::int64_t resizes(const std::string& which) const {
        const Json list = counters.to_json(200).get("resizes");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Json one = list.at(i);
            if (fmt::format("{} {} {}", one.get_string("what"), one.get_string("kind"),
                            one.get_string("reason")) == which)
                return one.get_int("count");
        }
        return 0;
    }
    double number(const char* key, Time now = 200) const {
        return counters.to_json(now).get_number(key);
    }
    Json first(const char* list) const { return counters.to_json(200).get(list).at(0); }

    JobTable jobs;
    Counters counters;
};

constexpr const char* kFor = "a pending job needs the nodes";

}  // namespace

TEST(a_shrink_is_counted_from_the_offer_to_the_end) {
    Book book;
    book.tell(100, journal::Offer{7, 3, ResizeKind::shrink, 2, "n[1-2]", 9, kFor});
    book.tell(101, journal::Accept{7, 3});
    book.tell(102, journal::Release{7, 3});
    book.tell(105, journal::Resize{7, 3, ResizeKind::shrink, 4, 2, "n[1-2]", kFor});
    for (const char* what : {"asked", "accepted", "applied"})
        check_eq(book.resizes(fmt::format("{} shrink {}", what, kFor)), 1);
    const Json times = book.first("resize_seconds");
    check_eq(times.get_string("kind"), "shrink");
    check_eq(times.get("times").get_number("sum"), 4.0);
    check_eq(times.get("times").get_int("count"), 1);
}

TEST(an_expansion_takes_until_its_nodes_are_in_use) {
    Book book;
    book.tell(100, journal::Request{7, 4, ResizeKind::expand, 2, 1});
    book.tell(110, journal::Accept{7, 4, 1});  // content with fewer: no answer to anything
    book.tell(120, journal::Grant{7, 4, ResizeKind::expand, 2, 1});
    book.tell(121, journal::Resize{7, 4, ResizeKind::expand, 2, 3, "n3", "why"});
    check_eq(book.counters.to_json(200).get("resize_seconds").size(), 0u);
    book.tell(125, journal::Ready{7, 4});
    check_eq(book.first("resize_seconds").get("times").get_number("sum"), 5.0);
    check_eq(book.resizes("accepted expand the job asked for the nodes"), 1);
}

TEST(what_comes_to_nothing_is_counted_as_such) {
    Book book;
    OpId op = 10;
    const auto offer = [&] {
        book.tell(100, journal::Offer{7, ++op, ResizeKind::expand, 1, "", 0, "asked for by eve"});
        return op;
    };
    book.tell(100, journal::Decline{7, offer(), "no"});
    book.tell(100, journal::Expire{7, offer(), ""});
    book.tell(100, journal::Cancel{7, offer(), ""});
    book.tell(100, journal::Deny{7, offer(), ResizeKind::expand, 1, ""});
    book.tell(100, journal::Decline{7, 999, "of nobody knows what"});
    for (const char* what : {"declined", "expired", "cancelled", "denied"})
        check_eq(book.resizes(fmt::format("{} expand asked for by a user", what)), 1);
    check_eq(book.resizes("asked expand asked for by a user"), 4);
}

TEST(reasons_are_few) {
    check_eq(kind_of_reason(kFor), kFor);
    check_eq(kind_of_reason("asked for by mallory"), "asked for by a user");
    check_eq(kind_of_reason("step 17 of its profile"), "a step of its profile");
    check_eq(kind_of_reason("its nodes are to be evacuated"), "its nodes are to be evacuated");
    check_eq(kind_of_reason("whatever somebody writes"), "other");
}

TEST(nodes_won_and_given_are_counted_while_they_are_held) {
    Book book;
    const auto resize = [&](Time at, int from, int to) {
        const auto kind = to < from ? ResizeKind::shrink : ResizeKind::expand;
        book.tell(at, journal::Resize{7, 0, kind, from, to, "n1", ""});
    };
    resize(100, 4, 6);
    resize(110, 6, 3);
    check_eq(book.number("grown_node_seconds", 115), 20.0);
    check_eq(book.number("given_node_seconds", 115), 5.0);
    check_eq(book.number("given_node_seconds", 90), 0.0);  // the clock was set back
    book.tell(120, journal::End{7, "COMPLETED", 3});
    check_eq(book.number("grown_node_seconds"), 20.0);
    check_eq(book.number("given_node_seconds"), 10.0);
    check_eq(book.resizes("applied shrink nobody agreed to it"), 1);
    check_eq(book.first("ended").get_string("state"), "COMPLETED");
}

TEST(a_start_has_waited_once) {
    Book book;
    book.jobs.get(7).waited = 42;
    book.tell(100, journal::Start{7, "n1", 1});
    book.tell(150, journal::End{7, "SUSPENDED", 1});
    book.tell(160, journal::Start{7, "n1", 1});  // goes on
    check_eq(book.first("started").get_string("class"), "malleable");
    check_eq(book.first("started").get_int("count"), 1);
    check_eq(book.first("waits").get("times").get_number("sum"), 42.0);
    check_eq(book.counters.to_json(200).get("ended").size(), 0u);
}

TEST(what_a_controller_before_has_left_in_flight_goes_on) {
    AgreementBook agreements(5);
    Agreement offered;
    offered.job = 7;
    offered.kind = ResizeKind::shrink;
    offered.reason = kFor;
    const OpId op = agreements.open(offered).op;
    Book book;
    book.counters.begin(agreements, 100);
    book.tell(101, journal::Expire{7, op, ""});
    check_eq(book.resizes(fmt::format("expired shrink {}", kFor)), 1);
}

TEST(buckets_of_a_histogram_have_all_that_is_not_beyond_them) {
    Histogram times(kBoundsOfWaits);
    for (const double seconds : {0.5, 1.0, 61.0, 1e9}) times.add(seconds);
    const Json buckets = times.to_json().get("buckets");
    check_eq(buckets.at(0).at(1).integer().value(), 2);
    check_eq(buckets.at(2).at(1).integer().value(), 2);
    check_eq(buckets.at(3).at(1).integer().value(), 3);
    check_eq(buckets.at(buckets.size() - 1).at(1).integer().value(), 3);
    check_eq(times.to_json().get_int("count"), 4);
}
