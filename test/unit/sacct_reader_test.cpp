// SPDX-License-Identifier: MIT
// Exports of sacct: which jobs their records become, whatever columns, units and notations they
// have.
#include "simulator/logs/sacct.hpp"

#include "simulator/logs/reader.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

Result<Log> sacct(std::string_view text, bool lenient = false) {
    return parse_log(text, "x.txt", lenient);
}

// The one job of a log with these columns.
LogJob only_job(std::string_view text) {
    const auto log = sacct(text);
    check_ok(log);
    check_eq(log->jobs.size(), 1u);
    return log->jobs[0];
}

std::string error_of(std::string_view text) {
    const auto log = sacct(text);
    return log ? "" : log.error().message;
}

constexpr const char* kExport =
    "JobID|JobName|NCPUS|NNodes|Submit|Start|End|ElapsedRaw|Timelimit|State\n"
    "7|a|96|2|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|3600|02:00:00|COMPLETED\n"
    "7.batch|batch|48|1|2024-05-01T10:05:00|2024-05-01T10:05:00|2024-05-01T11:05:00|3600||"
    "COMPLETED\n"
    "7.0|x|96|2|2024-05-01T10:05:00|2024-05-01T10:05:00|2024-05-01T11:05:00|3600||COMPLETED\n"
    "8_3|b|48|1|2024-05-01T09:59:50|2024-05-01T10:00:00|2024-05-01T10:01:00|60|1-00:00:00|TIMEOUT\n"
    "9+1|c|48|1|2024-05-01T10:00:10|2024-05-01T10:00:10|2024-05-01T10:00:40|30|UNLIMITED|FAILED\n"
    "10_[4-9]|d|48|1|2024-05-01T10:00:10|Unknown|Unknown|0|01:00:00|PENDING\n"
    "11|e|0|0|2024-05-01T10:00:10|None|2024-05-01T10:00:20|0|Partition_Limit|CANCELLED by 1000\n"
    "12|f|48|1|2024-05-01T10:00:10|2024-05-01T10:00:40|Unknown|500|01:00:00|RUNNING\n";

}  // namespace

TEST(an_export_of_sacct_becomes_a_log) {
    const auto log = sacct(kExport);
    check_ok(log);
    check_eq(log->jobs.size(), 3u);
    check_eq(log->skipped.size(), 3u);
    const LogJob &first = log->jobs[0], &task = log->jobs[1], &part = log->jobs[2];
    check_eq(first.id, 7);
    check_eq(first.submit, 10.0);
    check_eq(first.run, 3600.0);
    check_eq(first.estimate, 7200.0);
    check_eq(first.wait, 300.0);
    check_that(first.limited);
    check_eq(first.processors, 96);
    check_eq(first.nodes, 2);
    check_eq(task.id, 13);  // 12 is the highest of those that the file has
    check_eq(task.submit, 0.0);
    check_eq(task.estimate, 86400.0);
    check_eq(part.id, 14);
    check_eq(part.estimate, kYear);
}

TEST(columns_may_come_in_any_order_and_form) {
    const LogJob csv = only_job(
        "\xef\xbb\xbf\"State\",\"NNodes\",\"Comment\",\"End\",\"Start\",\"Submit\",\"jobid\"\r\n"
        "\"COMPLETED\",\"4\",\"a \"\"b\"\", c\",\"2024-03-01 00:00:10\",2024-02-29 23:59:50,"
        "2024-02-29 23:00:00,\"31\"\r\n");
    check_eq(csv.id, 31);
    check_eq(csv.nodes, 4);
    check_eq(csv.processors, 0);
    check_eq(csv.run, 20.0);
    const LogJob other = only_job(
        "Elapsed|TimelimitRaw|AllocCPUS|Submit|JobID|JobIDRaw|\n"
        "1-02:03:04|90|5|1700000000|3_1|44|\n");
    check_eq(other.id, 44);
    check_eq(other.run, 93784.0);
    check_that(other.wait < 0);
    check_that(other.limited);
    check_that(!only_job("JobID|NNodes|Submit|ElapsedRaw\n1|1|0|9\n").limited);
    check_eq(other.estimate, 5400.0);
    check_eq(other.submit, 0.0);
}

TEST(the_records_of_a_resized_job_are_one_job) {
    const std::string header = "JobIDRaw|AllocCPUS|NNodes|Submit|ElapsedRaw|Timelimit|State\n";
    const std::string other = "99|1|1|2024-05-01T10:00:30|60|01:00:00|COMPLETED\n";
    const std::string first = "100|8|8|2024-05-01T10:00:00|600|01:00:00|RESIZING\n",
                      second = "100|16|16|2024-05-01T10:10:10|600|01:00:00|RESIZING\n",
                      last = "100|4|4|2024-05-01T10:20:10|1800|01:00:00|COMPLETED\n";
    for (const std::string& pieces : {first + second + last, last + second + first}) {
        const auto log = sacct(header + pieces + other);
        check_ok(log);
        check_eq(log->jobs.size(), 2u);
        check_eq(log->notes,
                 (std::vector<std::string>{"x.txt: 3 records of 1 resized job(s) are joined"}));
        const LogJob& job = log->jobs[0];
        check_eq(job.id, 100);
        check_eq(job.submit, 0.0);
        check_eq(job.nodes, 8);
        check_eq(job.processors, 8);
        check_eq(job.run, (8 * 600 + 16 * 600 + 4 * 1800) / 8.0);
        check_eq(job.estimate, 3600 * job.run / 3000);
    }
    // What has not ended yet, or where the end is not in the file, is no job that can be run.
    const std::string running = "100|4|4|2024-05-01T10:20:10|1800|01:00:00|RUNNING\n";
    for (const std::string& pieces : {first + second, first + running}) {
        const auto log = sacct(header + pieces + other);
        check_ok(log);
        check_eq(log->jobs.size(), 1u);
        check_eq(log->skipped.size(), 1u);
    }
    // A job that was requeued has several records, too, and each ran on its own.
    const auto requeued =
        sacct(header + first + "100|8|8|2024-05-01T10:10:10|5|01:00:00|REQUEUED\n" +
              "100|8|8|2024-05-01T11:00:00|70|01:00:00|COMPLETED\n");
    check_ok(requeued);
    check_eq(requeued->jobs.size(), 2u);
    check_eq(requeued->jobs[0].run, 605.0);
    check_eq(requeued->jobs[1].run, 70.0);
}

TEST(numbers_made_for_tasks_are_no_other_jobs) {
    const auto ids = [](const std::string& text) {
        const auto log = sacct(text);
        check_ok(log);
        std::vector<std::int64_t> list;
        for (const LogJob& job : log->jobs) list.push_back(job.id);
        return list;
    };
    const std::string tasks = "7_1|1|5|60\n7_2|1|5|60\n8|1|6|60\n9|0|6|0\n";
    check_eq(ids("JobID|NCPUS|Submit|ElapsedRaw\n" + tasks),
             (std::vector<std::int64_t>{10, 11, 8}));
    check_eq(ids("JobID|JobIDRaw|NCPUS|Submit|ElapsedRaw\n7_1|8|1|5|60\n7_2|7|1|5|60\n"),
             (std::vector<std::int64_t>{8, 7}));
}

TEST(components_of_heterogeneous_jobs_are_known_by_their_number) {
    using Places = std::vector<std::vector<std::size_t>>;
    const auto components = [](const std::string& text) {
        const auto log = sacct(text);
        check_ok(log);
        return log->heterogeneous;
    };
    const std::string header = "JobID|NCPUS|Submit|ElapsedRaw\n";
    check_eq(components(header + "7+0|1|5|60\n8|1|5|60\n7+1|2|5|60\n7+1.batch|2|5|60\n"
                                 "9+0|1|5|60\n9_1|1|5|60\n9_2|1|5|60\n"),
             (Places{{0, 2}}));
    // Whoever never ran is no component, and one alone is a job like any other.
    check_eq(components(header + "7+0|1|5|60\n7+1|0|5|0\n7+2|1|5|60\n8+0|1|5|60\n8+1|0|5|0\n"),
             (Places{{0, 1}}));
    // A job that was requeued has two runs; that it is heterogeneous is no matter of JobIDRaw.
    const auto log = sacct(
        "JobIDRaw|JobID|NCPUS|Submit|ElapsedRaw\n"
        "7|7+0|1|5|60\n7|7+0|1|90|80\n8|7+1|2|5|60\n8|7+1|2|90|80\n9|9|1|90|10\n");
    check_ok(log);
    check_eq(log->heterogeneous, (Places{{0, 2}, {1, 3}}));
    std::vector<std::int64_t> ids;
    for (const LogJob& job : log->jobs) ids.push_back(job.id);
    check_eq(ids, (std::vector<std::int64_t>{7, 10, 8, 11, 9}));
    check_eq(components("JobIDRaw|NCPUS|Submit|ElapsedRaw\n7|1|5|60\n8|1|5|60\n"), Places{});
}

TEST(time_limits_are_read_as_slurm_writes_them) {
    const auto estimate = [](const char* limit) {
        return only_job("JobID|NCPUS|Submit|ElapsedRaw|Timelimit\n1|1|5|60|" + std::string(limit) +
                        '\n')
            .estimate;
    };
    check_eq(estimate("1-02:03"), 86400.0 + 2 * 3600 + 3 * 60);
    check_eq(estimate("2-00:00:00"), 172800.0);
    check_eq(estimate("10:00"), 600.0);
    check_eq(estimate("UNLIMITED"), kYear);
    check_eq(estimate("Partition_Limit"), kYear);
    check_eq(estimate(""), 60.0);
    check_error(sacct("JobID|NCPUS|Submit|ElapsedRaw|Timelimit\n1|1|5|60|12:61:99\n"),
                "x.txt:2: Timelimit: '12:61:99' is no time span such as 1-02:03:04");
}

TEST(an_empty_column_leaves_it_to_the_next_one) {
    const LogJob job =
        only_job("JobIDRaw|JobID|AllocCPUS|NCPUS|Submit|ElapsedRaw|Elapsed\n|3||16|5||01:00:00\n");
    check_eq(job.id, 3);
    check_eq(job.processors, 16);
    check_eq(job.run, 3600.0);
}

TEST(counts_are_read_with_their_units) {
    const auto nodes = [](const char* count) {
        const auto log = sacct(
            fmt::format("JobID|AllocNodes|AllocCPUS|Submit|ElapsedRaw\n1|{}|4K|0|9\n", count));
        check_ok(log);
        check_eq(log->jobs[0].processors, 4096);
        return std::pair(log->jobs[0].nodes, log->notes);
    };
    using Notes = std::vector<std::string>;
    check_eq(nodes("1.50K").first, 1536);
    check_eq(nodes("1025K").first, 1025 * 1024);
    check_eq(nodes("2.50M").first, 2560 * 1024);
    check_eq(nodes("1.50K").second, Notes{});
    check_eq(nodes("1.46K").first, 1495);
    check_eq(nodes("1.46K").second,
             Notes{"x.txt: 1 job(s) have a rounded size, such as 1.46K; export with --noconvert"});
    for (const char* count : {"1.5", "K", "1.5X", "-1K", ".5K", "1e3"})
        check_eq(error_of(fmt::format("JobID|NNodes|Submit|ElapsedRaw\n1|{}|0|9\n", count)),
                 fmt::format("x.txt:2: NNodes: '{}' is no whole number", count));
}

TEST(what_pandas_makes_of_an_export_is_read) {
    const LogJob job = only_job(
        ",JobIDRaw,AllocCPUS,NNodes,Submit,Start,End,ElapsedRaw,TimelimitRaw,State\r\n"
        "0,7,64.0,2.0,2024-01-02 03:04:05,2024-01-02 03:04:06.500000,2024-01-02 "
        "03:05:06,60.0,90.0,COMPLETED\r\n"
        "1,8,NaN,,2024-01-02 03:04:05,NaT,NaT,0.0,,CANCELLED\r\n");
    check_eq(job.id, 7);
    check_eq(job.processors, 64);
    check_eq(job.nodes, 2);
    check_eq(job.wait, 1.5);
    check_eq(job.run, 60.0);
    check_eq(job.estimate, 5400.0);
    const LogJob span = only_job(
        "JobID;NNodes;Submit;Elapsed\n\"1\";\"4\";\"1704164645.5\";\"1 days 02:03:04.250000\"\n");
    check_eq(span.nodes, 4);
    check_eq(span.run, 93784.25);
    check_eq(only_job("JobID\tNNodes\tSubmit\tElapsed\n1\t4\t0\t1-02:03:04\n").run, 93784.0);
    const auto floats = sacct("JobIDRaw,NNodes,Submit,ElapsedRaw\n7.0,1,0,5\n8.0,1,0,5\n");
    check_that(!floats);
    check_that(floats.error().message.starts_with(
        "x.txt: has steps of jobs, such as '8.0', but no job; where a tool has made '7.0' of"));
}

TEST(times_may_have_an_offset_from_utc) {
    const auto run = [](const std::string& start, const std::string& end) {
        return only_job("JobID|NNodes|Submit|Start|End\n1|1|" + start + '|' + start + '|' + end +
                        '\n')
            .run;
    };
    check_eq(run("2024-01-02T03:04:05Z", "2024-01-02T03:05:05Z"), 60.0);
    check_eq(run("2024-01-02T03:04:05+01:00", "2024-01-02T03:04:05+00:00"), 3600.0);
    check_eq(run("2024-01-02 03:04:05.25+0530", "2024-01-01 21:34:05.75-00"), 0.5);
    check_eq(run("2024-03-31T01:59:59+01:00", "2024-03-31T03:00:09+02:00"), 10.0);
    for (const char* time :
         {"2024-01-02T03:04:05+", "2024-01-02T03:04:05+1", "2024-01-02T03:04:05+01:60",
          "2024-01-02T03:04:05Zulu", "2024-01-02T03:04:05.", "2024-01-02T03:04:05.x",
          "2024-01-02+01:00", "2024-01-02T03:04+01:00", "Z", "T+01:00"})
        check_eq(error_of(fmt::format("JobID|NNodes|Submit|ElapsedRaw\n1|1|{}|5\n", time)),
                 fmt::format("x.txt:2: Submit: '{}' is no time such as 2024-05-01T10:00:00", time));
    check_error(sacct("JobID|NNodes|Submit|Start|ElapsedRaw\n"
                      "1|1|2024-01-02T03:04:05Z|2024-01-02T03:04:05|5\n"),
                "x.txt:2: Start: '2024-01-02T03:04:05' has no offset from UTC, unlike the times "
                "before it");
}

TEST(run_time_is_taken_from_what_is_known) {
    check_eq(only_job("JobID|NCPUS|Submit|Start|End|ElapsedRaw\n"
                      "1|1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|\n")
                 .run,
             60.0);
    check_eq(only_job("JobID|NCPUS|Submit|Elapsed\n1|1|2024-01-01T00:00:00|02:03\n").run, 123.0);
}

TEST(a_missing_column_is_named_with_the_command_that_gives_it) {
    const auto expect = [](const char* header, const char* column) {
        const auto log = sacct(header);
        check_that(!log);
        check_eq(log.error().message,
                 fmt::format("x.txt:1: no column {} among those the first line names; export "
                             "with: {}",
                             column, kSacctCommand));
    };
    expect("JobID|NCPUS|End|ElapsedRaw\n", "Submit");
    expect("JobID|Submit|ElapsedRaw\n", "AllocCPUS or NNodes");
    expect("JobID,Submit,NNodes,End\n", "ElapsedRaw");
    expect("JobIDs,Submit,NNodes,Elapsed\n", "JobID");
}

TEST(a_malformed_line_is_named) {
    const std::string header = "JobID|NCPUS|Submit|ElapsedRaw|Timelimit\n\n";
    const auto expect = [&](std::string_view line, std::string_view message) {
        const std::string text = header + std::string(line) + '\n';
        const auto strict = sacct(text);
        check_that(!strict);
        check_eq(strict.error().message, std::string(message));
        const auto lenient = sacct(text, true);
        check_ok(lenient);
        check_eq(lenient->malformed, 1);
    };
    expect("1|1|2024-01-01T00:00:00|60", "x.txt:3: 4 columns, where the first line names 5");
    expect("x|1|2024-01-01T00:00:00|60|", "x.txt:3: JobID: 'x' is no job");
    expect("1|many|2024-01-01T00:00:00|60|", "x.txt:3: NCPUS: 'many' is no whole number");
    expect("1|1|2023-02-29T00:00:00|60|",
           "x.txt:3: Submit: '2023-02-29T00:00:00' is no time such as 2024-05-01T10:00:00");
    expect("1|1|2024-01-01T00:00:00|99999999999999|",
           "x.txt:3: ElapsedRaw: '99999999999999' is out of range");
    expect("1|1|2024-01-01T00:00:00|60|soon",
           "x.txt:3: Timelimit: 'soon' is no time span such as 1-02:03:04");
    const std::string cut = "JobID|NCPUS|Submit|ElapsedRaw\n1|1|5|60\n2|1|6|6";
    const auto read = sacct(cut);
    check_ok(read);
    check_eq(read->jobs.size(), 2u);
    check_eq(read->notes.size(), 1u);
    check_eq(
        read->notes[0],
        std::string("x.txt:3: the last line does not end; if the file was cut off, its last value "
                    "may be wrong"));
    check_error(sacct("JobID|NCPUS|Submit|ElapsedRaw\n1|1|5|60\n2|1|6"),
                "x.txt:3: 3 columns, where the first line names 4");
    check_error(sacct("JobID,NCPUS,Submit,ElapsedRaw\n\"1,1,5,60\n"),
                "x.txt:2: a quote is not closed");
    check_error(sacct("JobID,NCPUS,Submit,ElapsedRaw\n\"1\"x,1,5,60\n"),
                "x.txt:2: column 1: something follows the closing quote");
}

TEST(a_name_in_the_last_column_may_have_the_separator_in_it) {
    const auto read =
        sacct("JobID|NCPUS|Submit|ElapsedRaw|JobName\n1|1|5|60|sort | uniq|x\n2|2|6|60|plain\n");
    check_ok(read);
    check_eq(read->jobs.size(), 2u);
    check_error(sacct("JobName|JobID|NCPUS|Submit|ElapsedRaw\nsort | uniq|1|1|5|60\n"),
                "x.txt:2: 6 columns, where the first line names 5");
}
