// SPDX-License-Identifier: MIT
// What a controller goes by whose elastic.conf has become wrong.
#include "controller/kept_config.hpp"

#include <filesystem>

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "log_memory.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

void write(const std::string& path, std::string_view text) {
    check_ok(write_file(path, text, Durability::survives_process));
}

// As a controller does that goes by it.
void keep(const Folder& folder, std::string_view text) {
    write(folder / "elastic.conf", text);
    KeptConfig config;
    check_ok(config.read(folder / "elastic.conf"));
    config.keep(folder / "");
}

}  // namespace

TEST(what_was_in_force_is_there_when_the_file_has_become_wrong) {
    const Folder folder;
    keep(folder, "GraceTime=7\n");
    write(folder / "elastic.conf", "GraceTime=soon\n");
    KeptConfig after;
    check_that(!after.read(folder / "elastic.conf"));
    const auto kept = KeptConfig::kept(folder / "");
    check_ok(kept);
    check_eq(kept->grace_time, 7.0);
}

TEST(what_is_wrong_is_not_kept) {
    const Folder folder;
    const std::string path = folder / "elastic.conf";
    KeptConfig config;
    write(path, "GraceTime=7\n");
    check_ok(config.read(path));
    config.keep(folder / "");
    write(path, "Colour=red\n");
    check_that(!config.read(path));
    config.keep(folder / "");
    check_ok(KeptConfig::kept(folder / ""));
}

TEST(an_empty_file_takes_the_place_of_what_was_in_force) {
    const Folder folder;
    keep(folder, "GraceTime=7\n");
    keep(folder, "");
    check_eq(KeptConfig::kept(folder / "")->grace_time, core::Config().grace_time);
}

TEST(where_none_was_in_force_there_is_none) {
    const Folder folder;
    check_that(!KeptConfig::kept(folder / ""));
}

TEST(a_copy_that_cannot_be_written_is_reported) {
    const Folder folder;
    write(folder / "elastic.conf", "GraceTime=7\n");
    KeptConfig config;
    check_ok(config.read(folder / "elastic.conf"));
    LogMemory log;
    config.keep(folder / "absent");
    check_eq(log.lines.size(), 1u);
    check_that(log.lines[0].ends_with(
        "; a reconfiguration with a wrong elastic.conf would end slurmctld"));
}
