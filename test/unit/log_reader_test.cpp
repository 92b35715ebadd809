// SPDX-License-Identifier: MIT
// Logs in the Standard Workload Format: which jobs their lines become, what is malformed, and files
// packed in any way, bombs among them.
#include "simulator/logs/reader.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <libdeflate.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "simulator/logs/swf.hpp"
#include "simulator/logs/text_source.hpp"
#include "simulator/logs/unpack.hpp"
#include "simulator/make_workload.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::simulator;

namespace {

namespace fs = std::filesystem;

constexpr const char* kSwf =
    "; Version: 2\n"
    ";MaxProcs:\t128\n"
    "; MaxNodes: 32\n"
    "\n"
    "1 0 -1 100 4 -1 -1 8 200 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "  2\t10 -1 12.5 -1 -1 -1 8 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\r\n"
    "3 20 -1 0 4 -1 -1 4 200 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
    "4 30 -1 5 0 -1 -1 -1 200 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
    "5 -1 -1 5 1 -1 -1 -1 200 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "6 40 -1 5 1 -1 -1 -1 0 -1 1 -1 -1 -1 -1 -1 -1 -1";

Result<Log> swf(std::string_view text, bool lenient = false) {
    return read_swf(text, "x.swf", lenient);
}

std::string gzip(std::string_view text) {
    libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
    std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
    out.resize(
        libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
    libdeflate_free_compressor(compressor);
    return out;
}

// By libarchive, with a filter, or as a file each of a zip.
template <class... Texts>
std::string packed_by(int filter, const Texts&... texts) {
    std::string out(1 << 16, '\0');
    std::size_t used = 0;
    archive* a = archive_write_new();
    filter == ARCHIVE_FILTER_NONE ? archive_write_set_format_zip(a)
                                  : archive_write_set_format_raw(a);
    archive_write_add_filter(a, filter);
    archive_write_open_memory(a, out.data(), out.size(), &used);
    const auto add = [&](std::string_view text) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, "log.swf");
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
        archive_write_header(a, entry);
        archive_write_data(a, text.data(), text.size());
        archive_entry_free(entry);
    };
    (add(texts), ...);
    check_eq(archive_write_free(a), ARCHIVE_OK);
    out.resize(used);
    return out;
}

constexpr int kZip = ARCHIVE_FILTER_NONE;
constexpr int kFilters[] = {ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_ZSTD,
                            ARCHIVE_FILTER_LZ4};

std::string error_of(const Result<Text>& text) {
    return text ? "" : text.error().message;
}

// A file of its own for each test, which runs in a process of its own.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view content)
        : path_(fs::temp_directory_path() / fmt::format("log_reader_test.{}", getpid())) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { fs::remove(path_); }
    std::string path() const { return path_; }

  private:
    fs::path path_;
};

std::string error_of(const Result<Log>& log) {
    return log ? "" : log.error().message;
}

}  // namespace

TEST(swf_lines_become_jobs_by_the_rules) {
    const auto log = swf(kSwf);
    check_ok(log);
    check_eq(log->processors, 128);
    check_eq(log->nodes, 32);
    check_eq(log->skipped.size(), 3u);
    check_eq(log->jobs.size(), 3u);
    const LogJob &used = log->jobs[0], &requested = log->jobs[1], &last = log->jobs[2];
    check_eq(used.id, 1);
    check_eq(used.processors, 4);
    check_eq(used.estimate, 200.0);
    check_eq(requested.submit, 10.0);
    check_eq(requested.processors, 8);
    check_eq(requested.run, 12.5);
    check_eq(requested.estimate, 12.5);
    check_eq(last.id, 6);
    check_eq(last.estimate, 5.0);
}

TEST(the_size_of_a_machine_is_read_whole_or_not_at_all) {
    for (const char* value : {"1024", "1,024", "1'024", "1_024", "1 024", "1024.0", "\t1,024 (all)",
                              "1024;of them 24 spare", "1,024\r"}) {
        const auto log = swf(fmt::format("; MaxProcs: {}\n; MaxNodes: 1,048,576\n", value));
        check_ok(log);
        check_eq(log->processors, 1024);
        check_eq(log->nodes, 1048576);
        check_that(log->unclear_size.empty());
    }
    for (const char* value : {"10 racks x 1024", "1,02", "1,024,5", "1024,", "1.024", "4x256",
                              "1024 nodes", ",024", "1,024'512", "1,x24"}) {
        auto log = swf(fmt::format("; MaxNodes: 4\n; MaxProcs: {}\n{}", value,
                                   "1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"));
        check_ok(log);
        check_eq(log->processors, 0);
        const auto workload = make_workload(*log, {});
        check_that(!workload);
        check_eq(workload.error().message,
                 fmt::format("x.swf:2: MaxProcs: '{}' is no whole number, so the machine's size is "
                             "not known; give --nodes",
                             value));
        check_that(static_cast<bool>(make_workload(*log, {.nodes = 8})));
    }
    for (const char* value : {"", "unknown", "-1", "?", "n/a"}) {
        const auto log = swf(fmt::format("; MaxProcs: {}\n", value));
        check_ok(log);
        check_that(log->processors == 0 && log->unclear_size.empty());
    }
}

TEST(swf_numbers_are_read_in_every_notation) {
    const auto log = swf("+7 1e3 -1 0.25 3.5 0 0 0 999999999.75 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    check_ok(log);
    check_eq(log->jobs[0].id, 7);
    check_eq(log->jobs[0].submit, 1000.0);
    check_eq(log->jobs[0].run, 0.25);
    check_eq(log->jobs[0].processors, 4);
    check_eq(log->jobs[0].estimate, 999999999.75);
}

TEST(a_malformed_swf_line_is_named) {
    check_error(swf("1 0 -1 100 4\n"), "x.swf:1: 5 field(s), where a job has 18");
    check_error(swf(";\n\n1 0 -1 x 4 -1 -1 4 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
                "x.swf:3: field 4 (run time): 'x' is not a number");
    check_error(swf("1 0 -1 1x 4 -1 -1 4 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
                "x.swf:1: field 4 (run time): '1x' is not a number");
    check_error(swf("1 0 -1 - 4 -1 -1 4 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
                "x.swf:1: field 4 (run time): '-' is not a number");
    check_error(swf("1 0 -1 inf 4 -1 -1 4 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
                "x.swf:1: field 4 (run time): 'inf' is not a number");
    check_error(swf("1 0 -1 1e400 4 -1 -1 4 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
                "x.swf:1: field 4 (run time): '1e400' is not a number");
    check_error(swf("1 0 -1 5 99999999999999999999 -1 -1 4 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
                "x.swf:1: field 5 (processors used): '1e+20' is out of range");
    check_error(swf(std::string_view("1 0 -1 5\0 4 -1 -1 4 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n", 23)),
                "x.swf:1: field 4 (run time): '5\\x00' is not a number");
    check_error(swf("; MaxProcs: 1e30\n"), "x.swf:1: MaxProcs: '1e30' is out of range");
    const std::string endless(kMaxLogLine + 1, '1');
    check_error(swf(endless), "x.swf:1: the line is longer than 65536 bytes");
}

TEST(a_cut_off_or_damaged_swf_line_is_malformed) {
    const std::string line = "1 0 -1 3600 4 -1 -1 4 3600 -1 1 -1 -1 -1 -1 -1 -1 -1";
    check_ok(swf(line));
    // Field 18 may be cut in the middle of a number, which nobody can tell.
    for (std::size_t size = 1; size + 2 < line.size(); ++size)
        check_that(!swf(line.substr(0, size)));
    check_error(swf("1 0 -1 3600 4 -1 -1 4 36"), "x.swf:1: 9 field(s), where a job has 18");
    check_error(swf("1 0 -1 5 4 -1 -1 4 5 -1 1 -1 x -1 -1 -1 -1 -1\n"),
                "x.swf:1: field 13 (group): 'x' is not a number");
}

TEST(malformed_swf_lines_are_counted_when_lenient) {
    const auto log =
        swf("1 0 -1\n2 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\nnonsense\n", true);
    check_ok(log);
    check_eq(log->malformed, 2);
    check_eq(log->jobs.size(), 1u);
}

TEST(a_log_is_read_whatever_its_packing) {
    const std::string half(kSwf, 100), rest(kSwf + 100);
    for (const std::string& content : {std::string(kSwf), gzip(kSwf), gzip(half) + gzip(rest),
                                       gzip(kSwf) + std::string(3, '\0')}) {
        const TemporaryFile file(content);
        const auto log = read_log(file.path(), false);
        check_ok(log);
        check_eq(log->jobs.size(), 3u);
        check_eq(log->name, file.path());
    }
    for (const int filter : kFilters)
        for (const std::string& content :
             {packed_by(filter, kSwf), packed_by(filter, half) + packed_by(filter, rest)})
            check_that(unpack(content, "x")->view() == kSwf);
    check_that(unpack(packed_by(kZip, kSwf), "x")->view() == kSwf);
    check_that(!is_packed(kSwf) && is_packed(packed_by(kZip, kSwf)));
}

TEST(a_log_that_cannot_be_unpacked_says_why) {
    for (const int filter :
         {ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_LZ4, kZip}) {
        const std::string whole = packed_by(filter, kSwf);
        for (std::size_t size = 6; size < whole.size(); ++size) {
            const auto text = unpack(whole.substr(0, size), "x");
            // What lacks at the end may be an index that nobody needs.
            check_that(text ? text->view() == kSwf
                            : text.error().message.starts_with(
                                  "x: the compressed file is cut off or damaged"));
            check_that(!text || size > whole.size() / 2);
        }
    }
    check_eq(error_of(unpack(packed_by(kZip, kSwf, kSwf), "x.zip")),
             std::string("x.zip: has several files in it; unpack the log out of it"));
    const std::pair<const char*, const char*> others[] = {
        {"7z\xbc\xaf\x27\x1c", "7z"}, {"Rar!\x1a\x07", "RAR"}, {"\x1f\x9d\x90", "compress"}};
    for (const auto& [magic, name] : others)
        check_eq(error_of(unpack(magic, "x")),
                 fmt::format("x: is {}, which is not read; unpack it, or hand its text to standard "
                             "input",
                             name));
}

TEST(a_bomb_of_any_kind_is_refused) {
    const std::string spaces(8 << 20, ' ');
    const TextLimits limits{.bytes = 4 << 20, .free_bytes = 1 << 16, .ratio = 100};
    for (const int filter : {ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_ZSTD, kZip}) {
        const std::string bomb = packed_by(filter, spaces);
        check_that(
            error_of(unpack(bomb, "x", limits)).ends_with("bytes, which no log of its size does"));
        // What is compressed twice is unpacked once.
        if (filter != kZip) check_that(unpack(packed_by(filter, bomb), "x")->view() == bomb);
    }
}

TEST(a_damaged_gzip_is_refused) {
    const std::string whole = gzip(kSwf);
    for (std::size_t size = 2; size < whole.size(); ++size) {
        check_eq(unpack(whole.substr(0, size), "x.gz").error().message,
                 std::string("x.gz: the compressed file is cut off or damaged"));
    }
    check_eq(unpack(whole + "more", "x.gz").error().message,
             std::string("x.gz: something follows the compressed data"));
}

TEST(a_gzip_bomb_is_refused) {
    const std::string bomb = gzip(std::string(1 << 20, ' '));
    const TextLimits by_ratio{.bytes = 1 << 30, .free_bytes = 1 << 16, .ratio = 100};
    const auto refused = unpack(bomb, "x.gz", by_ratio);
    check_that(!refused);
    check_eq(refused.error().message,
             fmt::format("x.gz: unpacks to more than {} bytes, which no log of its size does",
                         100 * bomb.size()));
    const TextLimits by_size{.bytes = (1 << 20) - 1, .free_bytes = 1 << 20, .ratio = 2000};
    check_that(!unpack(bomb, "x.gz", by_size));
    const TextLimits enough{.bytes = 1 << 20, .free_bytes = 1 << 20, .ratio = 1};
    check_that(static_cast<bool>(unpack(bomb, "x.gz", enough)));
}

TEST(a_text_that_says_a_wrong_size_is_unpacked_all_the_same) {
    // Many small members: the last one's size says nothing of the whole.
    std::string packed, expected;
    for (int i = 0; i < 2000; ++i) {
        packed += gzip(std::string(1000, static_cast<char>('a' + i % 26)));
        expected += std::string(1000, static_cast<char>('a' + i % 26));
    }
    const auto text = unpack(packed, "x.gz");
    check_that(static_cast<bool>(text));
    check_that(text->view() == expected);
}

TEST(what_is_no_log_is_refused) {
    check_error(parse_log("", "x", false), "x: is empty");
    check_error(parse_log(" \r\n\n", "x", true), "x: is empty");
    check_error(parse_log("<html>", "x", true),
                "x: is neither SWF nor an export of sacct; its first line is '<html>'");
    for (const char* line : {"7|4|4|60", "7,4,4,60"})
        check_error(parse_log(line, "x", true),
                    "x: looks like an export of sacct without its first line, which names the "
                    "columns; export without --noheader");
    check_eq(error_of(read_log("/nonexistent/x.swf", false)),
             std::string("/nonexistent/x.swf: No such file or directory"));
    check_eq(error_of(read_log("/", false)), std::string("/: is a folder, not a log"));
    const TemporaryFile file("1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    check_eq(read_text(file.path(), {.bytes = 46}).error().message,
             file.path() + ": is larger than 46 bytes, too large for a log");
    check_that(static_cast<bool>(read_text(file.path(), {.bytes = 47})));
}

TEST(job_numbers_are_made_unique) {
    const auto log = parse_log(
        "5 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n7 1 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 "
        "-1 -1\n5 2 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "5 3 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n",
        "x", false);
    check_ok(log);
    std::vector<std::int64_t> ids;
    for (const LogJob& job : log->jobs) ids.push_back(job.id);
    check_eq(ids, (std::vector<std::int64_t>{5, 7, 8, 9}));
}

// The numbers of jobs are those that the archive's users count.
TEST(real_traces_are_read_whole) {
    struct Trace {
        const char* file;
        std::size_t jobs, lines;
        std::int64_t processors;
    };
    constexpr Trace kTraces[] = {{"KTH-SP2-1996-2.1-cln.swf.gz", 28467, 28476, 100},
                                 {"SDSC-SP2-1998-4.2-cln.swf.gz", 54034, 59715, 128},
                                 {"LLNL-Atlas-2006-2.1-cln.swf.gz", 36600, 43778, 9216}};
    const char* folder = std::getenv("ELASTIC_TRACES");
    for (const Trace& trace : kTraces) {
        const fs::path path = fs::path(folder ? folder : "") / trace.file;
        if (!folder || !fs::exists(path)) {
            fmt::print("skipped: {} is not in $ELASTIC_TRACES\n", trace.file);
            continue;
        }
        const auto log = read_log(path, false);
        check_ok(log);
        check_eq(log->jobs.size(), trace.jobs);
        check_eq(log->jobs.size() + log->skipped.size(), trace.lines);
        check_eq(log->processors, trace.processors);
    }
}

TEST(a_log_may_say_which_jobs_are_elastic) {
    const auto log = swf("; elastic: 1 malleable,min=2\n;elastic:\t7  evolving \r\n");
    check_ok(log);
    check_eq(log->annotations.size(), 2u);
    check_eq(log->annotations.at(1).text, "malleable,min=2");
    check_eq(log->annotations.at(7).text, "evolving");
}

TEST(a_log_may_say_which_jobs_are_rigid) {
    const auto log = swf("; elastic: 3 rigid\n");
    check_ok(log);
    check_that(log->annotations.empty() && log->rigid.contains(3));
    check_error(swf("; elastic: 3 rigid\n; elastic: 3 rigid"),
                "x.swf:2: elastic: job 3 stands twice");
    check_error(swf("; elastic: 3 malleable\n; elastic: 3 rigid"),
                "x.swf:2: elastic: job 3 stands twice");
}

TEST(a_log_may_say_which_jobs_start_together) {
    const std::string jobs =
        "5 0 -1 60 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "6 0 -1 -1 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "7 0 -1 60 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "8 0 -1 60 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
    const auto components = [&](const std::string& comments, bool lenient = false) {
        const auto log = swf(comments + jobs, lenient);
        check_ok(log);
        return log->heterogeneous;
    };
    using Places = std::vector<std::vector<std::size_t>>;
    check_eq(components(""), Places{});
    check_eq(components("; elastic: 8 with 5\n;elastic:\t7\twith  5 \r\n"), (Places{{0, 1, 2}}));
    check_eq(components("; elastic: 5 with 8\n"), (Places{{0, 2}}));
    // Job 6 never ran, and 9 is not there: one component alone is a job like any other.
    check_eq(components("; elastic: 7 with 6\n; elastic: 9 with 8\n"), Places{});
    check_eq(components("; elastic: 7 with 6\n; elastic: 8 with 6\n"), (Places{{1, 2}}));

    check_error(swf("; elastic: 7 with 7\n"),
                "x.swf:1: elastic: job 7: '7' is not another job's number");
    check_error(swf("; elastic: 7 with\n"),
                "x.swf:1: elastic: job 7: '' is not another job's number");
    check_error(swf("; elastic: 7 with 5\n; elastic: 7 rigid"),
                "x.swf:2: elastic: job 7 stands twice");
    const std::string chain = "; elastic: 7 with 5\n; elastic: 8 with 7\n";
    check_error(swf(chain), "x.swf:2: elastic: job 8: job 7 is itself with another");
    check_eq(components(chain, true), (Places{{0, 1}}));
    check_eq(swf(chain, true)->malformed, 1);
}

TEST(a_malformed_annotation_comment_is_an_error_with_its_line) {
    check_error(swf("\n; elastic: many"), "x.swf:2: elastic: 'many' is not a job number");
    check_error(swf("; elastic: -1 malleable"), "x.swf:1: elastic: '-1' is not a job number");
    check_error(swf("; elastic: 1 "),
                "x.swf:1: elastic: job 1: must be an annotation of 1 to 4096 characters");
    check_error(swf("; elastic: 1 a\n; elastic: 1 b"), "x.swf:2: elastic: job 1 stands twice");
    check_eq(swf("; elastic: x", true)->malformed, 1);
}
