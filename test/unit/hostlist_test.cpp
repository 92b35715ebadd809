// SPDX-License-Identifier: MIT
// Node lists as Slurm writes them: expanded within bounds, compressed, and without some of their
// hosts.
#include "common/hostlist.hpp"

#include <random>
#include <set>

#include "testing.hpp"

using elastic::compress_hostlist;
using elastic::expand_hostlist;
using elastic::last_hosts;
using elastic::without_hosts;
using Names = std::vector<std::string>;

TEST(hostlist_expands_ranges) {
    check_eq(*expand_hostlist(""), Names{});
    check_eq(*expand_hostlist("login"), Names{"login"});
    check_eq(*expand_hostlist("n[1-3,7],login,a-b.c_9"),
             (Names{"n1", "n2", "n3", "n7", "login", "a-b.c_9"}));
    check_eq(*expand_hostlist("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
    check_eq(*expand_hostlist("[1-2]"), (Names{"1", "2"}));
    check_eq(*expand_hostlist("n2,n1,n2"), (Names{"n2", "n1", "n2"}));
}

TEST(hostlist_refuses_what_is_malformed) {
    for (const char* text :
         {",",      "a,",      ",a",    "a,,b",  "n[",    "n]",       "n[]",
          "n[1",    "n[1-",    "n[1-]", "n[-1]", "n[1,]", "n[1]x",    "n[1]m[2]",
          "n[[1]]", "n[1 -2]", "n[a]",  "a b",   "a\nb",  "\xc3\xa4", "n[1-2-3]"}) {
        ck_assert_msg(!expand_hostlist(text), "'%s' was accepted", text);
    }
    check_error(expand_hostlist("n[3-1]"), "node list: range 3-1 is backwards");
    check_error(expand_hostlist("n[1-"), "node list: ends too early");
    check_error(expand_hostlist("n\x1b"), "node list: not understood: '\\x1b'");
}

TEST(hostlist_is_bounded) {
    check_eq(expand_hostlist("n[1-100000]")->size(), elastic::kMaxHosts);
    check_error(expand_hostlist("n[0-100000]"), "node list: more than 100000 names");
    check_error(expand_hostlist("n[0-999999999999999999]"), "node list: more than 100000 names");
    check_error(expand_hostlist("n[0-4]", 4), "node list: more than 4 names");
    check_eq(expand_hostlist("n[1-4]", 4)->size(), 4u);
    check_error(expand_hostlist("n[1-9999999999999999999]"),
                "node list: a number has more than 18 digits");
    check_ok(expand_hostlist(std::string(255, 'a')));
    check_error(expand_hostlist(std::string(256, 'a')),
                "node list: a name has more than 255 characters");
}

TEST(hostlist_compresses_runs) {
    check_eq(compress_hostlist({}), "");
    check_eq(compress_hostlist({"n10", "n2", "n1", "n2"}), "n[1-2,10]");
    check_eq(compress_hostlist({"n8", "n9", "n10"}), "n[8-10]");
    check_eq(compress_hostlist({"n08", "n09", "n10"}), "n[08-10]");
    check_eq(compress_hostlist({"n9", "n010"}), "n[9,010]");
    check_eq(compress_hostlist({"n7"}), "n7");
    check_eq(compress_hostlist({"n", "n1", "m"}), "m,n,n1");
    check_eq(compress_hostlist({"a12345678901234567890"}), "a12345678901234567890");
}

TEST(the_last_hosts_leave_out_the_kept_one) {
    check_eq(last_hosts({"n1", "n2", "n3", "n4"}, "n4", 2), (Names{"n2", "n3"}));
    check_eq(last_hosts({"n1", "n2", "n3"}, "n1", 5), (Names{"n2", "n3"}));
    check_eq(last_hosts({"n1", "n2"}, "", 0), Names{});
}

TEST(a_list_without_other_hosts) {
    check_eq(without_hosts("n[1-4]", "n[2-3],n9"), "n[1,4]");
    check_eq(without_hosts("n[1-2]", "n[1-2]"), "");
    check_eq(without_hosts("n[1-2]", ""), "n[1-2]");
    check_eq(without_hosts("n[1-2]", "n[3"), "n[1-2]");
}

TEST(hostlist_round_trip_is_the_set) {
    std::mt19937_64 random(elastic::testing::seed());
    for (int round = 0; round < 300; ++round) {
        Names names;
        for (auto i = random() % 40; i > 0; --i) {
            std::string prefix(1, "nm"[random() % 2]);
            names.push_back(prefix + fmt::format("{:0{}}", random() % 120, 1 + random() % 3));
        }
        Names expanded = *expand_hostlist(compress_hostlist(names));
        std::set<std::string> unique(names.begin(), names.end());
        check_eq(expanded.size(), unique.size());
        check_eq(std::set<std::string>(expanded.begin(), expanded.end()), unique);
    }
}
