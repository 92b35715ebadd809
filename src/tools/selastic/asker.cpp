// SPDX-License-Identifier: MIT
// Who may ask for what is the controller's to decide: it knows the user from the credential.
//
// Always holds: an answer belongs to the last question.
#include "selastic/asker.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>

#include "protocol/endpoint.hpp"
#include "protocol/seal.hpp"
#include "selastic/output.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kPatience = 10;  // to connect and be answered

// Whether asking twice does the same as asking once.
bool may_be_repeated(const protocol::Query& query) {
    using protocol::Question;
    return query.what == Question::jobs || query.what == Question::show ||
           query.what == Question::journal || query.what == Question::evacuate ||
           query.what == Question::nodes || query.what == Question::metrics ||
           (query.what == Question::snapshot && query.after.empty());
}

}  // namespace

Asker::Asker(protocol::Endpoint endpoint, std::unique_ptr<protocol::Seal> seal)
    : link_(std::move(endpoint), std::move(seal), *this, {}) {}

Asker::~Asker() {
    link_.finish(1);
}

Result<Json> Asker::ask(protocol::Query query) {
    query.token = ++last_token_;
    query_ = std::move(query);
    answer_.reset();
    said_no_ = false;
    if (link_.up()) send();
    const Time end = libelastic::monotonic_now() + kPatience;
    while (!answer_) {
        const Duration left = end - libelastic::monotonic_now();
        if (left <= 0 || link_.off()) return no_answer(link_.trouble());
        link_.wait(static_cast<int>(std::ceil(left * 1000)));
    }
    return *answer_;
}

int Asker::give_up(const Error& error) const {
    const int code = fail(error);
    return said_no_ ? kExitNo : code;
}

protocol::Hello Asker::hello() {
    protocol::Hello hello;
    hello.role = protocol::Role::tool;
    return hello;
}

void Asker::received(const protocol::Message& message) {
    if (const auto* reply = std::get_if<protocol::Reply>(&message)) {
        if (reply->token == query_.token) answer_ = reply->body;
    } else if (const auto* failure = std::get_if<protocol::Failure>(&message)) {
        if (failure->token == query_.token || failure->token == 0) refused(*failure);
    }
}

void Asker::refused(const protocol::Failure& failure) {
    answer_ = Error{failure.message};
    said_no_ = true;
}

// After a lost connection nobody knows whether a command was carried out.
void Asker::send() {
    if (sent_token_ == query_.token && !may_be_repeated(query_)) {
        answer_ = Error{"the connection was lost before the answer; see `selastic jobs`"};
        return;
    }
    sent_token_ = query_.token;
    link_.send(query_);
}

Error no_answer(const std::string& trouble) {
    const bool is_a_question = trouble.find('?') != std::string::npos;
    return error("no answer from the controller: {}{}", trouble.empty() ? "timeout" : trouble,
                 is_a_question ? "" : "; does slurmctld run, with SchedulerType=sched/elastic?");
}

Result<Controller> find_controller() {
    Result<protocol::Endpoint> endpoint = protocol::find_endpoint();
    if (!endpoint) {
        const std::string& why = endpoint.error().message;
        const bool is_missing = why.ends_with(std::strerror(ENOENT));
        return error("{}{}", why, is_missing ? "; SLURM_CONF says where the cluster's is" : "");
    }
    auto seal = protocol::make_seal(endpoint->authentication);
    if (!seal) return seal.error();
    return Controller{std::move(*endpoint), std::move(*seal)};
}

Result<std::unique_ptr<Asker>> connect() {
    Result<Controller> controller = find_controller();
    if (!controller) return controller.error();
    return std::make_unique<Asker>(std::move(controller->endpoint), std::move(controller->seal));
}

}  // namespace elastic::tools
