// SPDX-License-Identifier: MIT
// What a node remembers between jobs: whose initialisation it has, what ends that, and that no
// other user can make it up.
#include "node/initialisation.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::node;
using elastic::testing::Folder;

namespace {

Owner owner(std::uint32_t job, std::string type = "gauss") {
    return {::getuid(), std::move(type), "/opt/warm", job};
}

Record taken(const std::string& records, const Owner& for_whom) {
    auto record = Record::take(records, "n1", for_whom);
    check_ok(Result<void>(record ? Result<void>() : Result<void>(record.error())));
    return std::move(*record);
}

void initialise(const std::string& records, const Owner& for_whom) {
    Record record = taken(records, for_whom);
    check_ok(record.set_initialised());
}

bool is_initialised(const std::string& records, const Owner& for_whom) {
    return taken(records, for_whom).is_initialised();
}

}  // namespace

TEST(initialisation_is_shared_by_jobs_of_one_type) {
    Folder folder;
    const std::string records = folder / "records";
    check_that(!is_initialised(records, owner(1)));
    initialise(records, owner(1));
    check_that(is_initialised(records, owner(1)));
    check_that(is_initialised(records, owner(2)));
}

TEST(initialisation_has_a_lock_that_other_users_cannot_take) {
    Folder folder;
    const std::string records = folder / "records";
    initialise(records, owner(1));
    struct stat status {};
    ck_assert_int_eq(::stat((records + "/n1.owner").c_str(), &status), 0);
    check_eq(status.st_mode & 0777, 0600u);
}

TEST(initialisation_that_did_not_succeed_is_done_again) {
    Folder folder;
    const std::string records = folder / "records";
    { Record record = taken(records, owner(1)); }
    check_that(!is_initialised(records, owner(2)));
}

TEST(initialisation_ends_with_another_type_user_or_program) {
    Folder folder;
    const std::string records = folder / "records";
    initialise(records, owner(1));
    check_that(!is_initialised(records, owner(2, "jacobi")));
    check_that(!is_initialised(records, owner(3)));

    initialise(records, owner(4));
    Owner other = owner(5);
    other.program = "/opt/other";
    check_that(!is_initialised(records, other));

    if (::geteuid() != 0) return;  // files of other users are root's to make
    initialise(records, owner(6));
    other = owner(7);
    other.user = 65534;
    check_that(!is_initialised(records, other));
    check_that(!is_initialised(records, owner(8)));
}

TEST(initialisation_ends_with_a_job_that_has_no_type_but_not_with_a_step_of_its_own) {
    Folder folder;
    const std::string records = folder / "records";
    check_ok(forget(records, "n1", 1));
    initialise(records, owner(1));
    check_ok(forget(records, "n1", 1));
    check_that(is_initialised(records, owner(1)));
    check_ok(forget(records, "n1", 2));
    check_that(!is_initialised(records, owner(1)));
}

TEST(initialisation_ends_with_a_boot) {
    Folder folder;
    const std::string records = folder / "records";
    initialise(records, owner(1));
    const std::string path = records + "/n1.owner";
    std::string text = *read_file(path, 10000);
    const std::size_t boot = text.find("\"boot\":\"") + 8;
    text[boot] = text[boot] == '0' ? '1' : '0';
    check_ok(write_file(path, text, Durability::survives_process, 0644));
    check_that(!is_initialised(records, owner(2)));
}

TEST(initialisation_bears_a_record_that_makes_no_sense) {
    Folder folder;
    const std::string records = folder / "records";
    for (const char* text : {"", "{", "[]", "{\"user\":-1}"}) {
        initialise(records, owner(1));
        check_ok(write_file(records + "/n1.owner", text, Durability::survives_process, 0644));
        check_that(!is_initialised(records, owner(2)));
    }
}

TEST(initialisation_refuses_folders_that_others_can_write_to) {
    Folder folder;
    const std::string records = folder / "records";
    ck_assert_int_eq(::mkdir(records.c_str(), 0700), 0);
    ck_assert_int_eq(::chmod(records.c_str(), 0777), 0);
    auto refused = Record::take(records, "n1", owner(1));
    check_that(!refused);
    check_eq(
        refused.error().message,
        fmt::format("{} must be a folder that only user {} can write to", records, ::geteuid()));
    check_that(!Record::take(folder / "no/such", "n1", owner(1)));
}

TEST(initialisation_refuses_names_that_lead_elsewhere) {
    Folder folder;
    for (const char* name : {"", "../n1", "a/b", ".", ".n1"}) {
        check_that(!Record::take(folder / "records", name, owner(1)));
        check_that(!forget(folder / "records", name, 1));
    }
}

TEST(initialisation_follows_no_links) {
    Folder folder;
    const std::string records = folder / "records", victim = folder / "victim";
    ck_assert_int_eq(::mkdir(records.c_str(), 0755), 0);
    check_ok(write_file(victim, "precious", Durability::survives_process, 0644));
    ck_assert_int_eq(::symlink(victim.c_str(), (records + "/n1.owner").c_str()), 0);
    check_that(!Record::take(records, "n1", owner(1)));
    check_that(!forget(records, "n1", 1));
    check_eq(*read_file(victim, 100), "precious");
}

TEST(initialisation_runs_a_program_and_tells_how_it_ended) {
    Folder folder;
    const std::string program = folder / "program";
    const auto run = [&](const std::string& script) {
        check_ok(write_file(program, "#!/bin/sh\n" + script, Durability::survives_process, 0755));
        const std::string where = "WHERE=" + (folder / "seen");
        const char* environment[] = {where.c_str(), nullptr};
        return run_program(program, "n7", environment);
    };
    check_eq(run("echo $ELASTIC_NODE >$WHERE"), 0);
    check_eq(*read_file(folder / "seen", 100), "n7\n");
    check_eq(run("exit 3"), 3);
    check_eq(run("kill -9 $$"), 137);
    check_eq(run_program(folder / "absent", "n7", nullptr), 127);
    ck_assert_int_eq(::chmod(program.c_str(), 0644), 0);
    check_eq(run_program(program, "n7", nullptr), 126);
}
