// SPDX-License-Identifier: MIT
// The application library and the controller as they are, in one process: a client, a server with
// its thread, the negotiation and the state file. The test plays Slurm, and says what time it is.
//
// Both ends take turns in `until`, so nothing depends on timing but a generous alarm. At the end
// the journal's own checker reads what the controllers have told it.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/dispatcher.hpp"
#include "controller/state_file.hpp"
#include "controller/telling.hpp"
#include "journal/replay.hpp"
#include "libelastic/client.hpp"
#include "plain_seal.hpp"
#include "reserved_port.hpp"
#include "testing.hpp"

namespace elastic::testing {

inline constexpr uid_t kControllersUser = 64030, kOwner = 1000;
inline constexpr JobId kJob = 77, kOtherJob = 78;

// One of slurmctld's life times. What it is told is saved before it tells anybody, as there.
class Controller {
  public:
    Controller(const Time& now, int port) : now_(now) {
        config.grace_time = 60;
        site.nodes = 16;
        site.user_name = [](uid_t uid) { return fmt::format("user{}", uid); };
        site.is_operator = [](uid_t uid) { return uid == 0; };
        options = {port, {}, 64, 8};
        check_ok(server.start(options));
    }

    void step() {
        bool plans = false;
        while (const auto is_urgent = dispatcher.take(now_)) plans |= *is_urgent;
        if (looks) dispatcher.take_early(now_);
        has_been_urged |= plans;
        state.book.forget_finished();
        for (auto& event : std::exchange(outbox.events, {})) told.push_back(std::move(event));
        saved = state_text(state);
        controller::Outbox out = std::exchange(outbox, {});
        if (!mute) dispatcher.tell(std::move(out));
    }

    core::Config config;
    controller::State state;
    controller::Outbox outbox;
    controller::Site site;
    controller::Negotiation negotiation{config, state, outbox};
    controller::Queries queries{config, state, outbox, negotiation, site};
    controller::ServerOptions options;
    controller::Server server{[] {},
                              [](const protocol::Authentication&) {
                                  return Result<std::unique_ptr<protocol::Seal>>(
                                      std::make_unique<PlainSeal>(kControllersUser));
                              }};
    controller::Dispatcher dispatcher{server, negotiation, queries};
    std::vector<journal::Event> told;  // to the journal
    std::string saved;                 // the state file
    bool mute = false;                 // it saves, and dies before it tells applications
    bool looks = true;                 // it learns which jobs run
    bool has_been_urged = false;       // to plan

  private:
    const Time& now_;
};

class Theatre {
  public:
    using Client = libelastic::Client;
    using Event = libelastic::Event;

    Theatre() {
        alarm(30);
        begin("");
        for (auto& event : controller::tell_anew(jobs(), controller->site, "easy", now))
            controller->told.push_back(std::move(event));
    }
    ~Theatre() {
        stop();  // first, or clients wait for it to take its leave
        check_journal();
    }
    Theatre(const Theatre&) = delete;
    Theatre& operator=(const Theatre&) = delete;

    // ---- the application

    static protocol::Endpoint endpoint(std::initializer_list<int> ports) {
        protocol::Endpoint endpoint{{}, kControllersUser, {}};
        for (const int port : ports)
            endpoint.controllers.push_back({"127.0.0.1", static_cast<std::uint16_t>(port)});
        return endpoint;
    }

    std::unique_ptr<Client> new_client(JobId id = kJob) {
        return new_client(endpoint({port->number()}), id);
    }
    static std::unique_ptr<Client> new_client(
        protocol::Endpoint at, JobId id = kJob, libelastic::Locate locate = nullptr,
        std::unique_ptr<protocol::Seal> seal = std::make_unique<PlainSeal>(kOwner)) {
        libelastic::Surroundings around;
        around.job = id;
        around.view.nodes = 4;
        around.view.node_list = "n[1-4]";
        return std::make_unique<Client>(around, std::move(at), std::move(seal),
                                        libelastic::LinkTimes{0.001, 0.01, 2}, std::move(locate));
    }
    Client& open() {
        client = new_client();
        until([&] { return client->connected(); });
        return *client;
    }
    // Another process of the job, while the one before goes on without a word.
    void open_another() {
        left_behind.push_back(std::move(client));
        client = new_client();
    }
    void step() {
        if (controller) controller->step();
        Event event;
        const int code = client->poll(1, event);
        ck_assert_int_ge(code, 0);
        if (code == 1) events.push_back(event);
    }
    void until(const std::function<bool()>& holds) {
        while (!holds()) step();
    }
    // The next event, which must be of that type.
    Event expect(int type) {
        until([&] { return !events.empty(); });
        const Event event = events.front();
        events.erase(events.begin());
        check_eq(event.type, type);
        return event;
    }
    void expect_ended(int outcome, std::string_view reason) {
        const auto ended = expect(ELASTIC_EVENT_ENDED);
        check_eq(ended.outcome, outcome);
        check_eq(ended.reason, reason);
    }
    // All that the controller has told is at the client, though not taken by it: the server's
    // thread has written it before what another application has just got.
    void deliver() {
        if (!witness) witness = new_client(kOtherJob);
        const OpId op = controller->negotiation.offer_expand(job(kOtherJob), "", 1, "", now).op;
        bool heard = false;
        while (!heard) {
            controller->step();
            Event event;
            heard = witness->poll(1, event) == 1 && event.op == op;
        }
        end(op, controller::AgreementEvent::cancel, "");
    }

    // ---- the controller

    controller::JobTable& jobs() { return controller->state.jobs; }
    controller::Job& job(JobId id = kJob) { return *jobs().find(id); }
    controller::Agreement* agreement() { return controller->state.book.of_job(kJob); }
    bool agreement_is(controller::AgreementState state) {
        return agreement() && agreement()->state == state;
    }
    OpId offer_shrink() {
        return controller->negotiation.offer_shrink(job(), "n4", 1, 9, "for job 9", now).op;
    }
    OpId offer_expand(int nodes) {
        return controller->negotiation.offer_expand(job(), "", nodes, "idle nodes", now).op;
    }
    void end(OpId op, controller::AgreementEvent event, const std::string& reason) {
        controller->negotiation.end(*controller->state.book.find(op), event, reason, now);
    }

    // It ends as it should.
    void stop() {
        if (controller) controller->step();
        kill();
    }
    // It dies: what has come since its last step is lost.
    void kill() {
        if (!controller) return;
        records = {job().node_list, job().nodes};
        for (auto& event : controller->told) journal.push_back(std::move(event));
        saved = controller->saved;
        controller.reset();
    }
    // Another one goes on with what the last has saved, and with Slurm's records.
    void start() {
        begin(saved);
        job().node_list = records.node_list;
        job().nodes = records.nodes;
        controller->outbox.note(now,
                                journal::Controller{journal::Controller::What::start, 16, "easy"});
        controller->negotiation.after_restart(now);
    }
    void restart() {
        stop();
        start();
        until([&] { return client->connected() && job().participation.connection != 0; });
    }
    // What was in flight is lost with the state file.
    void lose_state() { saved.clear(); }

    // ---- Slurm

    // The nodes of the job's agreement come or go.
    void apply(const std::string& changed, const std::string& node_list, int nodes) {
        controller::Agreement& applied = *agreement();
        if (applied.state == controller::AgreementState::queued) {
            check_ok(controller->state.book.advance(applied, controller::AgreementEvent::grant));
            controller->outbox.note(
                now, journal::Grant{kJob, applied.op, applied.kind, applied.nodes, applied.nodes});
        }
        check_ok(controller->state.book.advance(applied, controller::AgreementEvent::apply));
        note_resize(applied.op, changed, node_list, nodes);
        controller->negotiation.applied(applied, job(), changed, now);
    }
    // Nodes come or go without anybody's agreement, as when one fails.
    void change(const std::string& changed, const std::string& node_list, int nodes) {
        const ResizeKind kind = nodes < job().nodes ? ResizeKind::shrink : ResizeKind::expand;
        note_resize(0, changed, node_list, nodes);
        controller->outbox.send(job().participation.connection,
                                protocol::Applied{0, kind, changed, node_list, nodes});
    }
    void note_resize(OpId op, const std::string& changed, const std::string& node_list, int nodes) {
        const int before = std::exchange(job().nodes, nodes);
        job().node_list = node_list;
        controller->outbox.note(
            now, journal::Resize{kJob, op, nodes < before ? ResizeKind::shrink : ResizeKind::expand,
                                 before, nodes, changed, ""});
    }

    // How often the journal was told of such an event by the present controller.
    int noted(std::string_view name) const {
        int count = 0;
        for (const auto& event : controller->told) count += journal::name_of(event) == name;
        return count;
    }

    Time now = 1000;
    std::unique_ptr<ReservedPort> port = std::make_unique<ReservedPort>();
    std::unique_ptr<Controller> controller;
    std::unique_ptr<Client> client, witness;
    std::vector<std::unique_ptr<Client>> left_behind;
    std::vector<Event> events;
    std::vector<journal::Event> journal;
    std::string saved;
    struct {
        std::string node_list;
        int nodes = 0;
    } records;  // Slurm's, of the job, while there is no controller

  private:
    void begin(const std::string& state) {
        controller = std::make_unique<Controller>(now, port->number());
        controller->state.book = controller::AgreementBook(static_cast<OpId>(now));
        if (!state.empty()) check_ok(controller::read_state(state, controller->state));
        add(kJob, "n[1-4]", 4);
        add(kOtherJob, "n16", 1);
    }
    void add(JobId id, const std::string& node_list, int nodes) {
        controller::Job& job = jobs().get(id);
        const bool is_new = !std::exchange(job.running, true);
        job.submitted = job.elastic = true;
        job.owner = kOwner;
        job.annotation.malleable = job.annotation.evolving = true;
        job.annotation.min = 1;
        job.annotation.pref = nodes;
        job.annotation.max = 8;
        job.batch_host = nodes == 1 ? node_list : "n1";
        if (!is_new) return;
        job.node_list = node_list;
        job.nodes = nodes;
        job.time.begin(now, {now + 7200, 120}, nodes, job.annotation);
    }

    void check_journal() const {
        journal::Replay replay({.may_still_run = true});
        std::size_t line = 0;
        for (const auto& event : journal) replay.feed(++line, event);
        replay.finish();
        for (const auto& violation : replay.violations())
            ck_abort_msg("the journal: %s", violation.message.c_str());
    }
};

}  // namespace elastic::testing
