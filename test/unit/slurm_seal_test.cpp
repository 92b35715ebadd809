// SPDX-License-Identifier: MIT
// Seals by tokens of auth/slurm, of a kiosk that the test plays: it signs what is the same with the
// same number, as Slurm's does, and knows which tokens it gave out.
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "common/fd.hpp"
#include "folder.hpp"
#include "protocol/seal.hpp"
#include "seal_check.hpp"

namespace elastic::protocol {
namespace {

using elastic::testing::Folder;

std::string base64(const std::string& bytes) {
    using namespace boost::archive::iterators;
    using Encoded = base64_from_binary<transform_width<std::string::const_iterator, 6, 8>>;
    std::string text(Encoded(bytes.cbegin()), Encoded(bytes.cend()));
    return text.append((4 - text.size() % 4) % 4, '=');
}

std::string for_urls(std::string text) {
    while (text.ends_with('=')) text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

std::uint32_t number_at(const std::string& text, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = at; i < at + 4; ++i)
        number = number << 8 | static_cast<std::uint8_t>(text.at(i));
    return number;
}

std::string as_bytes(std::uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
    return bytes;
}

class Kiosk {
  public:
    Kiosk() : listener_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket().copy(address.sun_path, sizeof address.sun_path - 1);
        ck_assert_int_eq(
            ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        ck_assert_int_eq(::listen(listener_.get(), 8), 0);
        thread_ = std::thread([this] { serve(); });
    }
    ~Kiosk() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
    }

    std::string socket() const { return folder_ / "socket"; }
    std::unique_ptr<Seal> seal() const { return *slurm_seal(socket()); }
    void take(const std::string& token, std::uint32_t reader = kAnyReader) {
        const std::lock_guard lock(mutex_);
        readers_[token] = reader;
    }
    // A token that the kiosk says is good, whatever it says.
    std::string give(const std::string& claims, std::uint32_t reader = kAnyReader) {
        const std::string token = for_urls(base64(R"({"alg":"HS256"})")) + "." +
                                  for_urls(base64(claims)) + "." +
                                  std::to_string(std::hash<std::string>()(claims));
        take(token, reader);
        return token;
    }

  private:
    void serve() {
        while (const Fd peer{::accept(listener_.get(), nullptr, nullptr)}) {
            std::string text(4096, '\0');
            const auto size = ::recv(peer.get(), text.data(), text.size(), 0);
            if (size < 14) continue;
            text.resize(static_cast<std::size_t>(size));
            ck_assert_uint_eq(number_at(text, 2), text.size() - 2);
            const std::string answer = number_at(text, 6) == 64001 ? created(text) : verified(text);
            ck_assert_int_eq(::send(peer.get(), answer.data(), answer.size(), 0),
                             static_cast<ssize_t>(answer.size()));
        }
    }
    std::string created(const std::string& text) {
        const std::string claims =
            fmt::format(R"({{"uid":{},"exp":{},"payload":"{}"}})", geteuid(), time(nullptr) + 60,
                        base64(text.substr(18, number_at(text, 14))));
        const std::string token = give(claims, number_at(text, 10));
        return as_bytes(static_cast<std::uint32_t>(token.size() + 1)) + token + '\0';
    }
    std::string verified(const std::string& text) {
        const std::lock_guard lock(mutex_);
        const auto found = readers_.find(text.substr(14, number_at(text, 10) - 1));
        const bool good =
            found != readers_.end() && (found->second == kAnyReader || found->second == geteuid());
        return as_bytes(good ? 0 : 1);
    }

    Folder folder_;
    Fd listener_;
    std::mutex mutex_;
    std::map<std::string, std::uint32_t> readers_;  // by token
    std::thread thread_;
};

TEST(what_slurm_has_sealed_opens_once) {
    const Kiosk kiosk;
    testing::check_opens_once(*kiosk.seal(), *kiosk.seal(),
                              "auth/slurm: the token was taken before");
}

TEST(two_tokens_of_a_second_are_two) {
    const Kiosk kiosk;
    const auto seal = kiosk.seal();
    for (int i = 0; i < 2; ++i) check_ok(seal->open(*seal->seal("once more", kAnyReader)));
}

TEST(a_signature_that_is_written_otherwise_makes_no_other_token) {
    Kiosk kiosk;
    const auto seal = kiosk.seal();
    const auto credential = *seal->seal("pay", kAnyReader);
    const auto end = credential.find('\n');
    const auto otherwise = credential.substr(0, end) + "=";
    kiosk.take(otherwise);
    check_ok(seal->open(credential));
    check_error(seal->open(otherwise + credential.substr(end)),
                "auth/slurm: the token was taken before");
}

TEST(payloads_of_all_lengths_come_through) {
    const Kiosk kiosk;
    const auto seal = kiosk.seal();
    for (const std::size_t size : {0u, 1u, 2u, 3u, 60'000u}) {
        const std::string payload(size, 'x');
        const auto opened = seal->open(*seal->seal(payload, kAnyReader));
        check_ok(opened);
        check_eq(opened->payload.size(), size);
    }
}

TEST(only_the_reader_opens_what_slurm_has_sealed) {
    const Kiosk kiosk;
    const auto seal = kiosk.seal();
    check_error(seal->open(*seal->seal("secret", geteuid() + 1)),
                "auth/slurm: Slurm does not take this token");
}

TEST(a_token_is_for_one_message) {
    const Kiosk kiosk;
    const auto seal = kiosk.seal();
    const auto credential = *seal->seal("shrink", kAnyReader);
    check_error(seal->open(credential.substr(0, credential.find('\n')) + "\nexpand"),
                "auth/slurm: the token is for another message");
}

TEST(tokens_that_are_none_are_refused) {
    Kiosk kiosk;
    const auto seal = kiosk.seal();
    check_error(seal->open(""), "auth/slurm: no token before the message");
    check_error(seal->open("a.b.c\npay"), "auth/slurm: the token cannot be read");
    check_error(seal->open(std::string("a\0b\npay", 7)), "auth/slurm: a NUL in the token");
    check_error(seal->open(kiosk.give("{") + "\npay"), "auth/slurm: the token cannot be read");
    check_error(seal->open(kiosk.give("{}") + "\npay"),
                "auth/slurm: the token is for another message");
}

TEST(without_a_kiosk_the_sockets_are_named) {
    const auto seal = *slurm_seal("/nonexistent/socket");
    setenv("SLURM_SACK_SOCKET", "/nonexistent/other", 1);
    check_error(seal->seal("pay", kAnyReader),
                "auth/slurm: does slurmd, sackd or slurmctld run here? /nonexistent/other: "
                "No such file or directory");
}

TEST(what_the_environment_names_is_asked_alone) {
    const Kiosk kiosk;
    const auto seal = *slurm_seal("/nonexistent/socket");
    setenv("SLURM_SACK_SOCKET", kiosk.socket().c_str(), 1);
    check_ok(seal->open(*seal->seal("pay", geteuid())));
}

TEST(slurm_conf_says_how) {
    using By = Authentication::By;
    check_that(
        (authentication_of("auth/slurm", "ttl=60", "/k") == Authentication{By::slurm, "/k"}));
    check_that(authentication_of("slurm", "", "/k").by == By::slurm);  // Slurm takes it so, too
    check_that(authentication_of("auth/munge", "", "/k") == Authentication{});
    check_that(authentication_of("", "", "/k").by == By::munge);
}

}  // namespace
}  // namespace elastic::protocol
