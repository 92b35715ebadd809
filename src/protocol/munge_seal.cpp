// SPDX-License-Identifier: MIT
// Credentials by MUNGE, which every Slurm cluster has already.
//
// MUNGE says who sealed a credential, lets only the named user open it, and opens each one once on
// a host within its lifetime.  That a credential opened on one host cannot be sent again to another
// is the session's and sequence's part (doc/protocol.md, "Security").
//
// Always holds: a payload is handed out only after munge_decode reported success; libmunge also
// returns the payload of expired and replayed credentials, which is dropped here.
#include "protocol/seal.hpp"

#include <munge.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace elastic::protocol {
namespace {

// While munged restarts its socket is missing or refuses for a moment.
constexpr int kAttempts = 4;
constexpr std::chrono::milliseconds kPause{40};

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

struct Destroy {
    void operator()(munge_ctx_t context) const { munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<munge_ctx, Destroy>;

// munge_ctx_strerror names the socket, munge_strerror only the kind of error.
Error refusal(munge_ctx_t context, munge_err_t status) {
    const char* detail = munge_ctx_strerror(context);
    return error("munge: {}{}", detail ? detail : munge_strerror(status),
                 status == EMUNGE_SOCKET ? "; does munged run on this host?" : "");
}

// libmunge writes to munged's socket without MSG_NOSIGNAL.  Were munged to end just then, the
// application would die of it: SIGPIPE is held back, and taken off if it came of this.
class NoPipeSignal {
  public:
    NoPipeSignal() {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~NoPipeSignal() {
        const timespec at_once{};
        if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    NoPipeSignal(const NoPipeSignal&) = delete;
    NoPipeSignal& operator=(const NoPipeSignal&) = delete;

  private:
    sigset_t pipe_{}, before_{};
    bool was_pending_ = false;
};

template <class Call>
munge_err_t retried(Call call) {
    const NoPipeSignal quiet;
    munge_err_t status = call();
    for (int attempt = 1; status == EMUNGE_SOCKET && attempt < kAttempts; ++attempt) {
        std::this_thread::sleep_for(kPause);
        status = call();
    }
    return status;
}

// Two contexts, because munge_decode fills its context with the opened credential's options:
// lifetime and reader of the next one sealed would be the peer's choice.
class MungeSeal : public Seal {
  public:
    MungeSeal(Context sealing, Context opening)
        : sealing_(std::move(sealing)), opening_(std::move(opening)) {}

    Result<std::string> seal(std::string_view payload, uid_t reader) override {
        auto status = munge_ctx_set(sealing_.get(), MUNGE_OPT_UID_RESTRICTION, reader);
        if (status != EMUNGE_SUCCESS) return refusal(sealing_.get(), status);
        char* text = nullptr;
        status = retried([&] {
            return munge_encode(&text, sealing_.get(), payload.data(),
                                static_cast<int>(payload.size()));
        });
        const std::unique_ptr<char, Free> credential(text);
        if (status != EMUNGE_SUCCESS) return refusal(sealing_.get(), status);
        return std::string(credential.get());
    }

    Result<Opened> open(std::string_view credential) override {
        const std::string text(credential);
        // libmunge reads up to the first NUL; what hides behind it would go unnoticed.
        if (text.find('\0') != std::string::npos) return error("munge: a NUL in the credential");
        void* data = nullptr;
        int size = 0;
        uid_t uid = kAnyReader;
        gid_t gid = 0;
        const auto status = retried([&] {
            std::free(std::exchange(data, nullptr));
            return munge_decode(text.c_str(), opening_.get(), &data, &size, &uid, &gid);
        });
        const std::unique_ptr<void, Free> payload(data);
        if (status != EMUNGE_SUCCESS) return refusal(opening_.get(), status);
        return Opened{std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)),
                      uid};
    }

  private:
    Context sealing_;
    Context opening_;
};

Result<Context> make_context(const std::string& socket_path) {
    Context context(munge_ctx_create());
    if (!context) return error("munge: out of memory");
    if (socket_path.empty()) return context;
    const auto status = munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket_path.c_str());
    if (status != EMUNGE_SUCCESS) return refusal(context.get(), status);
    return context;
}

}  // namespace

Result<std::unique_ptr<Seal>> munge_seal(const std::string& socket_path, int lifetime) {
    auto sealing = make_context(socket_path);
    if (!sealing) return sealing.error();
    auto opening = make_context(socket_path);
    if (!opening) return opening.error();
    const auto status = munge_ctx_set(sealing->get(), MUNGE_OPT_TTL, lifetime);
    if (status != EMUNGE_SUCCESS) return refusal(sealing->get(), status);
    return std::unique_ptr<Seal>(
        std::make_unique<MungeSeal>(std::move(*sealing), std::move(*opening)));
}

}  // namespace elastic::protocol
