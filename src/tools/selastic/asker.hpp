// SPDX-License-Identifier: MIT
// One question, one answer, over the same link that applications use.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/json.hpp"
#include "common/result.hpp"
#include "libelastic/link.hpp"
#include "protocol/message.hpp"

namespace elastic::tools {

class Asker : private libelastic::LinkUser {
  public:
    Asker(protocol::Endpoint, std::unique_ptr<protocol::Seal>);
    ~Asker() override;

    // Asks again after a lost connection only if that can do no harm.
    Result<Json> ask(protocol::Query);

    // Whether the controller has refused the last question in so many words.
    bool was_refused() const { return said_no_; }
    // Says why there is no answer; the exit code.
    int give_up(const Error&) const;

  private:
    protocol::Hello hello() override;
    void welcomed(const protocol::Welcome&) override { send(); }
    void received(const protocol::Message&) override;
    void refused(const protocol::Failure&) override;
    void send();

    protocol::Query query_;
    std::int64_t last_token_ = 0, sent_token_ = 0;
    std::optional<Result<Json>> answer_;
    bool said_no_ = false;  // the controller, in so many words
    libelastic::Link link_;
};

// Where the controller of this cluster is, and how to speak with it.
struct Controller {
    protocol::Endpoint endpoint;
    std::unique_ptr<protocol::Seal> seal;
};
Result<Controller> find_controller();

// That nothing has come, for what the link says, and what to look at.
Error no_answer(const std::string& trouble);

// An asker of the controller of this cluster, which connects when it is asked.
Result<std::unique_ptr<Asker>> connect();

}  // namespace elastic::tools
