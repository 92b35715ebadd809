// SPDX-License-Identifier: MIT
// What selastic serve makes of the controller's answers, and which requests it answers; HTTP itself
// is for test/live/watch.
#include "selastic-serve/documents.hpp"
#include "selastic-serve/journal_ring.hpp"
#include "selastic-serve/listening.hpp"
#include "selastic-serve/open_metrics.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::tools;

namespace {

Json parsed(const char* text) {
    auto json = Json::parse(text);
    check_that(static_cast<bool>(json));
    return *json;
}

std::string joined(const JournalRing::Part& part) {
    return fmt::format("{} next {}{}{}", fmt::join(part.events, ","), part.next,
                       part.more ? " more" : "", part.gap ? " gap" : "");
}

}  // namespace

TEST(a_reader_gets_every_event_once) {
    JournalRing ring("e", 100, 1000);
    check_eq(joined(ring.since("", 9)), " next e-0");
    for (const char* event : {"1", "2", "3"}) ring.add(event);
    check_eq(joined(ring.since("e-0", 2)), "1,2 next e-2 more");
    check_eq(joined(ring.since("e-2", 2)), "3 next e-3");
    check_eq(joined(ring.since(ring.token(), 2)), " next e-3");
}

TEST(what_is_not_kept_any_more_is_a_gap) {
    JournalRing few("e", 2, 1000), small("e", 100, 3);
    for (JournalRing* ring : {&few, &small})
        for (const char* event : {"11", "2", "3"}) ring->add(event);
    for (const JournalRing* ring : {&few, &small}) {
        check_eq(joined(ring->since("e-0", 9)), "2,3 next e-3 gap");
        check_eq(joined(ring->since("", 9)), "2,3 next e-3 gap");
        check_eq(joined(ring->since("e-1", 9)), "2,3 next e-3");
        for (const char* strange : {"other-1", "e-99", "e-x", "e", "-"})
            check_eq(joined(ring->since(strange, 9)), "2,3 next e-3 gap");
    }
}

TEST(times_of_documents_are_of_the_clock) {
    const Json reply = parsed(
        R"({"now":1000,"policy":"easy","secret":1,"jobs":[{"job":1,"state":"RUNNING","time_left":50.4,)"
        R"("agreement":{"op":3,"deadline":7}},{"job":2,"state":"PENDING","promised":60,"pass":{}}]})");
    const Json document = jobs_document(reply, 5);
    check_eq(
        document.dump(),
        R"({"version":1,"policy":"easy","jobs":[{"job":1,"state":"RUNNING","ends":1050,)"
        R"("agreement":{"op":3,"deadline":1007}},{"job":2,"state":"PENDING","promised":1060}]})");
}

TEST(nodes_are_in_one_state) {
    const Json jobs = parsed(
        R"({"jobs":[{"job":1,"state":"RUNNING","node_list":"n[1-2]"},)"
        R"({"job":2,"state":"RUNNING","node_list":"n2"},{"job":3,"state":"PENDING","node_list":""}]})");
    const Json reply = parsed(R"({"node_list":"n[1-5]","down":"n4","unavailable":"n1,n5"})");
    check_eq(
        nodes_document(reply, jobs).dump(),
        R"({"version":1,"nodes":[{"name":"n1","state":"unavailable","jobs":[1]},)"
        R"({"name":"n2","state":"in use","jobs":[1,2]},{"name":"n3","state":"idle","jobs":[]},)"
        R"({"name":"n4","state":"down","jobs":[]},{"name":"n5","state":"unavailable","jobs":[]}]})");
    // Who may not see nodes sees those of jobs.
    check_eq(nodes_document(Json(), jobs).get("nodes").size(), 2u);
}

TEST(both_formats_differ_in_the_name_of_a_counter) {
    const auto written = [](MetricsFormat format) {
        MetricsWriter writer(format);
        writer.family("a", MetricsWriter::Type::counter, "B.");
        writer.value({{"l", "x\"\\\n"}}, 3);
        return writer.text();
    };
    check_eq(written(MetricsFormat::text),
             "# HELP a_total B.\n# TYPE a_total counter\na_total{l=\"x\\\"\\\\\\n\"} 3\n");
    check_eq(written(MetricsFormat::open_metrics),
             "# HELP a B.\n# TYPE a counter\na_total{l=\"x\\\"\\\\\\n\"} 3\n");
}

TEST(a_histogram_ends_with_all) {
    MetricsWriter writer(MetricsFormat::text);
    writer.family("h", MetricsWriter::Type::histogram, "B.");
    writer.histogram({}, parsed(R"({"buckets":[[0.5,1],[1,2]],"sum":9.25,"count":3})"));
    check_eq(writer.text(),
             "# HELP h B.\n# TYPE h histogram\nh_bucket{le=\"0.5\"} 1\nh_bucket{le=\"1.0\"} 2\n"
             "h_bucket{le=\"+Inf\"} 3\nh_sum 9.25\nh_count 3\n");
}

TEST(a_reply_without_anything_is_zeros) {
    const std::string text = controller_metrics(Json::object(), MetricsFormat::open_metrics);
    check_that(text.find("slurm_elastic_errors_total 0\n") != text.npos);
    check_that(text.find("slurm_elastic_pass_duration_seconds_bucket{le=\"+Inf\"} 0\n") !=
               text.npos);
}

TEST(a_name_that_a_stranger_can_point_here_is_refused) {
    const std::vector<std::string> names{"watch.example"};
    for (const char* host : {"127.0.0.1", "127.0.0.1:9821", "[::1]:9821", "[::1]", "localhost:80",
                             "LOCALHOST", "watch.example", "Watch.Example:443"})
        check_that(may_be_host(host, names));
    for (const char* host : {"", ":80", "evil.example", "127.0.0.1.evil.example", "localhost.evil",
                             "watch.example.evil", "[::1", "[::1]evil", "[watch]"})
        check_that(!may_be_host(host, names));
}

TEST(what_cannot_be_an_address_is_named) {
    for (const char* address : {"", "9821", "localhost:9821", "127.0.0.1", "[::1]", "[::1:5"})
        check_that(!listen_at(address));
    const auto found = listen_at("127.0.0.1:0");
    check_that(static_cast<bool>(found));
    check_that(found->url.starts_with("http://127.0.0.1:") && !found->url.ends_with(":0/"));
}
