// SPDX-License-Identifier: MIT
// The journal's file: written in batches that a crash may cut, a disk may refuse and others may
// rename or delete; read forwards, backwards and from a place.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "folder.hpp"
#include "journal/journal.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::journal;

namespace {

struct Folder : elastic::testing::Folder {
    std::string file(const std::string& suffix = "") const { return *this / ("journal" + suffix); }
};

std::string content(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
}

void append(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
}

Event accept(OpId op, JobId job = 7) {
    return {static_cast<Time>(op), Accept{job, op}};
}

OpId op_of(const Event& accepted) {
    return std::get<Accept>(accepted.what).op;
}

std::string line(OpId op, JobId job = 7) {
    return to_json(accept(op, job)).dump() + "\n";
}

}  // namespace

TEST(a_batch_is_completed_wherever_a_crash_has_cut_it) {
    const std::string before = line(1), text = line(2) + line(3);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        const Folder folder;
        append(folder.file(), before);
        Writer writer;
        check_ok(writer.open(folder.file()));
        const Batch batch = writer.prepare({accept(2), accept(3)});
        append(folder.file(), text.substr(0, cut));
        Writer next;
        check_ok(next.open(folder.file()));
        check_ok(next.complete(batch));
        check_ok(next.complete(batch));
        check_ok(next.write(accept(4)));
        check_eq(content(folder.file()), before + text + line(4));
    }
}

TEST(a_batch_of_another_file_is_not_completed) {
    const Folder folder;
    Writer writer;
    check_ok(writer.open(folder.file()));
    const Batch batch = writer.prepare({accept(1)});
    check_ok(writer.write(batch));
    check_eq(std::rename(folder.file().c_str(), folder.file(".1").c_str()), 0);
    check_ok(writer.reopen());
    check_ok(writer.complete(batch));
    check_eq(content(folder.file()), "");
    check_eq(content(folder.file(".1")), line(1));
}

TEST(what_is_written_is_read) {
    const Folder folder;
    Writer writer;
    check_ok(writer.open(folder.file()));
    check_ok(writer.write(accept(1)));
    check_ok(writer.write(accept(2)));
    check_eq(content(folder.file()), line(1) + line(2));
    const Result<Journal> journal = read_journal(folder.file());
    check_ok(journal);
    check_eq(journal->lines.size(), 2u);
    check_eq(journal->lines[1].number, 2u);
    check_eq(op_of(journal->lines[1].event), 2);
    check_that(!journal->truncated);
}

TEST(others_may_not_read_the_file) {
    const Folder folder;
    ::umask(0);
    Writer writer;
    check_ok(writer.open(folder.file()));
    struct stat about {};
    check_eq(::stat(folder.file().c_str(), &about), 0);
    check_eq(about.st_mode & 0777, 0640u);
}

TEST(a_file_is_continued_and_a_torn_line_left_behind) {
    const Folder folder;
    append(folder.file(), line(1) + "{\"time\":2,\"ev");
    Writer writer;
    check_ok(writer.open(folder.file()));
    check_ok(writer.write(accept(3)));
    check_ok(writer.write(accept(4)));
    check_eq(content(folder.file()), line(1) + "{\"time\":2,\"ev\n" + line(3) + line(4));
    const Result<Journal> journal = read_journal(folder.file());
    check_ok(journal);
    check_eq(journal->lines.size(), 3u);
    check_eq(journal->malformed.size(), 1u);
    check_eq(journal->malformed[0].number, 2u);
}

TEST(only_a_journal_is_written_to) {
    for (const std::string text :
         {"root:x:0:0\n", "{}\n", "\n", "{\"tim\n", "nonsense without end"}) {
        const Folder folder;
        append(folder.file(), text);
        Writer writer;
        const Result<void> opened = writer.open(folder.file());
        check_that(!opened && opened.error().message.find(folder.file()) != std::string::npos);
        check_that(!writer.is_open());
        check_eq(content(folder.file()), text);
    }
    Writer writer;
    check_that(!writer.open("/dev/null"));
    const Folder folder;
    append(folder.file(), line(1).substr(0, 4));  // all that fitted on a full disk
    check_ok(writer.open(folder.file()));
}

TEST(reopening_follows_logrotate) {
    const Folder folder;
    Writer writer;
    check_ok(writer.open(folder.file()));
    check_ok(writer.write(accept(1)));
    check_eq(std::rename(folder.file().c_str(), folder.file(".1").c_str()), 0);
    check_ok(writer.write(accept(2)));
    check_ok(writer.reopen());
    check_ok(writer.write(accept(3)));
    check_eq(content(folder.file(".1")), line(1) + line(2));
    check_eq(content(folder.file()), line(3));
}

TEST(a_full_disk_is_reported_once_and_survived) {
    const Folder folder;
    std::signal(SIGXFSZ, SIG_IGN);
    Writer writer;
    check_ok(writer.open(folder.file()));
    check_ok(writer.write(accept(1)));
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = line(1).size() + 5;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    check_that(!writer.write(accept(2)));  // five bytes of it fit
    check_ok(writer.write(accept(3)));     // lost as well, but said already
    check_eq(writer.lost(), 2u);
    limit.rlim_cur = before;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    check_ok(writer.write(accept(4)));
    check_eq(writer.lost(), 2u);
    check_eq(content(folder.file()), line(1) + line(2).substr(0, 5) + "\n" + line(4));
}

TEST(a_gap_lasts_until_the_journal_resumes) {
    const Folder folder;
    append(folder.file(), line(1) + "{\"time\":2,\"ev");
    const Event resume{5, Controller{Controller::What::resume, 4, "easy"}};
    Writer writer;
    check_ok(writer.open(folder.file()));
    check_that(writer.has_gap());
    check_ok(writer.write(accept(3)));
    check_that(writer.has_gap());
    check_ok(writer.write(resume));
    check_that(!writer.has_gap());
    check_ok(writer.reopen());
    check_that(!writer.has_gap());
}

TEST(a_file_that_begins_anew_has_a_gap) {
    for (const std::string how : {"rename", "copytruncate", "delete", "another", "nothing"}) {
        const Folder folder;
        Writer writer;
        check_ok(writer.open(folder.file()));
        check_ok(writer.write(accept(1)));
        check_that(!writer.has_gap());
        if (how == "rename") std::rename(folder.file().c_str(), folder.file(".1").c_str());
        if (how == "copytruncate") check_eq(::truncate(folder.file().c_str(), 0), 0);
        if (how == "delete") std::remove(folder.file().c_str());
        check_ok(how == "another" ? writer.open(folder.file(".new")) : writer.reopen());
        check_eq(writer.has_gap(), how != "nothing");
        check_ok(writer.write(accept(2)));
        check_ok(writer.reopen());
        check_eq(writer.has_gap(), how != "nothing");
    }
}

// Without any word to the writer.
TEST(what_others_do_to_the_file_is_noticed) {
    const Folder folder;
    Writer writer;
    check_ok(writer.look());
    check_ok(writer.open(folder.file()));
    check_ok(writer.write(accept(1)));
    check_ok(writer.look());
    check_that(!writer.has_gap());
    check_eq(std::rename(folder.file().c_str(), folder.file(".1").c_str()), 0);
    check_ok(writer.look());
    check_ok(writer.write(accept(2)));
    check_that(!writer.has_gap());
    check_eq(content(folder.file(".1")), line(1) + line(2));
    std::remove(folder.file(".1").c_str());
    check_ok(writer.look());
    check_that(writer.has_gap());
    const Event resume{5, Controller{Controller::What::resume, 4, "easy"}};
    check_ok(writer.write(resume));
    check_ok(writer.look());
    check_that(!writer.has_gap());
    check_eq(content(folder.file()), to_json(resume).dump() + "\n");
    check_eq(::truncate(folder.file().c_str(), 3), 0);
    check_ok(writer.look());
    check_that(writer.has_gap());
    check_ok(writer.write(resume));
    check_eq(content(folder.file()), "{\"t\n" + to_json(resume).dump() + "\n");
}

TEST(a_deleted_file_that_cannot_be_made_anew_is_reported_once) {
    const Folder folder;
    const std::string within = folder.file() + ".d", path = within + "/journal";
    ::mkdir(within.c_str(), 0700);
    Writer writer;
    check_ok(writer.open(path));
    std::remove(path.c_str());
    ::rmdir(within.c_str());
    const auto looked = writer.look();
    check_that(!looked && looked.error().message.find(path) != std::string::npos);
    check_ok(writer.write(accept(1)));
    check_ok(writer.look());
    ::mkdir(within.c_str(), 0700);
    check_ok(writer.look());
    check_that(writer.has_gap());
    check_ok(writer.write(accept(2)));
    check_eq(content(path), line(2));
    std::remove(path.c_str());
    ::rmdir(within.c_str());
}

// What the state file keeps is the last batch; the file may have become anything since.
TEST(a_restart_finds_a_gap_unless_the_file_ends_with_what_was_kept) {
    struct Case {
        std::string there;
        bool gap;
    };
    const std::string before = line(1), batch_text = line(2);
    for (const Case& c : {Case{before + batch_text, false},
                          {before, false},
                          {"", true},
                          {before + batch_text + line(3), true},
                          {before + line(3), true}}) {
        const Folder folder;
        Writer writer;
        check_ok(writer.open(folder.file()));
        check_ok(writer.write(accept(1)));
        const Batch batch = writer.prepare({accept(2)});
        check_eq(::truncate(folder.file().c_str(), 0), 0);
        append(folder.file(), c.there);
        Writer next;
        check_ok(next.open(folder.file()));
        check_ok(next.complete(batch));
        check_eq(next.has_gap(), c.gap);
        check_eq(content(folder.file()), c.there == before ? before + batch_text : c.there);
    }
}

TEST(a_restart_finds_the_gap_of_the_controller_before) {
    const Folder folder;
    append(folder.file(), line(1) + "{\"time\":2,\"ev");
    Writer writer;
    check_ok(writer.open(folder.file()));
    for (const auto& events : {std::vector<Event>{}, {accept(2)}}) {
        const Batch kept = writer.prepare(events);
        check_ok(writer.write(kept));
        Writer next;
        check_ok(next.open(folder.file()));
        check_ok(next.complete(kept));
        check_that(next.has_gap());
    }
    const Batch resume = writer.prepare({{5, Controller{Controller::What::resume, 4, "easy"}}});
    Writer next;
    check_ok(next.open(folder.file()));
    check_ok(next.complete(resume));
    check_that(!next.has_gap());
}

TEST(a_file_and_a_state_that_are_both_new_have_no_gap) {
    const Folder folder;
    Writer writer;
    check_ok(writer.open(folder.file()));
    check_ok(writer.complete({}));
    check_that(!writer.has_gap());
    append(folder.file(), line(1));
    check_ok(writer.open(folder.file()));
    check_ok(writer.complete({}));  // the state was lost
    check_that(writer.has_gap());
}

TEST(a_compressed_file_is_named_as_that) {
    const Folder folder;
    append(folder.file(".gz"), "\x1f\x8b\x08 and so on");
    Reader reader;
    const auto opened = reader.open(folder.file(".gz"));
    check_that(!opened && opened.error().message.find("zcat") != std::string::npos);
}

TEST(without_a_file_writing_does_nothing) {
    Writer writer;
    check_ok(writer.write(accept(1)));
    check_ok(writer.reopen());
    check_eq(writer.lost(), 0u);
    check_that(!writer.open("/dev/null/journal"));
    check_that(!writer.is_open());
}

TEST(broken_lines_are_named_and_passed_over) {
    const Folder folder;
    append(folder.file(), "nonsense\n" + line(2) + "\n{\"time\":4}\n" + line(5) + "{\"time\"");
    const Result<Journal> journal = read_journal(folder.file());
    check_ok(journal);
    check_eq(journal->lines.size(), 2u);
    check_eq(journal->lines[0].number, 2u);
    check_eq(journal->lines[1].number, 5u);
    check_eq(journal->malformed.size(), 2u);
    check_eq(journal->malformed[0].number, 1u);
    check_eq(journal->malformed[1].number, 4u);
    check_that(journal->truncated);
}

TEST(a_line_without_end_costs_no_memory_and_hides_no_other) {
    const Folder folder;
    append(folder.file(), std::string(5 * kMaxLine, 'x') + "\n" + line(2));
    const Result<Journal> journal = read_journal(folder.file());
    check_ok(journal);
    check_eq(journal->malformed.size(), 1u);
    check_eq(journal->lines.size(), 1u);
    check_eq(journal->lines[0].number, 2u);
}

TEST(a_reader_follows_a_growing_file) {
    const Folder folder;
    append(folder.file(), line(1) + line(2).substr(0, 10));
    Reader reader;
    check_ok(reader.open(folder.file()));
    check_that(std::holds_alternative<Line>(reader.next()));
    check_that(std::holds_alternative<Reader::AtEnd>(reader.next()));
    check_that(reader.truncated());
    append(folder.file(), line(2).substr(10));
    const Reader::Item item = reader.next();
    check_that(std::holds_alternative<Line>(item));
    check_eq(op_of(std::get<Line>(item).event), 2);
    check_that(!reader.truncated());
    check_that(!reader.replaced());
    check_eq(std::rename(folder.file().c_str(), folder.file(".1").c_str()), 0);
    check_that(!reader.replaced());  // not yet: nothing has come in its place
    append(folder.file(), line(3));
    check_that(reader.replaced());
}

TEST(what_cannot_be_read_is_an_error) {
    check_that(!read_journal("/nonexistent"));
    check_that(!read_journal("/tmp"));
    check_that(!tail("/nonexistent", 3));
}

TEST(the_tail_is_the_last_events_in_order) {
    const Folder folder;
    std::string text;
    for (OpId op = 1; op <= 5000; ++op) text += line(op, op % 2 ? 7 : 77);
    append(folder.file(), text + "{\"time\":");
    const auto last = tail(folder.file(), 3);
    check_ok(last);
    check_eq(last->events.size(), 3u);
    check_eq(op_of(last->events.front()), 4998);
    check_eq(op_of(last->events.back()), 5000);
    const auto of_job = tail(folder.file(), 2, 7);
    check_ok(of_job);
    check_eq(of_job->events.size(), 2u);
    check_eq(op_of(of_job->events.front()), 4997);
    const auto all = tail(folder.file(), 1'000'000);
    check_ok(all);
    check_eq(all->events.size(), 5000u);
    check_eq(op_of(all->events.front()), 1);
    const auto none = tail(folder.file(), 0);
    check_ok(none);
    check_eq(none->events.size(), 0u);
}

TEST(the_tail_reads_no_more_than_it_may) {
    const Folder folder;
    std::string text;
    for (OpId op = 1; op <= 5000; ++op) text += line(op);
    append(folder.file(), text);
    const auto last = tail(folder.file(), 5000, 0, {.read = 1000});
    check_ok(last);
    check_that(last->events.size() > 10 && last->events.size() < 25);
    check_eq(op_of(last->events.back()), 5000);
}

TEST(an_excerpt_is_no_longer_than_it_may_be) {
    const Folder folder;
    append(folder.file(), line(1) + line(2) + line(3));
    const Limits two{.text = 2 * line(1).size()}, none{.text = 1};
    const auto last = tail(folder.file(), 9, 0, two);
    check_that(last->cut);
    check_eq(last->events.size(), 2u);
    check_eq(op_of(last->events.front()), 2);
    const auto first = since(folder.file(), {}, 9, 0, two);
    check_that(first->cut);
    check_eq(first->events.size(), 2u);
    const auto rest = since(folder.file(), first->next, 9, 0, two);
    check_that(!rest->cut);
    check_eq(op_of(rest->events.front()), 3);
    const auto too_long = since(folder.file(), {}, 9, 0, none);  // else it would never go on
    check_that(too_long->events.empty() && too_long->next == rest->next);
}

TEST(the_tail_of_an_empty_or_torn_file_is_empty) {
    const Folder folder;
    append(folder.file(), "");
    check_eq(tail(folder.file(), 3)->events.size(), 0u);
    append(folder.file(), "{\"time\":");
    check_eq(tail(folder.file(), 3)->events.size(), 0u);
}

TEST(what_comes_behind_a_place_is_read_from_there) {
    const Folder folder;
    append(folder.file(), line(1) + line(2) + line(3));
    const auto first = tail(folder.file(), 1);
    check_eq(op_of(first->events.front()), 3);
    check_that(since(folder.file(), first->next, 9)->next == first->next);

    append(folder.file(), line(4) + line(5, 77) + line(6) + "{\"time\":");
    const auto two = since(folder.file(), first->next, 2);
    check_ok(two);
    check_eq(two->events.size(), 2u);
    check_eq(op_of(two->events.front()), 4);
    const auto rest = since(folder.file(), two->next, 9);
    check_eq(rest->events.size(), 1u);
    check_eq(op_of(rest->events.front()), 6);
    check_that(since(folder.file(), rest->next, 9)->next == rest->next);  // half a line
    const auto of_job = since(folder.file(), first->next, 9, 77);
    check_eq(of_job->events.size(), 1u);
    check_that(of_job->next == rest->next);
    const auto in_steps = since(folder.file(), {}, 9, 0, {.read = line(1).size() + 3});
    check_eq(in_steps->events.size(), 1u);
    check_eq(op_of(since(folder.file(), in_steps->next, 9)->events.front()), 2);
}

TEST(another_file_is_read_from_its_beginning) {
    const Folder folder;
    append(folder.file(), line(1) + line(2));
    const Position place = tail(folder.file(), 1)->next;
    check_eq(std::rename(folder.file().c_str(), folder.file(".1").c_str()), 0);
    append(folder.file(), line(3));
    check_eq(op_of(since(folder.file(), place, 9)->events.front()), 3);
    const Position beyond{tail(folder.file(), 1)->next.file, 1'000'000};
    check_eq(since(folder.file(), beyond, 9)->events.size(), 1u);
    check_that(!since("/nonexistent", place, 9));
}

TEST(a_place_has_a_text) {
    const Position place{12, 345};
    check_eq(to_string(place), "12:345");
    check_that(position_from_string("12:345") == place);
    const Position largest{UINT64_MAX, INT64_MAX};
    check_that(position_from_string(to_string(largest)) == largest);
    for (const char* wrong : {"", ":", "12", "12:", ":1", "1:-1", "-1:1", "a:b", "1:2:3"})
        check_that(!position_from_string(wrong));
}
