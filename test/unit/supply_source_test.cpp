// SPDX-License-Identifier: MIT
// The thread that looks after prices and caps: when it tells of changes, and how it is stopped and
// reconfigured.
#include "controller/supply_source.hpp"

#include <sys/stat.h>

#include <condition_variable>
#include <mutex>

#include "common/atomic_file.hpp"
#include "folder.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using elastic::testing::Folder;

namespace {

// A source that looks again and again, and how often it has woken somebody.
class Watched {
  public:
    explicit Watched(const std::string& file) {
        config.supply_file = file;
        config.supply_interval = 0.01;
        source.configure(config);
    }

    core::Supply next() {
        for (;;) {
            if (auto news = source.take()) return *news;
            std::unique_lock guard(mutex_);
            woken_.wait(guard, [this] { return wakes_ > 0; });
            --wakes_;
        }
    }
    void wait_until_ready() {
        std::unique_lock guard(mutex_);
        woken_.wait(guard, [this] { return source.is_ready(); });
    }

    core::Config config;

  private:
    std::mutex mutex_;
    std::condition_variable woken_;
    int wakes_ = 0;

  public:
    SupplySource source{[this] {
        std::lock_guard guard(mutex_);
        ++wakes_;
        woken_.notify_one();
    }};
};

void write(const std::string& path, std::string_view text) {
    check_ok(write_file(path, text, Durability::survives_process));
}

}  // namespace

TEST(a_source_says_what_has_changed_and_nothing_else) {
    const Folder folder;
    write(folder / "supply", "a price=1\n");
    Watched watched(folder / "supply");
    check_eq(*watched.next().changes[0].price, 1);
    write(folder / "supply", "a price=2\n");
    check_eq(*watched.next().changes[0].price, 2);
    write(folder / "supply", "nonsense\n");
    write(folder / "supply", "a price=3\n");
    check_eq(*watched.next().changes[0].price, 3);
}

TEST(a_source_that_cannot_be_read_has_been_tried) {
    const Folder folder;
    Watched watched(folder / "absent");
    watched.wait_until_ready();
    check_that(!watched.source.take());
    check_that(watched.source.complaint().find(folder / "absent") != std::string::npos);
    write(folder / "absent", "a cap=1\n");
    check_eq(watched.next().sets[0], "a");
    check_eq(watched.source.complaint(), "");
}

TEST(who_stops_does_not_wait_for_a_command) {
    const Folder folder;
    write(folder / "program", "#!/bin/sh\nexec sleep 600\n");
    check_eq(::chmod((folder / "program").c_str(), 0700), 0);
    core::Config config;
    config.supply_command = folder / "program";
    config.supply_timeout = 300;
    SupplySource source([] {});
    source.configure(config);
    const auto begin = std::chrono::steady_clock::now();
    source.stop();
    check_that(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

TEST(where_nothing_is_named_any_more_nothing_is_in_force) {
    const Folder folder;
    write(folder / "supply", "a price=1\n");
    Watched watched(folder / "supply");
    check_eq(watched.next().sets.size(), 1U);
    watched.source.configure(core::Config{});
    check_that(watched.source.is_ready());
    check_that(watched.next().sets.empty());
}
