// SPDX-License-Identifier: MIT
// One connection of the server: its bytes in and out, when it may be read from, and how long it may
// stay as it is.  No event loop and no credentials.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "common/fd.hpp"
#include "common/result.hpp"
#include "common/time.hpp"
#include "controller/incoming.hpp"
#include "controller/session.hpp"
#include "protocol/frame.hpp"

namespace elastic::controller {

class Connection {
  public:
    // A socket that does not block.  The token names its session.
    Connection(ConnectionId id, Fd socket, std::string token, Time now)
        : id_(id), socket_(std::move(socket)), session_(std::move(token)), since_(now) {}

    ConnectionId id() const { return id_; }
    int fd() const { return socket_.get(); }
    Session& session() { return session_; }
    const Session& session() const { return session_; }

    // Who it is of has been let in.
    void introduce() { introduced_ = true; }
    bool introduced() const { return introduced_; }

    // Reads what there is; false if it has ended.
    bool read(Time now);
    // The next credential, if there is one and it may be dealt with now.  An error when what has
    // come holds none any more.
    Result<std::optional<std::string>> next();
    // Its message waits for an answer, or has got it.
    void set_waiting(bool waiting) { waiting_ = waiting; }
    // What one that is closing says is for nobody, but its end is to be seen.
    bool may_read() const { return closing_ || (!waiting_ && unsent_.empty()); }

    // To be written.
    void put(const std::string& credential) { unsent_ += protocol::frame(credential); }
    // Writes what can be; false if it has ended.
    bool write();
    bool has_unsent() const { return !unsent_.empty(); }
    bool has_too_much_unsent() const;

    // Nothing is to be put any more, and it ends when everything is written.
    void begin_closing(Time now);
    bool closing() const { return closing_; }
    bool is_finished() const { return closing_ && unsent_.empty(); }

    // Whether its peer began something and did not go on.
    bool is_late(Time now);

  private:
    Duration patience() const;

    ConnectionId id_;
    Fd socket_;
    Session session_;
    protocol::FrameReader reader_{protocol::kMaxClientFrame};
    Result<void> readable_;  // an error when the stream holds no frames any more
    std::string unsent_;
    bool introduced_ = false, waiting_ = false, closing_ = false;
    Time since_;  // it was accepted, the present frame began, or closing began
};

}  // namespace elastic::controller
