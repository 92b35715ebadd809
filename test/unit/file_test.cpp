// SPDX-License-Identifier: MIT
// Files that are replaced as a whole, settings one a line, and the values that are looked up in a
// slurm.conf.
#include <sys/stat.h>

#include <filesystem>

#include "common/atomic_file.hpp"
#include "common/config_file.hpp"
#include "folder.hpp"
#include "testing.hpp"

using namespace elastic;
using elastic::testing::Folder;
namespace fs = std::filesystem;

TEST(file_is_replaced_as_a_whole) {
    Folder folder;
    std::string path = folder / "state";
    for (std::string content : {"first", "", "third\n"}) {
        check_ok(write_file(path, content, Durability::survives_power, 0640));
        check_eq(*read_file(path, 100), content);
    }
    struct stat status {};
    check_eq(stat(path.c_str(), &status), 0);
    check_eq(status.st_mode & 07777, 0640u);
    check_eq(folder.entries(), 1);
}

TEST(file_behind_symbolic_links_is_replaced) {
    Folder folder;
    fs::create_directory(folder / "there");
    fs::create_symlink("there/second", folder / "first");
    fs::create_symlink(folder / "data", folder / "there/second");
    for (const char* content : {"new", "replaced"}) {
        check_ok(write_file(folder / "first", content, Durability::survives_process));
        check_eq(*read_file(folder / "data", 100), content);
    }
    check_that(fs::is_symlink(folder / "first") && fs::is_symlink(folder / "there/second"));
    check_eq(folder.entries(), 3);
}

TEST(file_that_is_special_is_written_to) {
    Folder folder;
    fs::create_symlink("/dev/full", folder / "full");
    const std::string message = "cannot write " + (folder / "full") + ": No space left on device";
    check_error(write_file(folder / "full", "x", Durability::survives_process), message.c_str());
    check_that(fs::is_character_file("/dev/full"));
    check_eq(folder.entries(), 1);
}

TEST(file_has_what_the_umask_leaves_of_its_mode) {
    Folder folder;
    const mode_t before = umask(027);
    check_ok(write_file(folder / "data", "x", Durability::survives_process, kForEverybody));
    umask(before);
    struct stat status {};
    check_eq(stat((folder / "data").c_str(), &status), 0);
    check_eq(status.st_mode & 07777, 0640u);
}

TEST(file_that_cannot_be_written_leaves_nothing_behind) {
    Folder folder;
    std::string path = folder / "is-a-folder";
    fs::create_directory(path);
    std::string message = "cannot write " + path + ": Is a directory";
    check_error(write_file(path, "x", Durability::survives_process), message.c_str());
    check_eq(folder.entries(), 1);
    path = folder / "absent/file";
    message = "cannot create a file beside " + path + ": No such file or directory";
    check_error(write_file(path, "x", Durability::survives_process), message.c_str());
}

TEST(file_is_read_up_to_its_limit) {
    Folder folder;
    std::string path = folder / "data";
    check_ok(write_file(path, std::string(1000, 'x'), Durability::survives_process));
    check_eq(read_file(path, 1000)->size(), 1000u);
    std::string message = "cannot read " + path + ": larger than 999 bytes";
    check_error(read_file(path, 999), message.c_str());
    // Files of /proc say that they are empty.
    check_that(!read_file("/proc/self/status", 1u << 20)->empty());
}

TEST(file_that_is_absent_or_special) {
    Folder folder;
    std::string path = folder / "absent";
    check_that(!*read_file_if_there(path, 10));
    std::string message = "cannot read " + path + ": No such file or directory";
    check_error(read_file(path, 10), message.c_str());
    path = folder / "fifo";
    check_eq(mkfifo(path.c_str(), 0600), 0);
    message = "cannot read " + path + ": not a regular file";
    check_error(read_file(path, 10), message.c_str());
}

TEST(settings_one_a_line) {
    auto settings = *parse_settings("# c\n\n A = 1 \r\nb2=x y # c\n", "f");
    check_eq(settings.size(), 2u);
    check_eq(settings[0].key, "A");
    check_eq(settings[0].value, "1");
    check_eq(settings[0].line, 3);
    check_eq(settings[1].value, "x y");
    check_that(parse_settings("", "f")->empty());
}

TEST(settings_errors_name_file_and_line) {
    check_error(parse_settings("\nfoo", "e.conf"), "e.conf:2: 'foo' is not of the form Key=Value");
    check_error(parse_settings("=1", "f"), "f:1: '' is not a key");
    check_error(parse_settings("a b=1", "f"), "f:1: 'a b' is not a key");
    check_error(parse_settings("a=", "f"), "f:1: a has no value");
    check_error(parse_settings("a= # 1", "f"), "f:1: a has no value");
    check_error(parse_settings("Ab=1\naB=2", "f"), "f:2: aB is set twice");
    check_error(parse_settings("a=\x1b[0m", "f"), "f:1: control character in line");
    check_error(parse_settings(std::string_view("a=1\0", 4), "f"),
                "f:1: control character in line");
    check_error(parse_settings(std::string(4097, 'a'), "f"), "f:1: line longer than 4096 bytes");
    check_error(parse_settings(std::string(kMaxConfigFile + 1, '\n'), "f"),
                "f: larger than 1048576 bytes");
}

TEST(slurm_conf_values_are_found_leniently) {
    using Values = std::vector<std::string>;
    constexpr std::string_view kText =
        "ClusterName=c SlurmUser=slurm  AuthInfo = socket=/run/m,ttl=3 # SlurmUser=x\n"
        "SlurmctldHost=a(10.0.0.1)\r\n"
        "slurmctldhost=b\n"
        "Epilog=\"/a b\" Port=1\n"
        "NodeName=n[1-4] Port=7\n"
        "some rubbish\n=\n\"\n"
        "Open=\"no end";
    check_eq(slurm_conf_values(kText, "SlurmctldHost"), (Values{"a(10.0.0.1)", "b"}));
    check_eq(slurm_conf_values(kText, "slurmuser"), Values{"slurm"});
    check_eq(slurm_conf_values(kText, "AuthInfo"), Values{"socket=/run/m,ttl=3"});
    check_eq(slurm_conf_values(kText, "Epilog"), Values{"/a b"});
    check_eq(slurm_conf_values(kText, "Port"), Values{"1"});
    check_eq(slurm_conf_values(kText, "NodeName"), Values{"n[1-4]"});
    check_eq(slurm_conf_values(kText, "Open"), Values{"no end"});
    check_that(slurm_conf_values(kText, "Absent").empty());
}
