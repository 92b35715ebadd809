// SPDX-License-Identifier: MIT
// A round is four questions, whatever number of clients there are; the controller answers them
// without a lock of slurmctld's.  Without an answer the pauses get longer, and each try looks anew
// for the controller, since another one may have taken over.
//
// Always holds: what was shown last stays shown while there is no answer, and says so.
#include "selastic-serve/poller.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "selastic-serve/documents.hpp"
#include "selastic-serve/open_metrics.hpp"

namespace elastic::tools {
namespace {

using protocol::Question;

constexpr int kMostAtOnce = 1000;  // events
constexpr Duration kFirstPause = 1;

Time wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Body body(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

void Poller::run() {
    for (Duration wait = kFirstPause;;) {
        const auto answered = round();
        if (!answered) {
            asker_.reset();
            Publication next = *board_.shown();
            next.up = false;
            next.trouble = answered.error().message;
            board_.show(std::move(next));
        }
        told_();
        if (answered) {
            pause(times_.interval);
            const bool is_idle = libelastic::monotonic_now() - board_.asked() > times_.idle_after;
            if (is_idle) board_.wait_for_request(times_.idle_interval);
            wait = kFirstPause;
        } else {
            pause(wait);
            wait = std::min(2 * wait, times_.longest_pause);
        }
    }
}

void Poller::pause(Duration seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// An error where there is no answer; a refusal is one.
Result<void> Poller::round() {
    if (!asker_) {
        auto asker = connect();
        if (!asker) return asker.error();
        asker_ = *std::move(asker);
    }
    // First, so that jobs are never older than events.
    if (const auto read = read_journal(); !read) return read.error();
    const auto jobs = ask(Question::jobs);
    if (!jobs) return jobs.error();
    const auto nodes = ask(Question::nodes);
    if (!nodes && !asker_->was_refused()) return nodes.error();
    const auto metrics = ask(Question::metrics);
    if (!metrics && !asker_->was_refused()) return metrics.error();
    show(*jobs, nodes ? *nodes : Json(), metrics ? *metrics : Json());
    return {};
}

Result<Json> Poller::ask(Question what) {
    protocol::Query query;
    query.what = what;
    return asker_->ask(query);
}

// Where it may not be read, there is none.
Result<void> Poller::read_journal() {
    protocol::Query query;
    query.what = Question::journal;
    query.tail = kMostAtOnce;
    for (;;) {
        query.after = journal_after_;
        const auto answer = asker_->ask(query);
        if (!answer && !asker_->was_refused()) return answer.error();
        if (!answer) return {};
        const Json events = answer->get("events");
        for (std::size_t i = 0; i < events.size(); ++i) ring_.add(events.at(i).dump());
        const bool had_place = !journal_after_.empty();
        journal_after_ = answer->get_string("next");
        if (!had_place || events.size() < kMostAtOnce) return {};
    }
}

void Poller::show(const Json& jobs, const Json& nodes, const Json& metrics) {
    const Publication before = *board_.shown();
    const auto document = [&](const Json& json, const Document& old) {
        std::string text = json.dump();
        if (old.body && *old.body == text) return old;
        return Document{body(std::move(text)), fmt::format("\"{}\"", ++last_tag_)};
    };
    const Json listed = jobs_document(jobs, wall_clock());
    Publication next;
    next.up = true;
    next.jobs = document(listed, before.jobs);
    next.nodes = document(nodes_document(nodes, listed), before.nodes);
    next.journal = ring_.token();
    if (metrics.is_object()) {
        next.metrics = body(controller_metrics(metrics, MetricsFormat::open_metrics));
        next.metrics_as_text = body(controller_metrics(metrics, MetricsFormat::text));
    }
    board_.show(std::move(next));
}

}  // namespace elastic::tools
