// SPDX-License-Identifier: MIT
// What a controller finds of the one before, and what becomes of a journal that has missed
// something.
#include "controller/stable_storage.hpp"

#include <filesystem>

#include "common/atomic_file.hpp"
#include "controller_test.hpp"
#include "folder.hpp"
#include "log_memory.hpp"

using namespace elastic;
using namespace elastic::testing;

namespace {

// One controller after another in the same folder.
struct Stored : Room {
    explicit Stored(const std::string& directory) : journal(directory + "/elastic.journal") {
        check_ok(storage.open(directory));
    }

    void save(std::vector<journal::Event> events) { storage.save(events, now); }
    // The events of a file, by name.
    static std::string names_in(const std::string& path) {
        const auto read = journal::read_journal(path);
        check_ok(read);
        std::string names;
        for (const auto& line : read->lines)
            names += fmt::format("{}{}", names.empty() ? "" : " ", journal::name_of(line.event));
        return names;
    }
    std::string told() const { return names_in(journal); }

    std::string journal;
    StableStorage storage{config, state, site};
};

journal::Event ready(Time time) {
    return {time, journal::Ready{7, 1}};
}

void write(const std::string& path, std::string_view text) {
    check_ok(write_file(path, text, Durability::survives_process));
}

}  // namespace

TEST(what_is_saved_is_there_after_a_restart) {
    const Folder folder;
    Stored before(folder / "");
    before.add(7);
    before.save({ready(1000)});
    Stored after(folder / "");
    check_that(after.state.jobs.find(7) != nullptr);
    after.save({ready(1001)});
    check_eq(after.told(), "ready ready");
    check_eq(after.site.timings.states.count, 1u);
}

TEST(a_restart_completes_the_journal_with_what_the_state_has_of_it) {
    const Folder folder;
    Stored before(folder / "");
    before.save({ready(1000)});
    const auto size = std::filesystem::file_size(before.journal);
    before.save({{1001, journal::Release{7, 2}}});
    std::filesystem::resize_file(before.journal, size);
    const Stored after(folder / "");
    check_eq(after.told(), "ready release");
}

TEST(a_journal_with_a_gap_is_told_anew_with_its_next_event) {
    const Folder folder;
    write(folder / "elastic.journal", journal::to_json(ready(990)).dump() + "\n");
    Stored room(folder / "");  // with no state that fits this journal
    room.add(7);
    room.save({});
    check_eq(room.told(), "ready");
    room.save({{1000, journal::End{9, "COMPLETED", 1}}});
    check_eq(room.told(), "ready controller submit start");
    room.save({{1001, journal::End{9, "COMPLETED", 1}}});
    check_eq(room.told(), "ready controller submit start end");
}

TEST(a_journal_that_is_deleted_is_told_anew) {
    const Folder folder;
    Stored room(folder / "");
    room.save({ready(1000)});
    std::filesystem::remove(room.journal);
    room.add(7);
    room.save({ready(1001)});
    check_eq(room.told(), "controller submit start");
}

TEST(a_state_that_cannot_be_read_is_given_up) {
    const Folder folder;
    write(folder / "elastic_state", "{");
    LogMemory log;
    Stored room(folder / "");
    check_eq(log.lines.size(), 1u);
    check_that(log.lines[0].ends_with(": what was in flight is given up"));
    room.save({ready(1000)});
    check_eq(room.told(), "ready");
}

TEST(the_journal_goes_on_where_the_configuration_says) {
    const Folder folder;
    Stored room(folder / "");
    room.save({ready(1000)});
    room.config.journal_file = folder / "absent/journal";
    check_that(!room.storage.open_journal());
    check_eq(std::filesystem::path(room.site.journal_path).filename(), "elastic.journal");
    room.save({ready(1001)});
    check_eq(room.told(), "ready ready");
    room.config.journal_file = folder / "other";
    check_ok(room.storage.open_journal());
    check_eq(room.site.journal_path, folder / "other");
    room.save({ready(1002)});
    check_eq(Stored::names_in(folder / "other"), "controller");
}

TEST(a_state_that_cannot_be_saved_is_reported_once_and_the_journal_told) {
    const Folder folder, journals;
    Stored room(folder / "");
    room.config.journal_file = journals / "journal";
    check_ok(room.storage.open_journal());
    LogMemory log;
    const std::string moved = journals / "moved";
    std::filesystem::rename(folder / "", moved);
    room.save({ready(1000)});
    room.save({ready(1001)});
    check_eq(log.lines.size(), 1u);
    check_that(log.lines[0].ends_with("; agreements would not survive a restart"));
    // A new file begins with what there is, in place of the first.
    check_eq(Stored::names_in(room.config.journal_file), "controller ready");
    std::filesystem::rename(moved, folder / "");
    (void)log.take();
    room.save({ready(1002)});
    check_eq(log.take(), std::vector<std::string>{"state is saved again"});
}

TEST(a_journal_that_opens_late_is_told_what_there_is) {
    const Folder folder;
    Room room;
    room.config.journal_file = folder / "later/journal";
    StableStorage storage(room.config, room.state, room.site);
    LogMemory log;
    check_that(!storage.open(folder / ""));
    storage.save({ready(1000)}, room.now);
    storage.save({ready(1001)}, room.now);
    check_eq(log.lines.size(), 1u);
    check_that(log.lines[0].ends_with("; events are lost until that works"));
    std::filesystem::create_directory(folder / "later");
    room.add(7);
    storage.save({ready(1002)}, room.now);
    check_eq(Stored::names_in(folder / "later/journal"), "controller submit start");
}
