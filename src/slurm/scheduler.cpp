// SPDX-License-Identifier: GPL-2.0-or-later
// The thread waits until something happens: a message, a deadline, a change in Slurm's records
// (looked for every Interval; Slurm has no hook), a configuration.  Then it handles messages, moves
// ripe agreements forward, makes a planning pass if one is due, saves, and only then tells the
// outside.
//
// Passes are rationed (PassClock), so that planning never takes more than a third of a processor
// and never starves slurmctld of its locks.
#include "slurm/scheduler.hpp"

#include <algorithm>
#include <utility>

#include "common/log.hpp"
#include "common/text.hpp"
#include "controller/askable_jobs.hpp"
#include "journal/event.hpp"
#include "protocol/endpoint.hpp"
#include "slurm/cycle_counts.hpp"
#include "slurm/drain.hpp"
#include "slurm/read/view.hpp"
#include "slurm/saving.hpp"
#include "slurm/site_config.hpp"

namespace elastic::slurm {

namespace {

constexpr auto kLongestPass = std::chrono::seconds(1);      // with what is planned again
constexpr auto kListening = std::chrono::milliseconds(20);  // to messages, before all else
constexpr Duration kLeastInterval = 0.01;                   // between two looks, with Interval=0

constexpr char kServedAsBefore[] = "applications are served as before";
constexpr char kJournalBefore[] =
    "events go on into the file that was open, and slurmctld would not start so: correct it, then "
    "`scontrol reconfigure`";

using Clock = std::chrono::steady_clock;

Time wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// So long after now.
Clock::time_point after(Duration time) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time));
}

// The address of the interface on which slurmctld itself listens; "" if it does on all.
std::string own_interface() {
    if (!xstrcasestr(slurm_conf.comm_params, "NoCtldInAddrAny")) return "";
    slurm_addr_t address;
    slurm_setup_addr(&address, 0);
    char text[INET6_ADDRSTRLEN];
    slurm_get_ip_str(&address, text, sizeof text);
    return text;
}

// To be called where Slurm cannot be reading slurm.conf just now.
controller::ServerOptions server_options(const core::Config& config) {
    return {config.listen_port,
            protocol::authentication_of(text(slurm_conf.authtype), text(slurm_conf.authinfo),
                                        protocol::kControllerKiosk),
            config.max_connections, config.max_connections_per_user, own_interface()};
}

controller::ServerOptions locked_server_options(const core::Config& config) {
    ControllerLock lock;
    return server_options(config);
}

// The latest second in which Slurm changed anything that matters here.
time_t last_change() {
    return std::max({last_job_update, last_node_update, last_part_update, last_resv_update});
}

// As Slurm's own loop: not in a backup with no_backup_scheduling, not while going down.
bool may_schedule() {
    return !slurmctld_config.scheduling_disabled && !slurmctld_config.shutdown_time;
}

// Requests that slurmctld is working on.
int busy_threads() {
    slurm_mutex_lock(&slurmctld_config.thread_count_lock);
    const int threads = slurmctld_config.server_thread_count;
    slurm_mutex_unlock(&slurmctld_config.thread_count_lock);
    return threads;
}

// With CompleteWait, and a job that has been completing for no longer.
bool any_job_completes() {
    if (!slurm_conf.complete_wait) return false;
    ControllerLock lock;
    return job_is_completing(nullptr);
}

std::string_view name_of(core::Starts starts) {
    return names(starts)[static_cast<std::size_t>(starts)];
}

void say_goes_on(std::size_t wrong) {
    log_error(
        "slurm.conf: {} wrong settings: the scheduler goes on as well as it can, but slurmctld "
        "would not start with them; correct them, then `scontrol reconfigure`",
        wrong);
}

// What Slurm's records make of the terms.
std::vector<journal::Supply> supply_in(const View& view) {
    std::vector<journal::Supply> in_force;
    for (const SupplySet& set : view.supply)
        in_force.push_back(
            {set.terms.nodes, set.nodes.text(), set.terms.price, set.terms.most.value_or(-1)});
    return in_force;
}

}  // namespace

Scheduler::Scheduler()
    : output_(outbox_, storage_, site_.timings, {save_state, save_jobs_now},
              [this](controller::Outbox out) {
                  state_.counters.count(out.events, state_.jobs);
                  dispatcher_.tell(std::move(out));
              }),
      planner_(time(nullptr)) {
    site_.is_operator = [](uid_t uid) { return uid == 0 || validate_operator(uid); };
    site_.user_name = user_name;
    site_.drain = drain;
    site_.recorded_pass = [this] { return planner_.recorded(); };
}

Scheduler::~Scheduler() {
    stop();
}

Result<void> Scheduler::start(Start how) {
    const bool goes_on = how == Start::again;
    auto config = first_configuration(how);
    if (!config) return config.error();
    config_ = *config;
    const auto kept = controller::KeptConfig::kept(slurm_conf.state_save_location);
    starts_ = goes_on && kept ? kept->starts : config_.starts;
    const std::size_t wrong = preflight_.check(config_.starts);
    if (wrong && !goes_on) return elastic::error("slurm.conf: {} wrong settings", wrong);
    const bool starts_as_read = settle_starts(wrong);
    if (wrong && starts_as_read) say_goes_on(wrong);
    state_.book = controller::AgreementBook(time(nullptr));
    folder_ = slurm_conf.state_save_location;
    const auto opened = open_storage(how);
    if (!opened && !goes_on) return opened.error();
    const auto listening = listen(how);
    if (!listening && !goes_on) return listening.error();
    deafness_.report(listening);
    if (const auto hosted = host_slurms(); !hosted) {
        if (!goes_on) return hosted.error();
        log_error("{}; only Slurm's main loop starts jobs", hosted.error().message);
    }
    const bool is_as_read = starts_as_read && config_.journal_file == config->journal_file &&
                            config_.listen_port == config->listen_port;
    if (opened && listening && is_as_read) kept_config_.keep(folder_);
    supply_.configure(config_);
    if (goes_on) log_info("configuration read: policy {}", config_.policy_name);
    stopping_ = false;
    cluster_.begin();
    thread_ = std::thread([this] { run(); });
    log_info("built for Slurm {}, policy {}, {}, {}", kBuiltForSlurm, config_.policy_name,
             listening ? fmt::format("listening on port {}", config_.listen_port) : "no port",
             site_.journal_path.empty() ? "no journal" : "journal " + site_.journal_path);
    return {};
}

void Scheduler::stop() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    wakeup_.notify();
    thread_.join();
    hosted_.stop();
    supply_.stop();
    server_.stop();
}

Result<core::Config> Scheduler::first_configuration(Start how) {
    auto config = kept_config_.read(site_config_path());
    if (config || how == Start::first) return config;
    auto kept = controller::KeptConfig::kept(slurm_conf.state_save_location);
    if (!kept) return elastic::error("{}, and {}", config.error().message, kept.error().message);
    log_error("{}; the configuration before stays in force", config.error().message);
    return kept;
}

Result<void> Scheduler::open_storage(Start how) {
    auto opened = storage_.open(folder_);
    if (opened || how == Start::first) return opened;
    const auto kept = controller::KeptConfig::kept(folder_);
    if (!kept || kept->journal_file == config_.journal_file) return opened;
    log_error("{}; {}", opened.error().message, kJournalBefore);
    config_.journal_file = kept->journal_file;
    return storage_.open_journal();
}

Result<void> Scheduler::listen(Start how) {
    auto listening = server_.start(server_options(config_));
    if (listening || how == Start::first) return listening;
    const auto kept = controller::KeptConfig::kept(folder_);
    if (!kept || kept->listen_port == config_.listen_port) return listening;
    log_error("{}; {}", listening.error().message, kServedAsBefore);
    config_.listen_port = kept->listen_port;
    return server_.start(server_options(config_));
}

// Slurm's scheduler beside this one, or none.
Result<void> Scheduler::host_slurms() {
    if (config_.starts == core::Starts::slurm)
        return hosted_.run(config_.hosted == core::Hosted::backfill ? "sched/backfill"
                                                                    : "sched/builtin");
    hosted_.stop();
    return {};
}

void Scheduler::name_scheduler() {
    ConfigurationLock lock;
    hosted_.name_to_slurm();
}

// Slurm calls it while it reads slurm.conf, before it puts back what it does not change without a
// restart (SelectType): so all is named that the next start would refuse.
void Scheduler::reconfigure() {
    hosted_.reconfigure();
    if (compat::kReconfiguresByInit) return;
    if (const std::size_t wrong = preflight_.check(starts_)) say_goes_on(wrong);
    reconfigure_ = true;
    wakeup_.notify();
}

// ---- the thread

void Scheduler::run() {
    Time now = wall_clock();
    // First of all the table must be as Slurm's records are: applications that reconnect are
    // answered from it.
    name_scheduler();
    cluster_.forecaster().clear();  // of a scheduler before this one
    cluster_.read(now);
    gate_.set_askable(controller::askable_jobs(state_, config_, now));
    cluster_.configure();
    read_site();
    negotiation_.after_restart(now);
    state_.counters.begin(state_.book, now);
    announcer_.announce(journal::Controller::What::start, now);
    cluster_.advance_agreements(now);
    output_.commit(wall_clock());
    while (wait()) {
        now = wall_clock();
        take_configuration(now);
        if (supply_.follow(now)) {
            cluster_.set_terms(supply_.terms());
            passes_.hurry();
        }
        take_messages(now);
        if (negotiation_.check_deadlines(now)) passes_.hurry();
        if (negotiation_.next_step() <= now && negotiation_.follow_steps(now)) passes_.hurry();
        note_askable(now);
        if (has_preemptor_.exchange(false) || gate_.next_deadline() <= now) passes_.hurry();
        cluster_.advance_agreements(now);
        note_completing();
        const bool is_due = pass_is_due();
        if (is_due) pass();
        if (may_plan()) cluster_.forecaster().advance();
        if (is_due || !may_plan()) {
            dispatcher_.take_early(now);
            note_askable(now);
        }
        announcer_.announce_other_nodes(now);
        state_.book.forget_finished();
        if (!output_.must_wait(Clock::now())) output_.commit(wall_clock());
    }
    cluster_.end();
    now = wall_clock();
    state_.observations.end(now, outbox_);
    announcer_.announce(journal::Controller::What::stop, now);
    output_.commit(now);
}

// Until something happens.  False when it is time to stop.
bool Scheduler::wait() {
    auto until = std::min(after(std::max(config_.interval, kLeastInterval)), output_.next());
    if (may_schedule() && !must_defer()) until = std::min(until, passes_.next_urgent());
    const Duration deadline = std::min({state_.book.next_deadline(), negotiation_.next_step(),
                                        supply_.next(), gate_.next_deadline()}) -
                              wall_clock();
    // What is overdue already waits for the pass that is urgent because of it.
    if (deadline > 0 && deadline < 3600) until = std::min(until, after(deadline));
    if (cluster_.next_join() < kNever)
        until = std::min(until, after(cluster_.next_join() - wall_clock()));
    if (may_plan()) until = std::min(until, cluster_.forecaster().next());
    wakeup_.wait_until(until);
    return !stopping_;
}

void Scheduler::take_configuration(Time now) {
    if (!reconfigure_.exchange(false)) return;
    auto config = kept_config_.read(site_config_path());
    if (!config) {
        log_error("{}; the configuration before stays in force", config.error().message);
        return;
    }
    config_ = *config;
    const core::Starts before = starts_;
    const bool starts_as_read = settle_starts(locked_check());
    if (config_.starts != before) cluster_.forecaster().clear();
    cluster_.configure();
    if (const auto hosted = host_slurms(); !hosted) log_error("{}", hosted.error().message);
    name_scheduler();
    const auto opened = storage_.open_journal();
    if (!opened) log_error("{}; {}", opened.error().message, kJournalBefore);
    const auto adopted = server_.reconfigure(locked_server_options(config_));
    if (!adopted) log_error("{}; {}", adopted.error().message, kServedAsBefore);
    if (opened && adopted && starts_as_read) kept_config_.keep(folder_);
    supply_.configure(config_);
    log_info("configuration read: policy {}", config_.policy_name);
    announcer_.announce(journal::Controller::What::reconfigure, now);
    passes_.hurry();
}

// With so many wrong settings in slurm.conf who starts jobs is who did before.  Whether it is as
// elastic.conf says.
bool Scheduler::settle_starts(std::size_t wrong) {
    if (wrong && config_.starts != starts_) {
        log_error(
            "Starts={} is not taken, with {} wrong settings in slurm.conf; it stays Starts={}",
            name_of(config_.starts), wrong, name_of(starts_));
        config_.starts = starts_;
        return false;
    }
    starts_ = config_.starts;
    return true;
}

std::size_t Scheduler::locked_check() {
    ControllerLock lock;
    return config_.starts == starts_ ? 0 : preflight_.check(config_.starts);
}

// Those that are left have their turn after a pass, if one is due: however much is asked, jobs are
// scheduled.
void Scheduler::take_messages(Time now) {
    const auto end = Clock::now() + kListening;
    while (const auto is_urgent = dispatcher_.take(now)) {
        if (*is_urgent) passes_.hurry();
        if (Clock::now() >= end) return wakeup_.notify();
    }
}

// Before anybody is told that a job takes part, others that may preempt it have it asked.
void Scheduler::note_askable(Time now) {
    if (gate_.asks()) gate_.set_askable(controller::askable_jobs(state_, config_, now));
}

// As Slurm's own loops: nodes of a job that completes are to come free together, or others have so
// much to do that they need the locks.
bool Scheduler::must_defer() const {
    const int most = cluster_.parameters().most_threads;
    return completing_ || (most && busy_threads() >= most);
}

// Only where a pass would begin, since it takes the locks.
void Scheduler::note_completing() {
    const bool before = std::exchange(completing_, false);
    completing_ = pass_is_due() && any_job_completes();
    if (completing_ && !before) log_debug("no pass begins while a job completes (CompleteWait)");
}

bool Scheduler::may_plan() const {
    return may_schedule() && supply_.is_ready() && !must_defer();
}

bool Scheduler::pass_is_due() const {
    const Duration interval = std::max(config_.interval, cluster_.parameters().least_interval);
    return may_plan() && passes_.is_due(Clock::now(), interval, last_change());
}

// What queries are answered with, as of the last reading.
void Scheduler::read_site() {
    const View& view = cluster_.view();
    site_.private_jobs = view.private_jobs;
    site_.nodes = view.nodes_in_all;
    site_.idle = view.snapshot.idle();
    site_.private_nodes = cluster_.nodes().are_private();
    site_.node_counts = cluster_.nodes().counts();
    if (cluster_.nodes().revision() != node_names_) {
        site_.node_names = cluster_.nodes().names();
        node_names_ = cluster_.nodes().revision();
    }
    site_.timings.lock = lock_statistics().held;
    site_.timings.lock_processor = lock_statistics().processor;
}

// [lina] algorithm 1 on Slurm: snapshot, plan, act; and again for what Slurm refused.
void Scheduler::pass() {
    const auto begin = Clock::now();
    passes_.begin(begin, time(nullptr));
    if (!server_.is_started()) deafness_.report(server_.start(locked_server_options(config_)));
    Time now = wall_clock();
    negotiation_.follow_steps(now);
    cluster_.read_for_pass(now);
    read_site();
    const View& view = cluster_.view();
    supply_.announce(supply_in(view), view.supply_errors, now);
    warnings_.name_who_cannot_leave(view.snapshot);
    Cycle cycle{.queue = cluster_.queued(), .looked_at = view.snapshot.pending.size()};
    const core::Plan* plan = &planner_.plan(config_, view.snapshot);
    cycle.count(*plan);
    while (cluster_.carry_out(*plan, now) && Clock::now() - begin < kLongestPass && !must_defer()) {
        now = wall_clock();
        cluster_.read_again(now);
        plan = &planner_.plan(config_, view.snapshot);
    }
    site_.reserved = cluster_.reserved();
    const auto end = Clock::now();
    passes_.end(end);
    cycle.length = std::chrono::duration<double>(end - begin).count();
    site_.timings.passes.add(cycle.length);
    if (config_.starts == core::Starts::elastic) count_cycle(cycle);
    cluster_.forecaster().begin_if_due();
}

}  // namespace elastic::slurm
