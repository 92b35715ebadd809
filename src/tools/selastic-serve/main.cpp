// SPDX-License-Identifier: MIT
// `selastic serve`: its command line, and what it is made of.  A program of its own, so that the
// other commands, which scripts start by the thousand, load no HTTP library.
//
// The main thread waits for a signal, one asks the controller, one serves; nothing is to be saved,
// so the end is at once.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "command_parser.hpp"
#include "program.hpp"
#include "protocol/endpoint.hpp"
#include "selastic-serve/http_server.hpp"
#include "selastic-serve/listening.hpp"
#include "selastic-serve/poller.hpp"
#include "selastic-serve/serve_options.hpp"

namespace elastic::tools {
namespace {

constexpr std::size_t kKeptEvents = 20'000;
constexpr std::size_t kKeptBytes = 32u << 20;

// As many descriptors as there may be connections, if the system allows it.
void raise_descriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Another one for each start.
std::string epoch() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return fmt::format("{:x}", std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

sigset_t blocked_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return set;
}

int serve(const ServeOptions& o) {
    // What is wrong with the configuration is better said now than to whoever looks.
    if (const auto endpoint = protocol::find_endpoint(); !endpoint) return fail(endpoint.error());
    auto listener = o.socket.empty() ? listen_at(o.listen) : listen_at_path(o.socket);
    if (!listener) return fail(listener.error());
    const sigset_t signals = blocked_signals();
    raise_descriptors();
    Board board;
    JournalRing ring(epoch(), kKeptEvents, kKeptBytes);
    const auto most = static_cast<unsigned>(o.connections);
    auto server = HttpServer::start({o.names, o.socket.empty(), most}, std::move(listener->socket),
                                    board, ring);
    if (!server) return fail(server.error());
    PollTimes times;
    times.interval = o.interval;
    Poller poller(times, board, ring, [&] { (*server)->tick(); });
    std::thread([&] { poller.run(); }).detach();
    fmt::print("{}\n", listener->url);
    flush();
    int number = 0;
    sigwait(&signals, &number);
    if (!listener->path.empty()) unlink(listener->path.c_str());
    _exit(kExitOk);
}

void add_options(CommandParser app) {
    const auto o = add_serve_options(app);
    app.runs([o] { return serve(*o); });
}

}  // namespace
}  // namespace elastic::tools

int main(int argc, char** argv) {
    using namespace elastic::tools;
    const Program program{"selastic-serve",
                          "Show what elastic jobs do: a live page, metrics for Prometheus, JSON",
                          add_options};
    return run_program(program, argc, argv);
}
