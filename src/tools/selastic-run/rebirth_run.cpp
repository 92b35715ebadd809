// SPDX-License-Identifier: MIT
// Between the job and the rebirths of its program: which offers are accepted, when nodes that have
// come or that the program wants to leave become a resize, and what becomes of nodes behind one.
//
// A program may ask for nodes, or to leave some.  Nodes that come while it is being resized wait
// for the end of that, and become a resize of their own.
//
// Always holds: nodes are given back when nothing of ours runs on them, by the agreement or, if
// that is over, by a release; at the end nothing is left in shared memory.  Where we are killed,
// the epilog of spank_elastic frees it.
#include "selastic-run/rebirth_run.hpp"

#include <signal.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/elastic_run.hpp"
#include "selastic-run/launcher.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/rebirth.hpp"
#include "selastic-run/requests.hpp"

namespace elastic::tools {
namespace {

using runtime::Message;
using runtime::Verb;
using State = Rebirth::State;

class RebirthRun : public ElasticRun, private Rebirth::Effects {
  public:
    RebirthRun(elastic_handle* job, const RunOptions& options)
        : ElasticRun(job),
          options_(rebirth_options(options)),
          launcher_(options_),
          rebirth_(*this, tasks_per_node(options), !options.stop_first),
          requests_(job),
          given_back_(job) {}

  private:
    void start() override { rebirth_.start(); }
    void offered(const JobEvent& event) override;
    void accepted(const JobEvent& event) override;
    void queued(const JobEvent& event) override { requests_.queued(event); }
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;
    void on_end(pid_t process, int status) override;
    void on_signal(int number) override;
    void on_continue() override { rebirth_.continued(); }
    void look() override;
    int descriptor() const override { return launcher_.descriptor(); }

    Time now() const override { return steady_now(); }
    StepPlace place_without(const std::string& leaving) const override;
    pid_t start(const World& world, std::int64_t generation) override {
        return launcher_.start(world, generation);
    }
    void kill(pid_t process) override { launcher_.kill(process); }
    void send(int to, const Message& message) override { launcher_.send(to, message); }
    void hang_up(int connection) override { launcher_.hang_up(connection); }
    void opened(const std::string& spill) override;
    void completed(const Resize& resize) override;
    void given_up(const Resize& resize) override;
    void over(int status) override;

    const World& program() const { return rebirth_.worlds().now; }
    const char* reason_against_offers() const;
    void decline_unopened(const JobEvent& offer);
    void say_how_many_were_declined();
    void receive();
    void requested(int change);
    void give(int nodes);
    void refuse(const std::string& why);
    void begin(const JobEvent& event);
    void begin_waiting();
    void give_up_expansion(std::int64_t op);

    const RunOptions options_;
    Launcher launcher_;
    Rebirth rebirth_;
    Requests requests_;
    GivenBack given_back_;
    std::int64_t promised_ = 0;        // the offer that was accepted and is to come; 0: none
    std::optional<JobEvent> granted_;  // nodes that wait for the end of another resize
    bool closed_ = false;              // nothing is left in shared memory
    int resizes_ = 0;
    std::string refused_;  // why the last request was, at once
    int declined_ = 0;     // offers, before the program has opened libelastic-mpi
};

// ---- the job

const char* RebirthRun::reason_against_offers() const {
    if (rebirth_.ending() || closed_ || rebirth_.program_ended()) return "the program ends";
    if (rebirth_.state() != State::kSteady) return "the program is being resized";
    return given_back_.nodes().empty() ? nullptr : "nodes are being given back";
}

void RebirthRun::offered(const JobEvent& event) {
    if (const char* why = reason_against_offers()) return decline(event, why);
    if (!program().speaks()) return decline_unopened(event);
    if (accept(event)) promised_ = event.op;
}

// Whoever never opens the library is told what to do, once.
void RebirthRun::decline_unopened(const JobEvent& offer) {
    const std::string why = program_name(options_) + " has not opened libelastic-mpi yet";
    decline(offer, why.c_str());
    if (declined_++ > 0) return;
    note("{} of {} nodes declined: {}; one that never does needs --checkpoint-signal or --workers",
         offer.type == ELASTIC_EVENT_OFFER_SHRINK ? "shrink" : "offer", offer.nodes, why);
}

void RebirthRun::say_how_many_were_declined() {
    if (declined_ > 1)
        note("{} offers declined in all while {} had not opened libelastic-mpi", declined_,
             program_name(options_));
    declined_ = 0;
}

void RebirthRun::accepted(const JobEvent& event) {
    if (event.kind == ELASTIC_SHRINK) begin(event);
}

void RebirthRun::resized(const JobEvent& event) {
    if (event.kind == ELASTIC_SHRINK) {
        given_back_.gone();
        rebirth_.nodes_lost(elastic_nodelist(job()));
        return begin_waiting();
    }
    if (rebirth_.ending() || rebirth_.program_ended()) return;
    granted_ = event;
    begin_waiting();
}

void RebirthRun::ended(const JobEvent& event) {
    if (requests_.ended(event)) return rebirth_.answer(event.reason);
    if (promised_ > 0 && event.op == promised_) {
        promised_ = 0;
        return begin_waiting();
    }
    if (!rebirth_.agreement_ended(event.op, event.reason) && event.kind == ELASTIC_SHRINK)
        given_back_.refused(event.reason);
}

void RebirthRun::on_end(pid_t process, int status) {
    receive();  // what a world has sent before it ended
    launcher_.forget(process);
    rebirth_.ended(process, status);
}

void RebirthRun::on_signal(int number) {
    if (ending()) rebirth_.stop_resizing();
    for (const World* world : {&rebirth_.worlds().now, &rebirth_.worlds().next})
        if (world->runs()) ::kill(world->process, number);
}

void RebirthRun::look() {
    receive();
    given_back_.try_again();
    rebirth_.look();
    wake(std::min(rebirth_.patient_until(), given_back_.again_at()));
}

// ---- the program

void RebirthRun::receive() {
    for (const auto& [from, message] : launcher_.receive()) {
        rebirth_.received(from, message);
        if (from != program().connection) continue;
        if (message.word == Verb::closed) closed_ = true;
        if (message.word == Verb::request) requested(message.change);
    }
}

void RebirthRun::opened(const std::string& spill) {
    launcher_.opened(spill);
    say_how_many_were_declined();
}

// While the program is being resized it gets no answer: the resize is one, and what it waits for in
// that must not be taken for another.  A new world may ask before the old one has ended, or the
// job's nodes are as few as the program's.
void RebirthRun::requested(int change) {
    const bool changes = promised_ > 0 || !given_back_.nodes().empty();
    if (rebirth_.state() == State::kEnding || changes) requests_.put_off(change);
    if (rebirth_.state() != State::kSteady || changes || rebirth_.ending()) return;
    begin_negotiation();
    if (change < 0) return give(-change);
    if (change == 0) return requests_.withdraw();
    if (const auto asked = requests_.ask_for(change); !asked) refuse(asked.error().message);
}

void RebirthRun::give(int nodes) {
    const auto leaving = requests_.leaving(nodes);
    if (!leaving) return refuse(leaving.error().message);
    JobEvent shrink{};
    shrink.kind = ELASTIC_SHRINK;
    shrink.node_list = *leaving;
    begin(shrink);
}

// It is said once: a program may ask again and again.
void RebirthRun::refuse(const std::string& why) {
    if (why != refused_) note("no resize: {}", printable(why, 200));
    refused_ = why;
    rebirth_.answer(why);
}

// ---- resizes

StepPlace RebirthRun::place_without(const std::string& leaving) const {
    std::string nodes = without_hosts(elastic_nodelist(job()), leaving);
    nodes = without_hosts(nodes, given_back_.nodes());
    if (granted_) nodes = without_hosts(nodes, granted_->node_list);
    return place_on(nodes);
}

void RebirthRun::begin(const JobEvent& event) {
    requests_.overtaken_by(event.op);
    promised_ = 0;
    Resize resize{.op = event.op, .kind = event.kind};
    if (event.kind == ELASTIC_SHRINK) resize.leaving = event.node_list;
    resize.negotiation = negotiated();
    rebirth_.begin(std::move(resize));
}

// What has waited for the end of another resize.
void RebirthRun::begin_waiting() {
    if (rebirth_.state() != State::kSteady || rebirth_.program_ended()) return;
    if (granted_) return begin(*std::exchange(granted_, std::nullopt));
    if (const auto change = requests_.take_put_off()) requested(*change);
}

void RebirthRun::completed(const Resize& resize) {
    note(to_string(resize, ++resizes_));
    if (resize.old_died)
        launcher_.free_memory(common_hosts(resize.leaving, elastic_nodelist(job())));
    if (resize.op > 0) {
        given_back_.leave(resize.leaving);
        elastic_done(job(), resize.op);
    } else if (!resize.leaving.empty()) {
        given_back_.give(resize.leaving);
    }
    begin_waiting();
}

void RebirthRun::given_up(const Resize& resize) {
    if (resize.kind == ELASTIC_EXPAND) return give_up_expansion(resize.op);
    begin_waiting();  // the agreement of a shrink is over at its deadline
}

void RebirthRun::give_up_expansion(std::int64_t op) {
    if (granted_ && granted_->op > 0) elastic_done(job(), granted_->op);
    granted_.reset();
    const std::string unused = without_hosts(elastic_nodelist(job()), program().place.node_list);
    launcher_.free_memory(unused);
    if (op > 0) elastic_done(job(), op);
    given_back_.give(unused);
}

void RebirthRun::over(int status) {
    finish(status);
    say_how_many_were_declined();
    if (!closed_)
        launcher_.free_memory(without_hosts(elastic_nodelist(job()), given_back_.nodes()));
    if (rebirth_.agreement() > 0) elastic_done(job(), rebirth_.agreement());
}

}  // namespace

RunOptions rebirth_options(const RunOptions& options) {
    RunOptions result = options;
    const Words words{"--overlap", "--kill-on-bad-exit=1"};
    constexpr std::string_view kExport = "--export=";
    for (std::string& option : result.srun_options)
        if (option.starts_with(kExport))
            option = std::string(kExport) +
                     with_export(option.substr(kExport.size()), runtime::kMeetingVariable);
    result.srun_options.insert(result.srun_options.begin(), words.begin(), words.end());
    return result;
}

int run_with_rebirth(elastic_handle* job, const RunOptions& options) {
    return RebirthRun(job, options).run();
}

}  // namespace elastic::tools
