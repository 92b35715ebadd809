// SPDX-License-Identifier: MIT
// Annotations: every key, what is completed from the node count, what is refused and in which
// words, and the way to JSON and back.
#include "core/model/annotation/annotation.hpp"

#include <algorithm>

#include "core/model/annotation/remarks.hpp"
#include "random_annotation.hpp"
#include "testing.hpp"

using namespace elastic::core;
using elastic::Json;

namespace {

constexpr RequestedNodes kEight{8, 8};

Annotation parsed(std::string_view text, RequestedNodes nodes = kEight) {
    auto result = parse_annotation(text, nodes);
    check_ok(result);
    return *result;
}

}  // namespace

TEST(annotation_of_design) {
    Annotation a = parsed("malleable,min=2,max=16");
    check_that(a.malleable && !a.evolving);
    check_eq(a.min, 2);
    check_eq(a.pref, 8);
    check_eq(a.max, 16);
    check_eq(a.gap, -1.0);
    check_eq(class_name(a), "malleable");
}

TEST(annotation_reads_every_key) {
    Annotation a = parsed(
        "evolving,min=2,pref=4,max=16,sizes=pow2,gap=30,grace=1:30,rho=0.25,"
        "cost=0.01:2:1e-3,profile=4@30+8@60+2@2:00,packet=gauss_1.2-x,init=/opt/a@b/warm@5");
    check_that(!a.malleable && a.evolving);
    check_that(a.sizes.kind == SizeRule::Kind::power_of_two);
    check_eq(a.gap, 30.0);
    check_eq(a.grace, 90.0);
    check_eq(a.speedup.a, 0.25);
    check_that((a.cost == ResizeCost{0.01, 2, 0.001}));
    check_that((a.profile == EvolutionProfile{{4, 30}, {8, 60}, {2, 120}}));
    check_eq(a.packet, "gauss_1.2-x");
    check_eq(a.init.program, "/opt/a@b/warm");
    check_eq(a.init.time, 5.0);
    check_eq(
        to_json(a).dump(),
        R"({"elastic":1,"class":"evolving","min":2,"pref":4,"max":16,"sizes":"pow2",)"
        R"("gap":30,"rho":0.25,"cost":{"alpha":0.01,"beta":2,"b":0.001},)"
        R"("profile":[{"nodes":4,"seconds":30},{"nodes":8,"seconds":60},)"
        R"({"nodes":2,"seconds":120}],"grace":90,"packet":"gauss_1.2-x","init":"/opt/a@b/warm@5"})");
}

TEST(annotation_of_a_type_needs_no_class) {
    const Annotation a = parsed("packet=gauss,init=/opt/a@b/warm@0,grace=5", {3, 3});
    check_that(!a.malleable && !a.evolving);
    check_eq(class_name(a), "rigid");
    check_that(a.min == 3 && a.pref == 3 && a.max == 3);
    check_that((a.init == Initialisation{"/opt/a@b/warm", 0}));
    check_that(annotation_from_json(to_json(a)));
    check_that(*annotation_from_json(to_json(a)) == a);
    check_eq(*annotation_in_comment("elastic:packet=gauss,init=x"), "packet=gauss,init=x");
}

TEST(annotation_is_completed_from_the_node_count) {
    Annotation a = parsed("malleable", {4, 8});
    check_eq(a.min, 4);
    check_eq(a.pref, 4);
    check_eq(a.max, 8);
    a = parsed("evolving", {0, 0});
    check_eq(a.min, 1);
    check_eq(a.pref, 1);
    check_eq(a.max, 1);
    a = parsed("malleable,min=3,max=16,sizes=pow2", {0, 0});
    check_eq(a.pref, 4);
    a = parsed("malleable,pref=5", {0, 0});
    check_eq(a.min, 1);
    check_eq(a.max, 5);
}

TEST(annotation_starts_where_its_tasks_have_room) {
    const RequestedNodes tasks{0, 0, 3, "-n"};
    check_eq(parsed("malleable,min=1,max=8", tasks).pref, 3);
    check_eq(parsed("malleable,min=1,max=8,sizes=pow2", tasks).pref, 4);
    check_eq(parsed("malleable,min=5,max=8", tasks).pref, 5);
    check_eq(parsed("malleable,min=1,max=8,pref=2", tasks).pref, 2);
    Annotation a = parsed("malleable,sizes=pow2", tasks);
    check_that(a.min == 1 && a.pref == 4 && a.max == 4);
    check_error(parse_annotation("malleable,max=2", tasks),
                "elastic: pref=3 (from -n) is larger than max=2");
    check_error(parse_annotation("malleable,max=4,sizes=1:2", tasks),
                "elastic: pref=3 (from -n) is not a size that sizes=1:2 allows");
}

TEST(annotation_starts_at_one_size_of_n_whatever_its_tasks) {
    check_eq(parsed("malleable,max=8", {2, 2, 3, "-n"}).pref, 2);
    check_eq(parsed("malleable", {2, 6, 3, "-n"}).pref, 3);
    check_eq(parsed("malleable", {4, 6, 3, "-n"}).pref, 4);
    check_error(parse_annotation("malleable", {2, 6, 7, "-n"}),
                "elastic: pref=7 (from -n) is larger than max=6 (from -N)");
}

TEST(annotation_is_a_comment_only_where_a_class_is_named) {
    check_eq(annotation_in_comment("elastic:malleable,min=2").value(), "malleable,min=2");
    check_eq(annotation_in_comment("elastic:evolving+x").value(), "evolving+x");
    check_eq(annotation_in_comment("elastic:malleable,").value(), "malleable,");
    check_eq(annotation_in_comment("elastic:rigid").value(), "rigid");
    for (const char* comment :
         {"", "elastic", "elastic:", "elastic: malleable", "elastic: my run", "elastic:malleables",
          "Elastic:malleable", " elastic:malleable", "elastic:min=2", "elastic:run,malleable"})
        check_that(!annotation_in_comment(comment));
}

TEST(annotation_refuses_with_one_clear_line) {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"", "elastic: the class is missing: malleable, evolving or malleable+evolving"},
        {"rigid,min=2", "elastic: rigid goes with no other class and with no key"},
        {"malleable+rigid", "elastic: rigid goes with no other class and with no key"},
        {"min=2", "elastic: unknown class 'min=2', not malleable, evolving or malleable+evolving"},
        {"malleable+", "elastic: unknown class '', not malleable, evolving or malleable+evolving"},
        {"malleable+malleable", "elastic: class malleable is given twice"},
        {"malleable,", "elastic: a comma with nothing behind it"},
        {"malleable,,min=1", "elastic: a comma with nothing behind it"},
        {"malleable,min", "elastic: min has no value"},
        {"malleable,min=", "elastic: min has no value"},
        {"malleable,min=1,min=2", "elastic: min is given twice"},
        {"malleable,mni=1",
         "elastic: unknown key 'mni', not one of min, pref, max, sizes, gap, grace, price, rho, "
         "power, "
         "overhead, downey, cost, data, "
         "profile, packet, init"},
        {"malleable,min=0", "elastic: min=0: must be a number of nodes from 1 to 1000000"},
        {"malleable,min=-1", "elastic: min=-1: must be a number of nodes from 1 to 1000000"},
        {"malleable,max=1000001",
         "elastic: max=1000001: must be a number of nodes from 1 to 1000000"},
        {"malleable,max=4294967297",
         "elastic: max=4294967297: must be a number of nodes from 1 to 1000000"},
        {"malleable,max=99999999999999999999",
         "elastic: max=99999999999999999999: must be a number of nodes from 1 to 1000000"},
        {"malleable,max=\x1b[2J",
         "elastic: max=\\x1b[2J: must be a number of nodes from 1 to 1000000"},
        {"malleable,min=8,pref=4,max=9", "elastic: min=8 is larger than pref=4"},
        {"malleable,pref=9", "elastic: pref=9 is larger than max=8 (from -N)"},
        {"malleable,min=1,max=4", "elastic: pref=8 (from -N) is larger than max=4"},
        {"malleable,max=4", "elastic: min=8 (from -N) is larger than max=4"},
        {"malleable,min=9", "elastic: min=9 is larger than max=8 (from -N)"},
        {"malleable,min=1,max=16,sizes=3:5",
         "elastic: pref=8 (from -N) is not a size that sizes=3:5 allows"},
        {"malleable,min=2,max=16,sizes=1:8", "elastic: sizes=1:8: 1 is smaller than min=2"},
        {"malleable,min=2,max=16,sizes=8:32", "elastic: sizes=8:32: 32 is larger than max=16"},
        {"malleable,min=5,pref=6,max=7,sizes=pow2",
         "elastic: sizes=pow2 allows no size from min=5 to max=7"},
        {"malleable,sizes=", "elastic: sizes has no value"},
        {"malleable,sizes=odd",
         "elastic: sizes=odd: must be any, pow2, step:K or a list such as 2:4:8"},
        {"malleable,gap=-1",
         "elastic: gap=-1: '-1' is no time; write seconds, MM:SS, HH:MM:SS or D-HH[:MM[:SS]]"},
        {"malleable,grace=0", "elastic: grace=0 is less than 1 s"},
        {"malleable,grace=400-0", "elastic: grace=400-0: '400-0' is more than a year"},
        {"malleable,rho=nan", "elastic: rho=nan: must be a number from 0 to 1"},
        {"malleable,rho=1.1", "elastic: rho=1.1: must be a number from 0 to 1"},
        {"malleable,cost=1:2",
         "elastic: cost=1:2: must be alpha:beta:b or alpha:beta:b:sync, numbers of seconds"},
        {"malleable,data=x",
         "elastic: data=x: must be BYTES or BYTES@BYTES_PER_SECOND, as in 200G@10G, up to 1000P"},
        {"malleable,data=1001P",
         "elastic: data=1001P: must be BYTES or BYTES@BYTES_PER_SECOND, as in 200G@10G, up to "
         "1000P"},
        {"malleable,data=1G@1",
         "elastic: data=1G@1: must be BYTES@BYTES_PER_SECOND with a rate from 1K to 1P"},
        {"malleable,data=1G@",
         "elastic: data=1G@: must be BYTES@BYTES_PER_SECOND with a rate from 1K to 1P"},
        {"malleable,overhead=2", "elastic: overhead=2: must be a number from 0 to 1"},
        {"malleable,downey=4",
         "elastic: downey=4: must be A:sigma, A from 1 to 1000000, sigma from 0 to 1000"},
        {"malleable,downey=0.5:1",
         "elastic: downey=0.5:1: must be A:sigma, A from 1 to 1000000, sigma from 0 to 1000"},
        {"malleable,power=1.1", "elastic: power=1.1: must be a number from 0 to 1"},
        {"malleable,rho=0.1,overhead=0.1",
         "elastic: only one of rho, power, overhead and downey can be given"},
        {"malleable,rho=0.1,power=0.1",
         "elastic: only one of rho, power, overhead and downey can be given"},
        {"malleable,cost=1:2:-3", "elastic: cost=1:2:-3: must be a number from 0 to 1000000"},
        {"malleable,profile=8@9",
         "elastic: profile needs the class evolving, and no other: the job's size is what it says"},
        {"malleable+evolving,profile=8@9",
         "elastic: profile needs the class evolving, and no other: the job's size is what it says"},
        {"evolving,profile=8", "elastic: profile=8: '8' is not of the form NODES@SECONDS"},
        {"evolving,profile=8@1+", "elastic: profile=8@1+: '' is not of the form NODES@SECONDS"},
        {"evolving,profile=8@5+0@1",
         "elastic: profile=8@5+0@1: must be a number of nodes from 1 to 1000000"},
        {"evolving,profile=8@0", "elastic: profile: 8@0: a step must last more than 0 s"},
        {"evolving,profile=8@1+9@1,max=8", "elastic: profile: 9@1 is larger than max=8"},
        {"evolving,profile=8@1+7@1,min=8", "elastic: profile: 7@1 is smaller than min=8"},
        {"evolving,profile=8@1+7@1,sizes=pow2",
         "elastic: profile: 7@1 is not a size that sizes=pow2 allows"},
        {"evolving,profile=7@1+8@1",
         "elastic: pref=8 (from -N) is not the 7 nodes with which profile begins"},
        {"evolving,profile=8@300-0+8@300-0", "elastic: profile: 51840000 s are more than a year"},
        {"malleable,packet=a/b",
         "elastic: packet=a/b: must be 1 to 64 letters, digits, '_', '.' or '-'"},
        {"malleable,init=./warm", "elastic: init needs packet"},
        {"malleable,packet=a", "elastic: packet needs init"},
        {"packet=a,init=./warm@soon",
         "elastic: init=./warm@soon: 'soon' is no time; write seconds, MM:SS, HH:MM:SS or "
         "D-HH[:MM[:SS]]"},
        {"packet=a,init=@5",
         "elastic: init=@5: must be PROGRAM or PROGRAM@TIME, a path of at most 1024 printable "
         "characters"},
        {"packet=a,init=./warm,min=2,max=4,pref=2",
         "elastic: min=2 and max=4 differ, but without a class the job has one size"},
    };
    for (const Case& c : cases) check_error(parse_annotation(c.text, kEight), c.message);
}

TEST(annotation_takes_its_sizes_from_the_profile) {
    Annotation a = parsed("evolving,profile=5@500+10@3600+4@60", {0, 0});
    check_eq(a.min, 4);
    check_eq(a.pref, 5);
    check_eq(a.max, 10);
    a = parsed("evolving,profile=5@500+10@3600,min=2,max=16", {5, 5});
    check_eq(a.min, 2);
    check_eq(a.max, 16);
    RequestedNodes tasks{0, 0, 7, "-n"};
    check_eq(parse_annotation("evolving,profile=5@500", tasks)->pref, 5);
}

TEST(annotation_against_the_time_limit) {
    const Annotation a = parsed("evolving,profile=5@500+10@3600", {0, 0});
    check_ok(check_time_limit(a, 4100, "partition debug"));
    check_error(check_time_limit(a, 4080, "partition debug"),
                "elastic: profile takes 4100 s, more than the time limit of 4080 s of partition "
                "debug");
    check_error(check_time_limit(a, 60, ""),
                "elastic: profile takes 4100 s, more than the time limit of 60 s");
    check_ok(check_time_limit(parsed("evolving"), 60, ""));
}

TEST(annotation_length_is_bounded) {
    std::string text = "malleable," + std::string(kMaxAnnotation, 'x');
    check_error(parse_annotation(text, kEight),
                "elastic: 4106 characters, at most 4096 are allowed");
    check_that(parse_annotation("malleable,packet=" + std::string(65, 'x'), kEight)
                   .error()
                   .message.size() < 200);
    check_error(parse_annotation("malleable", {2'000'000, 2'000'000}),
                "elastic: max=2000000 (from -N) is larger than 1000000");
}

TEST(annotation_against_the_partition) {
    Annotation a = parsed("malleable,min=2,max=16");
    check_ok(check_against_partition(a, 16, "debug"));
    check_error(check_against_partition(a, 15, "debug"),
                "elastic: max=16 is larger than partition debug, which has 15 nodes");
}

TEST(annotation_cost_of_a_resize) {
    ResizeCost cost{0.5, 12, 2};
    check_near(cost.seconds(2, 4), 0.5 * 2 + 12.0 / 6 + 2 * 2, 1e-12);
    check_near(cost.seconds(4, 2), cost.seconds(2, 4), 1e-12);
    check_eq(cost.seconds(4, 4), 0.0);
}

// 12 GB: 3 on each of 4 nodes, 6 on each of 2, 12 on one.
TEST(annotation_cost_of_moving_data) {
    Annotation a = parsed("malleable,max=4,data=12G", {});
    check_near(a.cost.seconds(2, 4), 3, 1e-12);  // a node that joins receives, one that stays sends
    check_near(a.cost.seconds(4, 2), 3, 1e-12);
    check_near(a.cost.seconds(1, 4), 9, 1e-12);  // the one that stays sends all others' shares
    set_link_bandwidth(a, 3e9);
    check_near(a.cost.seconds(2, 4), 1, 1e-12);
    check_eq(to_json(a).dump(),
             R"({"elastic":1,"class":"malleable","min":1,"pref":1,"max":4,)"
             R"("cost":{"alpha":0,"beta":0,"b":0,"data":12000000000,"rate":3000000000}})");
    check_that(*annotation_from_json(to_json(a)) == a);
    a = parsed("malleable,cost=0:0:1,max=4,data=12G@6G", {});
    set_link_bandwidth(a, 3e9);
    check_near(a.cost.seconds(2, 4), 2.5, 1e-12);
}

TEST(annotation_stored_text_is_checked_like_a_typed_one) {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {
        {"[]", "elastic: not an annotation"},
        {"null", "elastic: not an annotation"},
        {"{\"note\":\"by the operator\"}", "elastic: not an annotation"},
        {"{\"elastic\":2}", "elastic: annotation of another format, not 1"},
        {R"({"elastic":1})", "elastic: class is missing"},
        {R"({"elastic":1,"class":"malleable","min":1,"pref":1})", "elastic: max is missing"},
        {R"({"elastic":1,"class":"x","min":1,"pref":1,"max":1})",
         "elastic: class: unknown class 'x', not malleable, evolving or malleable+evolving"},
        {R"({"elastic":1,"class":"rigid","min":0,"pref":1,"max":1})",
         "elastic: min must be an integer from 1 to 1000000, not 0"},
        {R"({"elastic":1,"class":"rigid","min":3,"pref":2,"max":4})",
         "elastic: min=3 is larger than pref=2"},
        {R"({"elastic":1,"class":"rigid","min":1,"pref":1,"max":1,"foo":1})",
         "elastic: unknown key 'foo'"},
        {R"({"elastic":1,"class":"rigid","min":1,"pref":1,"max":1,"sizes":7})",
         "elastic: sizes must be a string, not 7"},
        {R"({"elastic":1,"class":"rigid","min":1,"pref":1,"max":1,"cost":{"alpha":1}})",
         "elastic: cost: beta is missing"},
        {R"({"elastic":1,"class":"evolving","min":1,"pref":1,"max":1,"profile":[{"nodes":1}]})",
         "elastic: profile[0]: seconds is missing"},
    };
    for (const Case& c : cases) check_error(annotation_from_text(c.text), c.message);
    check_that(annotation_from_text("by hand").error().message.starts_with(
        "elastic: not an annotation: "));
    check_error(annotation_from_text(std::string(100'000, ' ')), "elastic: not an annotation");
}

TEST(annotation_of_a_rigid_job_is_kept_too) {
    Annotation rigid;
    rigid.min = rigid.pref = rigid.max = 4;
    check_that(*annotation_from_json(to_json(rigid)) == rigid);
}

TEST(annotation_round_trip) {
    std::mt19937_64 random(elastic::testing::seed());
    for (int i = 0; i < 2000; ++i) {
        Annotation a = random_annotation(random);
        auto by_json = annotation_from_json(to_json(a));
        check_ok(by_json);
        check_that(*by_json == a);
        auto of_a_job_that_has_ended = to_json(a);
        of_a_job_that_has_ended.set(kSizesHad, Json::object().set("node_hours", Json(1.5)));
        const auto ended = annotation_from_json(of_a_job_that_has_ended);
        check_that(ended && *ended == a);
        auto by_text = annotation_from_text(to_json(a).dump());
        check_ok(by_text);
        check_that(*by_text == a);
    }
}

TEST(annotation_has_a_sites_text_beside) {
    const std::string kept = to_json(parsed("malleable,min=2,max=16")).dump();
    const auto with = with_site_comment(kept, "JS1:\"x\" \xff");
    check_ok(with);
    check_that(*annotation_from_text(*with) == *annotation_from_text(kept));
    check_eq(Json::parse(*with)->get_string("site"), "JS1:\"x\" \xef\xbf\xbd");
    check_eq(Json::parse(*with_site_comment(*with, "{}"))->get_string("site"), "{}");
    check_eq(*with_site_comment(*with, ""), kept);
    check_that(!with_site_comment(kept, kept));
    check_that(!with_site_comment(kept, R"({"elastic":1,"min":0})"));
    check_that(!with_site_comment(kept, std::string(20000, 'x')));
    check_that(!with_site_comment("of a rigid job", "x"));
}

TEST(annotation_of_the_next_run_is_without_what_the_last_had) {
    const std::string kept = *with_site_comment(to_json(parsed("malleable")).dump(), "ours");
    Json ended = *Json::parse(kept);
    ended.set(kSizesHad, Json::object());
    check_that(ended.dump() != kept);
    check_eq(without_sizes_had(ended.dump()), kept);
    check_eq(without_sizes_had(kept), kept);
    check_eq(without_sizes_had("of a rigid job"), "of a rigid job");
}

TEST(annotation_allows_sizes_in_its_range) {
    const auto job = parse_annotation("malleable,min=2,max=8,sizes=pow2", {});
    for (int nodes : {2, 4, 8}) check_that(job->allows(nodes));
    for (int nodes : {0, 1, 3, 16}) check_that(!job->allows(nodes));
    check_eq(size_names(*job), "min=2, max=8, sizes=pow2");
}

// What was accepted is valid; what was refused is told in one printable line.
TEST(annotation_garbage_is_refused_or_valid) {
    std::mt19937_64 random(elastic::testing::seed(2));
    constexpr std::string_view kPieces[] = {
        "malleable", "evolving", "+",    ",",    "=",       "min",    "pref", "max",        "sizes",
        "gap",       "rho",      "cost", "data", "profile", "packet", "init", "grace",      "step:",
        "pow2",      ":",        "@",    "-",    "1",       "2",      "4",    "8",          "16",
        "0.5",       "1e9",      "nan",  "\n",   "\x1b",    "\xff",   " ",    "99999999999"};
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string text = random() % 4 ? "malleable+evolving" : "";
        for (auto n = random() % 12; n > 0; --n) text += kPieces[random() % std::size(kPieces)];
        auto result = parse_annotation(text, {static_cast<int>(random() % 9), 8});
        if (result) {
            ++accepted;
            check_that(*annotation_from_json(to_json(*result)) == *result);
        } else {
            const std::string& message = result.error().message;
            check_that(message.starts_with("elastic: "));
            check_that(std::ranges::all_of(message, [](char c) { return c >= 0x20 && c <= 0x7e; }));
        }
    }
    check_that(accepted > 100);
}
