// SPDX-License-Identifier: MIT
// The name of an abstract socket is one process's, and goes with it: taken from the beginning,
// listened on when it is known that the job is elastic.  Anybody could take the name first, so it
// counts only if it is this user's.
#include "selastic-run/lone_run.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>

#include "common/environment.hpp"
#include "common/time.hpp"
#include "selastic-run/job_step.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kPatience = 10;    // until another one knows whether its job is elastic
constexpr useconds_t kLook = 20'000;  // microseconds

struct Address {
    sockaddr_un name{};
    socklen_t size = 0;
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

// A host may be in several clusters, which may have the same name.
Address address_of(const std::string& job) {
    const std::string cluster = variable("SLURM_CLUSTER_NAME") + ' ' + variable("SLURM_CONF");
    const std::string text =
        fmt::format("selastic-run.{}.{}.{:x}", ::geteuid(), job, std::hash<std::string>{}(cluster));
    Address address;
    address.name.sun_family = AF_UNIX;
    const std::size_t length = std::min(text.size(), sizeof address.name.sun_path - 1);
    std::copy_n(text.begin(), length, address.name.sun_path + 1);
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return address;
}

Fd unix_socket() {
    return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

enum class Holder { nobody, undecided, ours, somebody };

Holder holder_of(const Address& address) {
    const Fd socket = unix_socket();
    if (::connect(socket.get(), address.get(), address.size) != 0)
        return errno == ECONNREFUSED ? Holder::undecided : Holder::nobody;
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    return known && peer.uid == ::geteuid() ? Holder::ours : Holder::somebody;
}

}  // namespace

Result<LoneRun> LoneRun::begin() {
    const std::string job = variable("SLURM_JOB_ID");
    if (job.empty()) return LoneRun(Fd());
    const Address address = address_of(job);
    const Time patient_until = steady_now() + kPatience;
    for (;;) {
        Fd socket = unix_socket();
        if (::bind(socket.get(), address.get(), address.size) == 0)
            return LoneRun(std::move(socket));
        const Holder holder = holder_of(address);
        if (holder == Holder::ours)
            return error("another selastic-run resizes job {}: run one after the other", job);
        if (holder == Holder::somebody || steady_now() >= patient_until) return LoneRun(Fd());
        ::usleep(kLook);
    }
}

void LoneRun::resizes() const {
    if (socket_) ::listen(socket_.get(), SOMAXCONN);
}

}  // namespace elastic::tools
