// SPDX-License-Identifier: MIT
// The application's side of split-phase resizing (doc/protocol.md, "Agreements").
//
// What the application says is written into the agreement or wish first and sent second.  So it
// makes no difference whether the controller is there: what it has not heard is said again after a
// reconnection (client_events.cpp).
//
// Messages are read only when no event is left to give out, and the job's size changes for the
// application as it takes the event about it, so that the size that it sees is never ahead of the
// events that it was told.
//
// Always holds: an answer goes out only for the agreement in flight, once.
#include "libelastic/client.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <random>
#include <system_error>
#include <utility>

#include "common/environment.hpp"
#include "common/sizes.hpp"
#include "common/text.hpp"
#include "libelastic/names.hpp"
#include "protocol/codec.hpp"

namespace elastic::libelastic {

using protocol::Outcome;
using protocol::Stage;

namespace {

constexpr Duration kProgressEvery = 5;
constexpr Duration kFarewell = 1;

// By which the controller knows what is said again, also if it has heard of several processes.
std::int64_t random_token() {
    std::random_device random;
    constexpr std::uint64_t kMask = (1ULL << 52) - 1;
    return static_cast<std::int64_t>(((std::uint64_t{random()} << 32 | random()) & kMask) | 1);
}

}  // namespace

bool JobView::allows(int size) const {
    const auto rule = parse_size_rule(sizes);
    return size >= 1 && (max == 0 || (size >= min && size <= max)) && (!rule || rule->allows(size));
}

Surroundings read_surroundings() {
    Surroundings around;
    const auto job = parse_integer(variable("SLURM_JOB_ID"));
    if (!job || *job < 1 || *job > UINT32_MAX) return around;
    around.job = static_cast<JobId>(*job);
    around.view.node_list = variable("SLURM_JOB_NODELIST");
    const auto listed = names_of(around.view.node_list).size();
    const auto counted = parse_integer(variable("SLURM_JOB_NUM_NODES")).value_or(1);
    around.view.nodes = listed > 0
                            ? static_cast<int>(listed)
                            : static_cast<int>(std::clamp<std::int64_t>(counted, 1, kMaxNodes));
    return around;
}

Client::Client(JobView view, std::string why)
    : known_(std::move(view)),
      shown_(known_),
      detail_(std::move(why)),
      idle_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!idle_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

Client::Client(Surroundings surroundings, protocol::Endpoint endpoint,
               std::unique_ptr<protocol::Seal> seal, LinkTimes times, Locate locate)
    : job_(surroundings.job),
      known_(std::move(surroundings.view)),
      shown_(known_),
      link_(std::make_unique<Link>(std::move(endpoint), std::move(seal),
                                   static_cast<LinkUser&>(*this), times, std::move(locate))) {}

Client::~Client() {
    try {
        if (connected()) link_->finish(kFarewell);
    } catch (...) {
        // Out of memory while saying goodbye: the controller sees a closed connection.
    }
}

void Client::settle(Duration most) {
    if (!link_) return;
    settling_ = true;
    const Time end = monotonic_now() + most;
    while (elastic() && !connected()) {
        const Duration left = end - monotonic_now();
        if (left <= 0) break;
        link_->wait(static_cast<int>(std::ceil(left * 1000)));
    }
    settling_ = false;
    keep_house();
}

int Client::poll(int timeout_ms, Event& event) {
    event = {};
    if (!elastic() && events_.empty()) {
        if (timeout_ms < 0) return ELASTIC_ENOTELASTIC;
        if (timeout_ms > 0) ::poll(nullptr, 0, timeout_ms);
        return 0;
    }
    const Time end = timeout_ms < 0 ? kNever : monotonic_now() + timeout_ms / 1000.0;
    keep_house();
    bool more = events_.empty();
    while (more) {
        const Duration left = std::max(0.0, end - monotonic_now());
        const double left_ms = std::min(std::ceil(left * 1000), static_cast<double>(INT_MAX));
        const bool quiet = link_->wait(end == kNever ? -1 : static_cast<int>(left_ms));
        keep_house();
        more = quiet && left > 0 && events_.empty() && elastic();
    }
    if (events_.empty()) return 0;
    event = std::move(events_.front());
    events_.pop_front();
    if (event.view) shown_ = *event.view;
    keep_house();
    return 1;
}

// What is due without a message, and when fd() has to become readable next.
void Client::keep_house() {
    const Time now = monotonic_now();
    Time next = kNever;
    for (auto* wish : {&request_, &release_}) {
        if (!*wish || (*wish)->sent) continue;
        if ((*wish)->expires <= now) {
            end_wish(*wish, Outcome::expired, "the controller was out of reach");
        } else {
            next = std::min(next, (*wish)->expires);
        }
    }
    if (remaining_ && connected()) {
        if (now >= next_progress_) {
            link_->send(protocol::Progress{*std::exchange(remaining_, std::nullopt)});
            next_progress_ = now + kProgressEvery;
        } else {
            next = std::min(next, next_progress_);
        }
    }
    if (!link_) return;
    link_->flush();
    link_->wake_at(events_.empty() ? next : 0);
}

// ---- what the application says

int Client::fail(int code, std::string detail) {
    detail_ = std::move(detail);
    return code;
}

int Client::answerable(OpId op) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (op <= 0) return fail(ELASTIC_EINVAL, fmt::format("{} is no operation", op));
    if (!agreement_ || agreement_->op != op)
        return fail(ELASTIC_ESTATE, fmt::format("operation {} is not in flight", op));
    return ELASTIC_OK;
}

int Client::accept(OpId op) {
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    return say_accept(0);
}

int Client::accept_size(OpId op, int count) {
    const bool is_request = op > 0 && request_ && request_->op == op;
    if (is_request && elastic() && !(agreement_ && agreement_->op == op))
        return lower_request(count);
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    const auto& mine = *agreement_;
    if (count < 1 || count > mine.nodes)
        return fail(ELASTIC_EINVAL, fmt::format("operation {} is of {} nodes: {} cannot be taken",
                                                op, mine.nodes, count));
    if (mine.kind == ResizeKind::shrink && count < mine.nodes)
        return fail(ELASTIC_EINVAL, "a shrink is accepted as a whole or declined");
    return say_accept(count);
}

// Of the agreement in flight; `count` 0: all its nodes.
int Client::say_accept(int count) {
    auto& mine = *agreement_;
    if (mine.stage != Stage::offered || mine.accepted || mine.declined)
        return fail(ELASTIC_ESTATE, fmt::format("operation {} is already answered", mine.op));
    mine.accepted = true;
    mine.count = count == mine.nodes ? 0 : count;
    link_->send(protocol::Accept{mine.op, mine.count});
    link_->flush();
    return ELASTIC_OK;
}

int Client::lower_request(int count) {
    const auto* asked = std::get_if<protocol::Request>(&request_->message);
    const int most = asked && asked->nodes > 0 ? asked->nodes : kMaxNodes;
    if (count < 1 || count > most)
        return fail(ELASTIC_EINVAL, fmt::format("operation {} is of {} nodes: {} cannot be taken",
                                                request_->op, most, count));
    request_->content_with = count;
    link_->send(protocol::Accept{request_->op, count});
    link_->flush();
    return ELASTIC_OK;
}

int Client::decline(OpId op, std::string_view reason) {
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    auto& mine = *agreement_;
    if (mine.stage != Stage::offered || mine.accepted || mine.declined)
        return fail(ELASTIC_ESTATE, fmt::format("operation {} is already answered", op));
    mine.declined = true;
    mine.reason = reason;
    link_->send(protocol::Decline{op, mine.reason});
    link_->flush();
    return ELASTIC_OK;
}

int Client::done(OpId op) {
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    auto& mine = *agreement_;
    const bool ready =
        mine.kind == ResizeKind::shrink ? mine.accepted : mine.stage == Stage::applied;
    if (!ready) return fail(ELASTIC_ESTATE, fmt::format("operation {} is not so far", op));
    if (mine.done) return fail(ELASTIC_ESTATE, fmt::format("operation {} is done already", op));
    mine.done = true;
    link_->send(protocol::Done{op});
    link_->flush();
    return ELASTIC_OK;
}

void Client::send_wish(Wish& wish) {
    if (!connected()) return;
    if (auto* request = std::get_if<protocol::Request>(&wish.message))
        request->timeout = std::max(0.0, wish.expires - monotonic_now());
    link_->send(wish.message);
    wish.sent = true;
}

int Client::request(int nodes, int least, Duration timeout) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (nodes < 1 || nodes > kMaxNodes || least < 1 || least > nodes)
        return fail(ELASTIC_EINVAL, fmt::format("{} nodes, at least {}", nodes, least));
    if (!(timeout >= 0))
        return fail(ELASTIC_EINVAL, fmt::format("a timeout of {} seconds", timeout));
    if (request_) return fail(ELASTIC_ESTATE, "a request is waiting already");
    timeout = std::min(timeout, protocol::kMaxSeconds);
    request_ = Wish{.message = protocol::Request{++last_token_, nodes, least, timeout},
                    .token = last_token_,
                    .expires = monotonic_now() + timeout};
    send_wish(*request_);
    keep_house();
    return ELASTIC_OK;
}

// "" if there are not so many.
std::string Client::last_nodes(int count) const {
    const auto listed = expand_hostlist(shown_.node_list);
    if (!listed || count < 1) return {};
    const bool known = std::ranges::find(*listed, shown_.batch_host) != listed->end();
    // Slurm starts a batch script on the first.
    const auto names =
        last_hosts(*listed, known || listed->empty() ? shown_.batch_host : listed->front(), count);
    return std::ssize(names) < count ? "" : compress_hostlist(names);
}

// The application has emptied nodes that it was shown, whatever has come or gone since.
int Client::release(int nodes, const char* node_list) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (release_) return fail(ELASTIC_ESTATE, "a release is under way already");
    const auto names = names_of(node_list ? node_list : last_nodes(nodes));
    const auto mine = names_of(shown_.node_list);
    if (names.empty() || names.size() >= mine.size() || !std::ranges::includes(mine, names))
        return fail(ELASTIC_EINVAL, "not some, but not all, of the job's nodes");
    if (names.contains(shown_.batch_host))
        return fail(ELASTIC_EINVAL, fmt::format("{} has the batch script", shown_.batch_host));
    const auto list = list_of(names);
    release_ =
        Wish{.message = protocol::Release{++last_token_, static_cast<int>(names.size()), list},
             .token = last_token_};
    send_wish(*release_);
    link_->flush();
    return ELASTIC_OK;
}

int Client::cancel(OpId op) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (op < 0) return fail(ELASTIC_EINVAL, fmt::format("{} is no operation", op));
    if (request_ && (op == 0 || op == request_->op)) {
        const bool again = std::exchange(request_->cancelled, true);
        if (!request_->sent) {
            end_wish(request_, Outcome::cancelled, "withdrawn before it was sent");
        } else if (request_->op != 0 && !again) {
            link_->send(protocol::Cancel{request_->op});
        }
    } else if (op == 0) {
        return fail(ELASTIC_ESTATE, "no request is waiting");
    } else {
        if (const int code = answerable(op); code != ELASTIC_OK) return code;
        if (agreement_->stage > Stage::accepted || agreement_->cancelled)
            return fail(ELASTIC_ESTATE, fmt::format("operation {} is too far", op));
        agreement_->cancelled = true;
        link_->send(protocol::Cancel{op});
    }
    keep_house();
    return ELASTIC_OK;
}

// In seconds from when it is sent.
void Client::send_correction() {
    if (!connected()) return;
    correction_->message.in = std::max(0.0, correction_->begins - monotonic_now());
    link_->send(correction_->message);
    correction_->sent = true;
}

int Client::step(int nodes, Duration in) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (nodes < 0 || nodes > kMaxNodes)
        return fail(ELASTIC_EINVAL, fmt::format("a step of {} nodes", nodes));
    if (!(in >= 0)) return fail(ELASTIC_EINVAL, fmt::format("a step in {} seconds", in));
    if (correction_) return fail(ELASTIC_ESTATE, "another step is on its way already");
    correction_ = Correction{.message = {random_token(), nodes, 0},
                             .begins = monotonic_now() + std::min(in, protocol::kMaxSeconds)};
    send_correction();
    keep_house();
    return ELASTIC_OK;
}

int Client::progress(Duration remaining) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (!(remaining >= 0)) return fail(ELASTIC_EINVAL, fmt::format("{} seconds left", remaining));
    remaining_ = std::min(remaining, protocol::kMaxSeconds);
    keep_house();
    return ELASTIC_OK;
}

std::unique_ptr<Client> open_client(bool wait) {
    auto around = read_surroundings();
    if (around.job == 0) return std::make_unique<Client>(around.view, "not inside a Slurm job");
    auto endpoint = protocol::find_endpoint();
    if (!endpoint) return std::make_unique<Client>(around.view, endpoint.error().message);
    auto seal = protocol::make_seal(endpoint->authentication);
    if (!seal) return std::make_unique<Client>(around.view, seal.error().message);
    const LinkTimes times;
    auto client = std::make_unique<Client>(around, std::move(*endpoint), std::move(*seal), times,
                                           protocol::find_endpoint);
    if (wait) client->settle(times.patience);
    return client;
}

}  // namespace elastic::libelastic
