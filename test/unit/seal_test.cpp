// SPDX-License-Identifier: MIT
// Seals by a munged of the test's own: key, socket and daemon live in a folder that is removed at
// the end.  Without munged on the machine there is nothing to test.
#include "protocol/seal.hpp"

#include <munge.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "seal_check.hpp"

namespace elastic::protocol {
namespace {

namespace fs = std::filesystem;

// A munged that ends with the test, however that ends.
class Munged {
  public:
    Munged() {
        std::string name = "/tmp/elastic-munge-XXXXXX";
        ck_assert_ptr_nonnull(mkdtemp(name.data()));
        folder_ = name;
        chmod(name.c_str(), 0755);  // munged wants everybody to reach the socket
        std::ofstream(folder_ / "key") << std::string(128, 'k');
        chmod((folder_ / "key").c_str(), 0600);
        start();
    }
    ~Munged() {
        stop();
        fs::remove_all(folder_);
    }

    static std::string program() {
        for (const char* path : {"/usr/sbin/munged", "/usr/local/sbin/munged", "/sbin/munged"})
            if (access(path, X_OK) == 0) return path;
        return {};
    }

    void start() {
        const std::vector<std::string> options = {
            program(),
            "--foreground",
            "--socket=" + socket(),
            "--key-file=" + (folder_ / "key").string(),
            "--pid-file=" + (folder_ / "pid").string(),
            "--log-file=" + (folder_ / "log").string(),
            "--seed-file=" + (folder_ / "seed").string(),
        };
        daemon_ = fork();
        if (daemon_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            // Its log has the same lines.
            if (!freopen("/dev/null", "w", stderr)) _exit(126);
            std::vector<char*> arguments;
            for (const auto& option : options)
                arguments.push_back(const_cast<char*>(option.c_str()));
            arguments.push_back(nullptr);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        await();
    }

    void stop() {
        if (daemon_ <= 0) return;
        kill(daemon_, SIGTERM);
        waitpid(std::exchange(daemon_, 0), nullptr, 0);
    }

    std::string socket() const { return (folder_ / "socket").string(); }
    std::unique_ptr<Seal> seal(int lifetime = kSealLifetime) const {
        auto made = munge_seal(socket(), lifetime);
        check_that(made);
        return std::move(*made);
    }

  private:
    // Until it answers, or has ended.
    void await() const {
        const auto probe = seal();
        while (!probe->seal("", kAnyReader))
            ck_assert_msg(waitpid(daemon_, nullptr, WNOHANG) == 0, "munged does not start");
    }

    fs::path folder_;
    pid_t daemon_ = 0;
};

bool skipped() {
    if (!Munged::program().empty()) return false;
    fmt::print("skipped: munged is not installed\n");
    return true;
}

TEST(what_is_sealed_opens_once) {
    if (skipped()) return;
    const Munged munged;
    testing::check_opens_once(*munged.seal(), *munged.seal(), "munge: Replayed credential");
}

TEST(only_the_reader_opens_it) {
    if (skipped()) return;
    const Munged munged;
    const auto seal = munged.seal();
    const auto credential = seal->seal("secret", geteuid() + 1);
    check_ok(credential);
    check_that(!seal->open(*credential));
    check_ok(seal->open(*seal->seal("open to all", kAnyReader)));
}

TEST(opening_does_not_change_how_one_seals) {
    if (skipped()) return;
    const Munged munged;
    const auto ours = munged.seal(), theirs = munged.seal(1);
    check_ok(ours->open(*theirs->seal("short-lived", geteuid())));
    const auto credential = ours->seal("long-lived", geteuid());
    munge_ctx_t context = munge_ctx_create();
    munge_ctx_set(context, MUNGE_OPT_SOCKET, munged.socket().c_str());
    check_eq(munge_decode(credential->c_str(), context, nullptr, nullptr, nullptr, nullptr),
             EMUNGE_SUCCESS);
    int lifetime = 0;
    munge_ctx_get(context, MUNGE_OPT_TTL, &lifetime);
    munge_ctx_destroy(context);
    check_eq(lifetime, kSealLifetime);
}

TEST(forged_and_damaged_ones_are_refused) {
    if (skipped()) return;
    const Munged munged;
    const auto seal = munged.seal();
    auto credential = *seal->seal("pay", geteuid());
    check_that(!seal->open("MUNGE:garbage:"));
    check_that(!seal->open(""));
    check_error(seal->open(credential + std::string("\0tail", 5)),
                "munge: a NUL in the credential");
    credential[credential.size() / 2] ^= 1;
    check_that(!seal->open(credential));
}

TEST(without_munged_it_fails_in_bounded_time) {
    alarm(20);
    const auto seal = munge_seal("/nonexistent/socket");
    check_that(seal);
    const auto credential = (*seal)->seal("pay", geteuid());
    check_that(!credential);
    check_that(credential.error().message.find("/nonexistent/socket") != std::string::npos);
    check_that(credential.error().message.ends_with("; does munged run on this host?"));
}

TEST(it_goes_on_with_a_munged_started_anew) {
    if (skipped()) return;
    Munged munged;
    const auto seal = munged.seal();
    check_ok(seal->seal("before", geteuid()));
    munged.stop();
    munged.start();
    check_ok(seal->seal("after", geteuid()));
}

}  // namespace
}  // namespace elastic::protocol
