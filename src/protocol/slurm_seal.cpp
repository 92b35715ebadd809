// SPDX-License-Identifier: MIT
// Credentials by auth/slurm, for clusters without MUNGE.
//
// Each of Slurm's hosts has a daemon that makes tokens for whoever asks at a local socket, and says
// of a token whether it is good ("sack", Slurm's auth and credential kiosk; src/common/sack_api.c
// of Slurm is the reference).  A token says who asked, for which reader, and until when; it is
// signed, not encrypted, and has room for a little text: the digest of the payload, which follows
// the token as it is, and a random number, without which two tokens of a second for the same
// payload would be the same.  What is no such token does not get as far as the kiosk, since Slurm
// logs all that it refuses, and not once a minute.  slurmctld asks its own kiosk, so both ends do
// the same.
//
// Always holds: a payload is handed out only when the kiosk has said that the token is good, the
// token has the payload's digest, and no token was taken twice.
#include <nettle/sha2.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <random>

#include "common/fd.hpp"
#include "common/json.hpp"
#include "common/text.hpp"
#include "protocol/seal.hpp"

namespace elastic::protocol {
namespace {

constexpr std::uint16_t kVersion = 42 << 8;  // of Slurm 24.11; kiosks do not look at it
constexpr std::uint32_t kCreate = 64001, kVerify = 64002;
constexpr std::uint32_t kMaxToken = 16 * 1024;
constexpr timeval kPatience{2, 0};

using Digest = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

std::string digest_of(std::string_view payload) {
    sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, payload.size(), reinterpret_cast<const std::uint8_t*>(payload.data()));
    Digest digest;
    sha256_digest(&context, digest.size(), digest.data());
    return {digest.begin(), digest.end()};
}

std::string random_number() {
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

// Base64 in the alphabet for URLs or in the other one, padded or not.
std::optional<std::string> from_base64(std::string text) try {
    using namespace boost::archive::iterators;
    using Decoded = transform_width<binary_from_base64<std::string::const_iterator>, 8, 6>;
    while (text.ends_with('=')) text.pop_back();
    for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    const std::size_t size = text.size() * 6 / 8;
    text.append((4 - text.size() % 4) % 4, 'A');
    return std::string(Decoded(text.cbegin()), Decoded(text.cend())).substr(0, size);
} catch (const std::exception&) {
    return std::nullopt;
}

// ---- the kiosk

void put(std::string& to, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(number >> shift & 0xff);
}

void put(std::string& to, std::string_view bytes) {
    put(to, static_cast<std::uint32_t>(bytes.size()));
    to += bytes;
}

std::string request(std::uint32_t what, std::string_view body) {
    std::string text{static_cast<char>(kVersion >> 8), static_cast<char>(kVersion & 0xff)};
    put(text, static_cast<std::uint32_t>(8 + body.size()));
    put(text, what);
    return text + std::string(body);
}

// In the order of Slurm, to which `first` is what it knows of the cluster.
std::vector<std::string> kiosks(const std::string& first) {
    if (const char* named = std::getenv("SLURM_SACK_SOCKET"); named && *named) return {named};
    std::vector<std::string> paths{"/run/slurm/sack.socket", kControllerKiosk,
                                   "/run/slurmdbd/sack.socket"};
    std::erase(paths, first);
    if (!first.empty()) paths.insert(paths.begin(), first);
    return paths;
}

Fd connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return Fd();
    }
    path.copy(address.sun_path, path.size());
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fd.reset();
    return fd;
}

bool send_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::optional<std::string> receive(int fd, std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t there = 0; there < size;) {
        const ssize_t got = ::recv(fd, text.data() + there, size - there, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        there += static_cast<std::size_t>(got);
    }
    return text;
}

std::optional<std::uint32_t> receive_number(int fd) {
    const auto bytes = receive(fd, 4);
    if (!bytes) return std::nullopt;
    std::uint32_t number = 0;
    for (const char byte : *bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
    return number;
}

class SlurmSeal : public Seal {
  public:
    explicit SlurmSeal(std::string socket_path) : socket_path_(std::move(socket_path)) {}

    Result<std::string> seal(std::string_view payload, uid_t reader) override {
        std::string body;
        put(body, static_cast<std::uint32_t>(reader));
        put(body, digest_of(payload) + random_number());
        auto kiosk = ask(request(kCreate, body));
        if (!kiosk) return kiosk.error();
        const auto size = receive_number(kiosk->get());
        if (!size || *size < 2 || *size > kMaxToken) return error("auth/slurm: no token was given");
        auto token = receive(kiosk->get(), *size);
        if (!token) return error("auth/slurm: no token was given");
        token->pop_back();  // the end of a C string
        return *token + "\n" + std::string(payload);
    }

    Result<Opened> open(std::string_view credential) override {
        const auto end = credential.find('\n');
        if (end == std::string_view::npos || end > kMaxToken)
            return error("auth/slurm: no token before the message");
        const std::string token(credential.substr(0, end));
        if (token.find('\0') != std::string::npos) return error("auth/slurm: a NUL in the token");
        auto claims = read(token, credential.substr(end + 1));
        if (!claims) return claims.error();
        if (auto good = verify(token); !good) return good.error();
        if (!is_first(*claims)) return error("auth/slurm: the token was taken before");
        return Opened{std::string(credential.substr(end + 1)), claims->uid};
    }

  private:
    struct Claims {
        uid_t uid;
        std::int64_t expires;
        std::string digest;  // of what is signed; a signature can be written in several ways
    };

    Result<Fd> ask(const std::string& text) const {
        std::string why;
        for (const std::string& path : kiosks(socket_path_)) {
            Fd kiosk = connect_to(path);
            if (kiosk && send_all(kiosk.get(), text)) return kiosk;
            why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", path, std::strerror(errno));
        }
        return error("auth/slurm: does slurmd, sackd or slurmctld run here? {}", why);
    }

    Result<void> verify(const std::string& token) const {
        std::string body;
        put(body, std::string_view(token.c_str(), token.size() + 1));
        auto kiosk = ask(request(kVerify, body));
        if (!kiosk) return kiosk.error();
        const auto refused = receive_number(kiosk->get());
        if (!refused || *refused != 0) return error("auth/slurm: Slurm does not take this token");
        return {};
    }

    // Of HEADER.CLAIMS.SIGNATURE.
    static Result<Claims> read(const std::string& token, std::string_view payload) {
        const auto parts = split(token, '.');
        const auto text = parts.size() == 3 ? from_base64(std::string(parts[1])) : std::nullopt;
        const auto claims = text ? Json::parse(*text) : Result<Json>(error("no claims"));
        if (!claims) return error("auth/slurm: the token cannot be read");
        const auto about = from_base64(claims->get_string("payload"));
        if (!about || !about->starts_with(digest_of(payload)))
            return error("auth/slurm: the token is for another message");
        const std::int64_t uid = claims->get_int("uid", -1);
        if (uid < 0 || uid >= kAnyReader) return error("auth/slurm: the token names no user");
        return Claims{static_cast<uid_t>(uid), claims->get_int("exp"), digest_of(parts[1])};
    }

    bool is_first(const Claims& claims) {
        const std::int64_t now = std::time(nullptr);
        std::erase_if(taken_, [now](const auto& one) { return one.second < now; });
        return taken_.emplace(claims.digest, claims.expires).second;
    }

    std::string socket_path_;
    std::map<std::string, std::int64_t> taken_;  // digests, and when their tokens expire
};

}  // namespace

Result<std::unique_ptr<Seal>> slurm_seal(const std::string& socket_path) {
    return std::unique_ptr<Seal>(std::make_unique<SlurmSeal>(socket_path));
}

}  // namespace elastic::protocol
