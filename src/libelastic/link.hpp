// SPDX-License-Identifier: MIT
// A connection to whichever controller answers, kept up without a thread.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/fd.hpp"
#include "common/result.hpp"
#include "common/time.hpp"
#include "protocol/endpoint.hpp"
#include "protocol/frame.hpp"
#include "protocol/message.hpp"
#include "protocol/seal.hpp"

namespace elastic::libelastic {

Time monotonic_now();

// Seconds.  Variable only for tests' sake.
struct LinkTimes {
    Duration first_pause = 0.1;  // before connecting again; doubles up to longest_pause
    Duration longest_pause = 10;
    Duration patience = 5;          // to connect and be welcomed
    Duration longest_look_up = 60;  // between two look-ups in vain
};

// What a link tells its user.  Called from within Link::wait only; may call Link::send.
class LinkUser {
  public:
    virtual ~LinkUser() = default;
    virtual protocol::Hello hello() = 0;  // nonce is the link's to fill
    virtual void welcomed(const protocol::Welcome&) = 0;
    virtual void received(const protocol::Message&) = 0;
    virtual void refused(const protocol::Failure&) = 0;  // for good
};

// Where the controller is now, as protocol::find_endpoint().
using Locate = std::function<Result<protocol::Endpoint>()>;

class Link {
  public:
    // Throws std::system_error when there is no descriptor left.  With `locate`, other controllers
    // are asked for while none of those known answers.
    Link(protocol::Endpoint endpoint, std::unique_ptr<protocol::Seal> seal, LinkUser& user,
         LinkTimes times, Locate locate = nullptr);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    int fd() const { return epoll_.get(); }
    bool up() const { return state_ == State::up; }
    bool off() const { return state_ == State::off; }
    const std::string& trouble() const { return trouble_; }  // the last reason for a loss

    // Waits up to timeout_ms (< 0: for ever) for something to do and does it.  False if a signal
    // ended the wait.
    bool wait(int timeout_ms);

    // Queues a message if the link is up, else drops it: the user repeats in welcomed() what
    // matters.  flush() sends as much as the socket takes; wait() does it too.
    void send(const protocol::Message& message);
    void flush();

    // fd() becomes readable at that time (monotonic_now's clock); kNever for not.
    void wake_at(Time time);

    // Sends what is queued, for at most `most` seconds, and closes.
    void finish(Duration most);

  private:
    enum class State { waiting, connecting, greeting, up, off };
    struct Address {
        sockaddr_storage storage{};
        socklen_t length = 0;
    };

    void look_up();
    void resolve();
    void locate_again();
    void connect_next();
    void greet();
    void queue(const protocol::Message& message);
    void on_socket(std::uint32_t events);
    void receive();
    bool take_frame(const std::string& credential);
    void take_greeting(const protocol::Envelope& envelope);
    void on_failure(const protocol::Failure& failure);
    Result<protocol::Envelope> open(const std::string& credential);
    void check_times();
    void arm();
    void watch(bool for_writing);
    void close_socket();
    void lose(std::string why);
    void switch_off();
    bool connected() const { return state_ == State::greeting || state_ == State::up; }

    protocol::Endpoint endpoint_;
    std::unique_ptr<protocol::Seal> seal_;
    LinkUser& user_;
    LinkTimes times_;
    Locate locate_;
    Fd epoll_, timer_, socket_;
    State state_ = State::waiting;
    std::vector<Address> addresses_;
    std::size_t next_address_ = 0;
    std::size_t tried_ = 0;  // addresses of this round that did not answer
    Duration pause_ = 0;     // before the next round
    bool missed_ = false;    // no controller has answered in the last round
    Time look_up_due_ = 0;   // not before
    Duration look_up_pause_ = 0;
    Time due_ = 0;            // waiting: to connect; connecting, greeting: to give up
    Time user_due_ = kNever;  // wake_at
    Time up_since_ = 0;
    bool writing_ = false;  // EPOLLOUT is asked for
    std::string nonce_, session_, outbox_, trouble_;
    std::string broken_;  // why send() failed, until flush() can lose the connection
    std::uint32_t sent_ = 0, taken_ = 0;
    bool welcomed_once_ = false;
    protocol::FrameReader reader_{protocol::kMaxReplyFrame};
};

}  // namespace elastic::libelastic
