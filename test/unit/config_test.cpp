// SPDX-License-Identifier: MIT
// elastic.conf: every key, the defaults, and what is said of wrong settings.
#include "core/model/config.hpp"

#include "testing.hpp"

using namespace elastic::core;

namespace {

auto parse(std::string_view text) {
    return parse_config(text, "elastic.conf");
}

}  // namespace

TEST(config_of_an_empty_file_is_the_default) {
    Config config = *parse("# nothing\n");
    Config standard;
    check_eq(config.policy_name, standard.policy_name);
    check_eq(config.grace_time, standard.grace_time);
    check_eq(config.max_grace_time, 3600.0);
    check_eq(config.listen_port, standard.listen_port);
    check_that(config.policy.victim_order == standard.policy.victim_order);
}

TEST(config_reads_every_key) {
    Config config = *parse(
        "GraceTime=2:00\nMaxGraceTime=5:00\nshrinktimeout=KILL\nBackOff=0\nScaleRatio=2."
        "5\nInitTime=1:30\nLinkBandwidth="
        "25G\nListenPort="
        "7000\nInterval=0.05\n"
        "MaxConnections=10\nMaxConnectionsPerUser=3\nJournalFile=/var/log/e.journal\n"
        "ForecastInterval=5\nForecastTime=0.5\n"
        "ResizeGap=5\nVictimOrder=gain\n");
    check_eq(config.forecast_interval, 5.0);
    check_eq(config.forecast_time, 0.5);
    check_eq(config.grace_time, 120.0);
    check_eq(config.max_grace_time, 300.0);
    check_that(config.shrink_timeout == ShrinkTimeout::kill);
    check_eq(config.back_off, 0.0);
    check_eq(config.link_bandwidth, 25e9);
    check_eq(config.scale_ratio, 2.5);
    check_eq(config.init_time, 90.0);
    check_eq(config.listen_port, 7000);
    check_eq(config.interval, 0.05);
    check_eq(config.max_connections, 10);
    check_eq(config.max_connections_per_user, 3);
    check_eq(config.journal_file, "/var/log/e.journal");
    check_eq(config.policy.resize_gap, 5.0);
    check_that(config.policy.victim_order == VictimOrder::gain);
}

TEST(config_knows_which_nodes_are_left) {
    check_that(parse("")->leave_nodes == LeaveNodes::drained);
    check_that(parse("LeaveNodes=Maintenance")->leave_nodes == LeaveNodes::maintenance);
    check_that(parse("LeaveNodes=never")->leave_nodes == LeaveNodes::never);
    check_error(parse("LeaveNodes=soon"),
                "elastic.conf:1: LeaveNodes=soon: one of never, failing, drained, maintenance");
}

TEST(config_knows_who_starts_jobs) {
    check_that(parse("")->starts == Starts::elastic);
    check_error(parse("Starts=nobody"), "elastic.conf:1: Starts=nobody: one of elastic, slurm");
    const Config companion = *parse("Starts=Slurm\nHosted=builtin\nPolicy=elastic\n");
    check_that(companion.starts == Starts::slurm);
    check_that(companion.hosted == Hosted::builtin);
    check_that(companion.policy.initial_size == InitialSize::requested);
    check_that(companion.policy.expand_from == ExpandFrom::gap);
}

TEST(config_policy_counts_first_wherever_it_stands) {
    Config config = *parse("Backfill=none\nPolicy=EASY\n");
    check_eq(config.policy_name, "easy");
    check_that(config.policy.shrink_guard == ShrinkGuard::never);
    check_that(config.policy.backfill == Backfill::none);
}

TEST(config_errors_name_each_wrong_setting) {
    check_error(parse("Foo=1\nGraceTime=20\nMaxConnections=many\nInterval=61"),
                "elastic.conf:1: unknown key Foo; elastic.conf:3: MaxConnections=many: must be a "
                "number from 1 to 65536; elastic.conf:4: Interval=61: must be 0 to 60 seconds");
}

TEST(config_errors_name_the_line) {
    check_error(parse("\nFoo=1"), "elastic.conf:2: unknown key Foo");
    check_error(
        parse("VictimOrder=foo"),
        "elastic.conf:1: VictimOrder=foo: one of random, gain, shrinkable, "
        "expansions, adaptation-cost, remaining-time, scalability, above-preferred, use, slowdown");
    check_error(parse("Policy=x"),
                "elastic.conf:1: Policy=x: one of elastic, fcfs, easy, easy-lightest, "
                "conservative, lina-default, lina-application, lina-system, lina-system-text, "
                "mebf-basic, mebf-handoff, mebf-spare, mebf-intensive, mebf-shrink-plus, "
                "mebf-expand-plus, equipartition, wagomu-min, wagomu-pref, wagomu-average, "
                "wagomu-min-agreement, wagomu-min-steal, wagomu-min-pool, wagomu-pref-agreement, "
                "wagomu-pref-steal, wagomu-pref-pool, wagomu-average-agreement, "
                "wagomu-average-steal, wagomu-average-pool, wagomu-keep-pref, sd-policy");
    check_error(parse("listenport=0"),
                "elastic.conf:1: ListenPort=0: must be a number from 1 to 65535");
    check_error(parse("ListenPort=65536"),
                "elastic.conf:1: ListenPort=65536: must be a number from 1 to 65535");
    check_error(parse("GraceTime=0"), "elastic.conf:1: GraceTime=0: must be 1 to 86400 seconds");
    check_error(parse("ShrinkTimeout=no"), "elastic.conf:1: ShrinkTimeout=no: one of revoke, kill");
    check_error(parse("JournalFile=x"), "elastic.conf:1: JournalFile=x: must be an absolute path");
    check_error(parse("Interval=1\nInterval=2"), "elastic.conf:2: Interval is set twice");
}

TEST(config_file_that_is_absent_is_an_error) {
    check_error(read_config("/nonexistent/elastic.conf"),
                "cannot read /nonexistent/elastic.conf: No such file or directory");
}
