// SPDX-License-Identifier: MIT
// Two questions a second on one connection: `jobs`, and what has come to the journal since.  A
// question whose answer is lost with its connection is asked again when the next one is there; no
// other is asked before an answer has come, so a controller that is slow has one of each to answer.
#include "selastic/top_watch.hpp"

#include <array>
#include <ctime>

#include "protocol/endpoint.hpp"
#include "protocol/seal.hpp"
#include "selastic/asker.hpp"
#include "selastic/controller_commands.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kEvery = 1;
constexpr Duration kSilence = 3;  // that is worth a line, with the connection up
constexpr std::size_t kKeptEvents = 200;
constexpr int kFirstEvents = 20, kEventsAtOnce = 200;

std::string clock_text() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    std::array<char, 32> text{};
    if (!::localtime_r(&now, &local)) return "";
    std::strftime(text.data(), text.size(), "%H:%M:%S", &local);
    return text.data();
}

// A person waits for it.
constexpr libelastic::LinkTimes kTimes{.longest_pause = 2, .longest_look_up = 5};

}  // namespace

TopWatch::TopWatch(protocol::Endpoint endpoint, std::unique_ptr<protocol::Seal> seal)
    : heard_(libelastic::monotonic_now()),
      link_(std::move(endpoint), std::move(seal), *this, kTimes, protocol::find_endpoint) {}

void TopWatch::run(int timeout_ms) {
    link_.wait(timeout_ms);
    if (link_.up() && libelastic::monotonic_now() >= due_ && !jobs_token_ && !journal_token_) ask();
}

TopData TopWatch::data() const {
    TopData data = data_;
    const Duration silent = libelastic::monotonic_now() - heard_;
    if (silent > kSilence || (!link_.up() && (data.answered || silent > kEvery)))
        data.silent = std::max(silent, 1.0);
    data.trouble = link_.trouble();
    data.clock = clock_text();
    return data;
}

Json TopWatch::to_json() const {
    return Json::object().set("cluster", data_.jobs).set("events", last_events_);
}

protocol::Hello TopWatch::hello() {
    protocol::Hello hello;
    hello.role = protocol::Role::tool;
    return hello;
}

void TopWatch::ask() {
    due_ = libelastic::monotonic_now() + kEvery;
    protocol::Query query;
    query.what = protocol::Question::jobs;
    query.token = jobs_token_ = ++token_;
    link_.send(query);
    query.what = protocol::Question::journal;
    query.token = journal_token_ = ++token_;
    query.tail = after_.empty() ? kFirstEvents : kEventsAtOnce;
    query.after = after_;
    link_.send(query);
    link_.wake_at(due_);
}

void TopWatch::received(const protocol::Message& message) {
    if (const auto* reply = std::get_if<protocol::Reply>(&message)) {
        if (reply->token == jobs_token_) on_jobs(reply->body);
        if (reply->token == journal_token_) on_journal(reply->body);
    } else if (const auto* failure = std::get_if<protocol::Failure>(&message)) {
        if (failure->token == jobs_token_) jobs_token_ = 0;
        if (failure->token != journal_token_) return;
        journal_token_ = 0;
        journal_answered_ = true;
        data_.no_events = failure->message;
        after_.clear();
    }
}

void TopWatch::on_jobs(const Json& body) {
    jobs_token_ = 0;
    data_.jobs = body;
    data_.answered = true;
    heard_ = libelastic::monotonic_now();
}

void TopWatch::on_journal(const Json& body) {
    journal_token_ = 0;
    data_.no_events.clear();
    names_ = names_of(body);
    last_events_ = body.get("events");
    if (after_.empty()) data_.events.clear();
    for (std::size_t i = 0; i < last_events_.size(); ++i) {
        std::string line = event_line(last_events_.at(i), names_);
        line.pop_back();
        data_.events.push_back(line.substr(line.find(' ') + 1));
        if (data_.events.size() > kKeptEvents) data_.events.pop_front();
    }
    after_ = body.get_string("next");
    journal_answered_ = true;
}

Result<std::unique_ptr<TopWatch>> watch_cluster() {
    Result<Controller> controller = find_controller();
    if (!controller) return controller.error();
    return std::make_unique<TopWatch>(std::move(controller->endpoint), std::move(controller->seal));
}

}  // namespace elastic::tools
