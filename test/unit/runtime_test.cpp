// SPDX-License-Identifier: MIT
// The parts of libelastic-mpi that need no MPI: which blocks move where, who has which object, what
// a checkpoint says, and the files in shared memory.
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "runtime/balance.hpp"
#include "runtime/channel.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/layout.hpp"
#include "runtime/packing.hpp"
#include "runtime/store.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::runtime;
using namespace elastic::testing;

namespace {

constexpr std::uint64_t kPage = 4096;

// An array in a file for each node, as a program that begins has it.
Array fresh(std::uint64_t element, std::uint64_t count, const std::vector<std::string>& nodes) {
    Array array{"u", element, count, {}};
    const Bounds bounds = even_bounds(count, element, nodes.size(), kPage);
    for (std::size_t r = 0; r < nodes.size(); ++r)
        if (bounds[r] < bounds[r + 1])
            array.extents.push_back(
                {bounds[r], bounds[r + 1], nodes[r], "shm/0." + std::to_string(r), 0});
    return array;
}

std::vector<std::string> some_nodes(std::mt19937& random) {
    std::vector<std::string> nodes{"a", "b", "c", "d", "e"};
    std::ranges::shuffle(nodes, random);
    nodes.resize(1 + random() % nodes.size());
    return block_nodes(nodes, 1 + static_cast<int>(random() % 3));
}

double highest(const std::vector<double>& loads, const std::vector<int>& owners, int processes) {
    std::vector<double> sums(static_cast<std::size_t>(processes), 0);
    for (std::size_t i = 0; i < loads.size(); ++i)
        sums[static_cast<std::size_t>(owners[i])] += loads[i];
    return *std::ranges::max_element(sums);
}

}  // namespace

TEST(blocks_are_even_and_begin_at_pages_where_that_costs_little) {
    const Bounds bounds = even_bounds(1 << 20, 8, 3, kPage);
    for (std::size_t r = 0; r < 3; ++r) check_eq(bounds[r] * 8 % kPage, 0u);
    check_that((even_bounds(10, 8, 4, kPage) == Bounds{0, 2, 5, 7, 10}));
    check_that((even_bounds(2, 8, 4, kPage) == Bounds{0, 0, 1, 1, 2}));
    check_that((even_bounds(0, 8, 2, kPage) == Bounds{0, 0, 0}));
}

TEST(an_array_of_more_elements_than_an_int_has_is_divided) {
    const std::uint64_t count = std::uint64_t{1} << 40;
    const Bounds bounds = even_bounds(count, 8, 7, kPage);
    check_eq(bounds.back(), count);
    for (std::size_t r = 0; r < 7; ++r)
        check_that(bounds[r + 1] - bounds[r] >= count / 7 - 32 * kPage);
}

// Whatever the sizes before and after: each element is in one place, on the node of its block, and
// what stays there in whole pages is not copied.
TEST(after_any_resize_each_block_is_on_its_node) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const std::uint64_t element = 1 + random() % 24, count = random() % 60000;
        Array array = fresh(element, count, some_nodes(random));
        for (int resize = 0; resize < 3; ++resize) {
            const std::vector<std::string> nodes = some_nodes(random);
            const Bounds bounds = even_bounds(count, element, nodes.size(), kPage);
            const auto plan = plan_blocks(array, bounds, nodes, kPage);
            std::vector<std::string> files;
            for (std::size_t r = 0; r < nodes.size(); ++r)
                files.push_back("shm/" + std::to_string(resize + 1) + "." + std::to_string(r));
            array = after(array, plan, files);
            std::uint64_t next = 0;
            for (const Extent& extent : array.extents) {
                check_eq(extent.begin, next);
                check_that(extent.begin < extent.end);
                next = extent.end;
            }
            check_eq(next, count);
            for (std::size_t r = 0; r < nodes.size(); ++r)
                for (const Extent& extent : array.extents)
                    if (std::max(extent.begin, bounds[r]) < std::min(extent.end, bounds[r + 1]))
                        check_eq(extent.node, nodes[r]);
        }
    }
}

TEST(a_resize_to_the_same_nodes_moves_nothing) {
    const std::vector<std::string> nodes{"a", "b"};
    const Array array = fresh(8, 100000, nodes);
    for (const BlockPlan& block :
         plan_blocks(array, even_bounds(100000, 8, 2, kPage), nodes, kPage))
        check_that(!block.needs_file());
}

TEST(greedy_balances_and_refining_moves_few) {
    std::mt19937 random(11);
    std::vector<double> loads(400);
    for (double& load : loads) load = 1 + static_cast<double>(random() % 100);
    const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
    check_that(highest(loads, balance_greedily(loads, 7), 7) < 1.01 * total / 7);

    std::vector<int> owners(loads.size());
    for (std::size_t i = 0; i < owners.size(); ++i) owners[i] = static_cast<int>(i % 8);
    const std::vector<int> refined = balance_by_refining(loads, owners, 7);
    check_that(highest(loads, refined, 7) < 1.06 * total / 7);
    int moved = 0;
    for (std::size_t i = 0; i < owners.size(); ++i) moved += owners[i] != refined[i];
    check_that(moved >= 50 && moved < 100);  // those of the eighth, and few more
}

TEST(heirs_are_on_the_same_node_and_share_what_leaves_none_out) {
    const std::vector<std::string> now{"a", "a", "b", "c", "a"};
    check_that((heirs(now, {"a", "c", "a"}) == std::vector<int>{0, 2, -1, 1, 0}));
}

// A new owner reads its block from the front: object by object, each where its old owner wrote it.
TEST(packed_objects_are_where_their_new_owners_look) {
    std::mt19937 random(17);
    for (int round = 0; round < 300; ++round) {
        const std::vector<std::string> nodes = some_nodes(random);
        const std::size_t processes = 1 + random() % 9, count = random() % 200;
        std::vector<int> owners(count);
        ObjectSet next{std::vector<int>(count), std::vector<std::uint64_t>(count), {}};
        for (std::size_t i = 0; i < count; ++i) {
            owners[i] = static_cast<int>(random() % nodes.size());
            next.owners[i] = static_cast<int>(random() % processes);
            next.sizes[i] = random() % 3 == 0 ? 0 : random() % 100;
        }
        const Packing packing = lay_out_objects(owners, nodes, next, processes, "o");
        check_eq(packing.bounds.size(), processes + 1);
        check_eq(packing.bounds.back(), packing.array.count);
        check_that(packing.array.extents.size() <= count);
        std::vector<std::uint64_t> at = packing.bounds;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t bytes = packed_size(next.sizes[i]);
            std::uint64_t& begin = at[static_cast<std::size_t>(next.owners[i])];
            const auto old = static_cast<std::size_t>(owners[i]);
            check_that(packing.offsets[i] + bytes <= packing.files[old]);
            if (bytes > 0) {
                const auto extent = std::ranges::find_if(
                    packing.array.extents, [&](const Extent& e) { return begin < e.end; });
                check_that(extent != packing.array.extents.end());
                check_that(extent->begin <= begin && begin + bytes <= extent->end);
                check_eq(extent->node, nodes[old]);
                check_eq(extent->file, "shm/o." + std::to_string(old));
                check_eq(extent->offset + (begin - extent->begin), packing.offsets[i]);
            }
            begin += bytes;
        }
        for (std::size_t r = 0; r < processes; ++r) check_eq(at[r], packing.bounds[r + 1]);
    }
}

TEST(objects_without_load_and_processes_without_objects_are_balanced) {
    check_that((balance_greedily({}, 3).empty()));
    check_that((balance_by_refining({0, 0, 0}, {2, 2, 2}, 3) == std::vector<int>{2, 2, 2}));
    const std::vector<int> owners = balance_by_refining({5}, {-1}, 4);
    check_that(owners.size() == 1 && owners[0] >= 0 && owners[0] < 4);
}

TEST(a_checkpoint_is_read_as_it_was_written) {
    Checkpoint checkpoint{
        3, {fresh(8, 1000, {"a", "b"})}, {{"step", "0a00"}}, {{1, 0}, {16, 32}, {}}};
    checkpoint.objects.bounds = {0, 32, 48};
    const auto read = read_checkpoint(write_checkpoint(checkpoint));
    check_that(read && read->generation == 3 &&
               read->arrays[0].extents == checkpoint.arrays[0].extents);
    check_that(read->values[0].hexadecimal == "0a00" &&
               read->objects.owners == std::vector<int>({1, 0}));
    check_that(!read_checkpoint("") && !read_checkpoint("{}") && !read_checkpoint("[1"));
    const int number = 258;
    int copy = 0;
    check_that(from_hexadecimal(to_hexadecimal(&number, sizeof number), &copy, sizeof copy));
    check_eq(copy, number);
    check_that(!from_hexadecimal("00", &copy, sizeof copy));
}

TEST(a_meeting_is_read_as_it_was_written) {
    const Meeting meeting{4711, random_name(), random_name(), 2, 1};
    const auto read = parse_meeting(to_string(meeting));
    check_that(read && read->port == 4711 && read->id == meeting.id &&
               read->secret == meeting.secret);
    check_that(read->generation == 2 && read->attempt == 1);
    const Meeting of_job{4711, "12-" + random_name(), random_name(), 2, 1};
    check_that(parse_meeting(to_string(of_job))->id == of_job.id);
    for (const char* text : {"", "1", "x:a:b:0:0", "70000:a:b:0:0", "1:a:b:0", "1:../x:b:0:0"})
        check_that(!parse_meeting(text));
}

TEST(what_a_program_asks_for_is_heard_in_its_order) {
    int ends[2];
    check_eq(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    Channel program{Fd(ends[0])}, launcher{Fd(ends[1])};
    for (const int change : {4, -1'000'000, 0}) {
        Message message{.word = Verb::request};
        message.change = change;
        program.send(message);
    }
    for (const int change : {4, -1'000'000, 0}) {
        const auto heard = launcher.receive(kNever);
        check_that(heard && heard->word == Verb::request && heard->change == change);
    }
    check_that(!launcher.receive(0) && launcher.open());
    Message answer{.word = Verb::answered};
    answer.reason = "job 7 is not evolving: submit it with --elastic=evolving to ask for nodes";
    launcher.send(answer);
    const auto heard = program.receive(kNever);
    check_that(heard && heard->word == Verb::answered && heard->reason == answer.reason);
    Message absurd{.word = Verb::request};
    absurd.change = 1'000'001;
    program.send(absurd);
    check_that(!launcher.receive(kNever) && !launcher.open());
}

TEST(files_are_their_owner_s_alone_and_go) {
    const std::string id = random_name();
    auto store = Store::open(id, "/tmp");
    check_that(static_cast<bool>(store));
    struct stat found {};
    check_that(::stat(store_folder("", id).c_str(), &found) == 0 && (found.st_mode & 077) == 0);
    const auto file = store->create("0.0", 3 * kPage, {{0, 3 * kPage}});
    check_that(static_cast<bool>(file));
    check_that(!store->create("0.0", kPage, {}));  // there is one
    const Array array{"u", 1, 2 * kPage, {{0, 2 * kPage, "a", *file, kPage}}};
    {
        const auto mapping = store->map(array, 0, 2 * kPage, "a");
        check_that(static_cast<bool>(mapping));
        mapping->data()[2 * kPage - 1] = std::byte{7};
    }
    check_that(!store->map(array, 0, 2 * kPage, "b"));  // it is elsewhere
    check_that(store->write_text("note", "text") && store->has("note"));
    check_eq(*store->read_text("note"), "text");
    store->keep_only({}, "a", {});
    check_that(!store->has("note") && !store->open_file(*file));
    store->remove();
    check_that(::stat(store_folder("", id).c_str(), &found) != 0);
}

TEST(a_run_s_id_has_the_job_s_and_nothing_else_before_it) {
    const std::string name = random_name();
    ::setenv("SLURM_JOB_ID", "12", 1);
    check_that(new_run_id().starts_with("12-") && is_run_id(new_run_id()));
    ::unsetenv("SLURM_JOB_ID");
    check_that(new_run_id().size() == name.size() && is_run_id(new_run_id()));
    for (const std::string& text : {"-" + name, "a-" + name, "1-2-" + name, "../" + name,
                                    name + "0", std::string("12-"), std::string()})
        check_that(!is_run_id(text));
}

TEST(leftovers_of_a_job_go_but_nothing_else) {
    const Folder made;
    const std::string place = made / "", other = place + "other";
    const auto folder = [&](const std::string& id) { return store_folder(place, id); };
    const auto is_there = [](const std::string& path) {
        struct stat found {};
        return ::lstat(path.c_str(), &found) == 0;
    };
    const std::string mine = "12-" + random_name(), held = "12-" + random_name(),
                      longer = "123-" + random_name(), link = "12-" + random_name();
    for (const std::string& id : {mine, longer})
        check_that(static_cast<bool>(Store::open(id, place)));
    const auto store = Store::open(held, place);
    for (const std::string& file : {folder(mine) + "/file", other})
        check_that(write_file(file, "text", Durability::survives_process));
    check_eq(::symlink(folder(longer).c_str(), folder(link).c_str()), 0);
    check_eq(::symlink(other.c_str(), (folder(mine) + "/link").c_str()), 0);
    check_eq(::mkdir(folder("12-name").c_str(), 0700), 0);

    remove_leftovers(place, 12, ::geteuid() + 1);
    check_that(is_there(folder(mine)));
    remove_leftovers(place, 12, ::geteuid());
    check_that(!is_there(folder(mine)));
    for (const std::string& id : {held, longer, link, std::string("12-name")})
        check_that(is_there(folder(id)));
    check_that(is_there(other));
    for (const std::string& id : {mine, held, longer}) ::rmdir(store_folder("", id).c_str());
}

TEST(a_folder_of_somebody_else_s_is_refused) {
    const std::string id = random_name();
    check_eq(::mkdir(store_folder("", id).c_str(), 0755), 0);
    check_that(!Store::open(id, "/tmp"));
    ::rmdir(store_folder("", id).c_str());
}
