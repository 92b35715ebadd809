// SPDX-License-Identifier: GPL-2.0-or-later
// The thread waits until something happens: a message, a deadline, a change in
// Slurm's records (looked for every Interval; Slurm has no hook), a
// configuration.  Then it handles messages, moves ripe agreements forward,
// makes a planning pass if one is due, saves, and only then tells the outside.
//
// Passes are rationed.  They are at least Interval apart unless an application or
// user waits, and each has to be followed by twice its length without one, so
// that planning never takes more than a third of a processor and never starves
// slurmctld of its locks.  The same goes for saving Slurm's job state, which has to come before a
// resize is told and takes milliseconds a thousand jobs, part of them with a lock: what is to be
// told waits meanwhile, and many resizes are told after one saving.  A quiet time is kept as
// credit, up to kCredit: one who asks is not made to wait because there was a pass just before.
#include "slurm/scheduler.hpp"

#include <algorithm>

#include "common/log.hpp"
#include "common/text.hpp"
#include "controller/state_file.hpp"
#include "controller/telling.hpp"
#include "protocol/endpoint.hpp"
#include "slurm/act/exclusive_counts.hpp"
#include "slurm/drain.hpp"
#include "slurm/preflight.hpp"
#include "slurm/saving.hpp"
#include "slurm/site_config.hpp"

namespace elastic::slurm {

namespace {

constexpr auto kLongestPass = std::chrono::seconds(1);      // with what is planned again
constexpr auto kListening = std::chrono::milliseconds(20);  // to messages, before all else
constexpr Duration kLeastInterval = 0.01;                   // between two looks, with Interval=0
constexpr auto kCredit = std::chrono::milliseconds(300);
constexpr auto kCheapSave = std::chrono::milliseconds(10);  // not rationed
constexpr auto kIdlePass = std::chrono::seconds(2);         // time passes, estimates run out

Time wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::chrono::duration<double> seconds(double value) {
    return std::chrono::duration<double>(value);
}

// To be called where Slurm cannot be reading slurm.conf just now.
std::string munge_socket() {
    return protocol::munge_socket_of(slurm_conf.authinfo ? slurm_conf.authinfo : "");
}

// What sdiag shows of a scheduler's cycles; `queue` is the number of jobs that wait.
void count_cycle(double length, std::size_t queue) {
    const auto microseconds = static_cast<std::uint32_t>(length * 1e6);
    diag_stats_t& shown = slurmctld_diag_stats;
    shown.schedule_cycle_max = std::max(shown.schedule_cycle_max, microseconds);
    shown.schedule_cycle_last = microseconds;
    shown.schedule_cycle_sum += microseconds;
    ++shown.schedule_cycle_counter;
    shown.schedule_cycle_depth += static_cast<std::uint32_t>(queue);
    shown.schedule_queue_len = static_cast<std::uint32_t>(queue);
}

// The latest second in which Slurm changed anything that matters here.
time_t last_change() {
    return std::max({last_job_update, last_node_update, last_part_update, last_resv_update});
}

}  // namespace

Scheduler::Scheduler() : server_([this] { wake(); }) {
    site_.is_operator = [](uid_t uid) { return uid == 0 || validate_operator(uid); };
    site_.user_name = user_name;
    site_.drain = drain;
    site_.recorded_pass = [this] { return recorded_pass(); };
}

Scheduler::~Scheduler() {
    stop();
}

Result<void> Scheduler::start() {
    if (const std::size_t wrong = name_settings())
        return elastic::error("slurm.conf: {} wrong settings", wrong);

    auto config = read_site_config();
    if (!config) return config.error();
    config_ = *config;
    state_directory_ = slurm_conf.state_save_location;
    state_.book = controller::AgreementBook(time(nullptr));
    next_seed_ = time(nullptr);
    if (auto loaded = load_state_file(state_directory_ + "/elastic_state", state_); !loaded)
        log_error("{}: what was in flight is given up", loaded.error().message);
    if (auto opened = open_journal(); !opened) return opened.error();
    if (auto completed = journal_.complete(state_.telling); !completed)
        log_error("{}", completed.error().message);
    if (auto started = server_.start(server_options()); !started) return started.error();
    supply_source_.configure(config_);
    stopping_ = false;
    thread_ = std::thread([this] { run(); });
    log_info("built for Slurm {}, policy {}, listening on port {}, journal {}", kBuiltForSlurm,
             config_.policy_name, config_.listen_port, journal_.path());
    return {};
}

controller::ServerOptions Scheduler::server_options() const {
    return {config_.listen_port, munge_socket(), config_.max_connections,
            config_.max_connections_per_user};
}

Result<void> Scheduler::open_journal() {
    std::string path = config_.journal_file;
    if (path.empty()) path = state_directory_ + "/elastic.journal";
    auto opened = journal_.path() == path ? journal_.reopen() : journal_.open(path);
    if (opened) site_.journal_path = path;
    return opened;
}

void Scheduler::stop() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard guard(mutex_);
        stopping_ = true;
    }
    wake();
    thread_.join();
    supply_source_.stop();
    server_.stop();
}

// Of slurm.conf: how many are wrong.
std::size_t Scheduler::name_settings() {
    const auto wrong = wrong_settings();
    for (const std::string& line : wrong) log_error("slurm.conf: {}", line);
    auto doubtful = doubtful_settings();
    for (const std::string& line : doubtful)
        if (std::ranges::find(doubtful_, line) == doubtful_.end()) log_info("slurm.conf: {}", line);
    doubtful_ = std::move(doubtful);
    return wrong.size();
}

// Slurm calls it while it reads slurm.conf, before it puts back what it does not change without a
// restart (SelectType): so all is named that the next start would refuse.
void Scheduler::reconfigure() {
    if (const std::size_t wrong = name_settings())
        log_error(
            "slurm.conf: {} wrong settings: the scheduler goes on as well as it can, but slurmctld "
            "would not start with them; correct them, then `scontrol reconfigure`",
            wrong);
    {
        std::lock_guard guard(mutex_);
        reconfigure_ = true;
    }
    wake();
}

void Scheduler::wake() {
    std::lock_guard guard(mutex_);
    woken_ = true;
    wakeup_.notify_one();
}

// ---- the thread

void Scheduler::run() {
    Time now = wall_clock();
    // First of all the table must be as Slurm's records are: applications that
    // reconnect are answered from it.
    reader_.read(now);
    read_site();
    negotiation_.after_restart(now);
    announce(journal::Controller::What::start, now);
    settlement_.settle(now);
    flush();
    while (wait()) {
        now = wall_clock();
        take_configuration(now);
        follow_supply(now);
        take_messages(now);
        urgent_ |= negotiation_.check_deadlines(now);
        if (negotiation_.next_step() <= now) urgent_ |= negotiation_.follow_steps(now);
        settlement_.settle(now);
        if (pass_is_due()) pass();
        if (site_.nodes != announced_nodes_) announce(journal::Controller::What::reconfigure, now);
        state_.book.forget_finished();
        if (!must_wait_to_tell()) flush();
    }
    now = wall_clock();
    announce(journal::Controller::What::stop, now);
    flush();
}

// Until something happens.  False when it is time to stop.
bool Scheduler::wait() {
    std::unique_lock guard(mutex_);
    const auto after = [](Duration time) {
        return Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds(time));
    };
    auto until = after(std::max(config_.interval, kLeastInterval));
    if (urgent_ && may_schedule()) until = std::min(until, pass_allowed_);
    if (outbox_.resized) until = std::min(until, save_allowed_);
    double deadline =
        std::min({state_.book.next_deadline(), negotiation_.next_step(), supply_.next()}) -
        wall_clock();
    // What is overdue already waits for the pass that is urgent because of it.
    if (deadline > 0 && deadline < 3600) until = std::min(until, after(deadline));
    if (settlement_.next_join() < kNever)
        until = std::min(until, after(settlement_.next_join() - wall_clock()));
    wakeup_.wait_until(guard, until, [this] { return woken_; });
    woken_ = false;
    return !stopping_;
}

void Scheduler::take_configuration(Time now) {
    {
        std::lock_guard guard(mutex_);
        if (!std::exchange(reconfigure_, false)) return;
    }
    auto config = read_site_config();
    if (!config) {
        log_error("{}; the configuration before stays in force", config.error().message);
        return;
    }
    config_ = *config;
    if (auto opened = open_journal(); !opened)
        log_error(
            "{}; events go on into the file that was open, and slurmctld would not start so: "
            "correct it, then `scontrol reconfigure`",
            opened.error().message);
    controller::ServerOptions options = [this] {
        ControllerLock lock;
        return server_options();
    }();
    if (auto adopted = server_.reconfigure(options); !adopted)
        log_error("{}; applications are served as before", adopted.error().message);
    supply_source_.configure(config_);
    log_info("configuration read: policy {}", config_.policy_name);
    announce(journal::Controller::What::reconfigure, now);
    urgent_ = true;
}

// Nobody holds a node before the journal has said that it exists.
void Scheduler::announce(journal::Controller::What what, Time now) {
    announced_nodes_ = site_.nodes;
    auto& events = outbox_.events;
    bool last = events.empty() || what == journal::Controller::What::stop;
    journal::Event event{last ? now : events.front().time,
                         journal::Controller{what, announced_nodes_, config_.policy_name}};
    events.insert(last ? events.end() : events.begin(), std::move(event));
}

// Those that are left have their turn after a pass, if one is due: however much is asked, jobs
// are scheduled.
void Scheduler::take_messages(Time now) {
    const auto end = Clock::now() + kListening;
    while (const auto is_urgent = reception_.take(now)) {
        urgent_ |= *is_urgent;
        if (Clock::now() >= end) return wake();
    }
}

// As Slurm's own loop: not in a backup with no_backup_scheduling, not while going down.
bool Scheduler::may_schedule() const {
    return !slurmctld_config.scheduling_disabled && !slurmctld_config.shutdown_time;
}

bool Scheduler::pass_is_due() const {
    if (!may_schedule() || !supply_source_.is_ready()) return false;
    auto now = Clock::now();
    if (now < pass_allowed_) return false;
    if (urgent_) return true;
    if (now - last_pass_ < seconds(config_.interval)) return false;
    // Slurm's marks have a resolution of one second: a change in the second of
    // the last pass may have come before or after it.
    return last_change() >= seen_until_ || now - last_pass_ >= kIdlePass;
}

// What queries are answered with, as of the last reading.
void Scheduler::read_site() {
    site_.private_jobs = reading_.view.private_jobs;
    site_.nodes = reading_.view.nodes_in_all;
    site_.idle = reading_.view.snapshot.idle();
    site_.timings.lock = lock_statistics().held;
    site_.timings.lock_processor = lock_statistics().processor;
}

// Terms change when a source says so, or at a time that it has said before.
void Scheduler::follow_supply(Time now) {
    site_.supply_complaint = supply_source_.complaint();
    auto news = supply_source_.take();
    if (news) supply_ = core::SupplyClock(*std::move(news));
    if (!supply_.advance(now) && !news) return;
    reading_.terms = supply_.terms();
    urgent_ = true;
}

// Once each, as long as they last.
void Scheduler::name_supply_errors() {
    const std::vector<std::string>& errors = reading_.view.supply_errors;
    for (const std::string& error : errors)
        if (std::ranges::find(site_.supply_errors, error) == site_.supply_errors.end())
            log_error("supply: {}", error);
    site_.supply_errors = errors;
}

// What has changed, with the nodes as Slurm knows them now.
void Scheduler::announce_supply(Time now) {
    const View& view = reading_.view;
    name_supply_errors();
    if (view.supply.empty() && site_.supply.empty()) return;
    std::vector<journal::Supply> in_force;
    for (const SupplySet& set : view.supply)
        in_force.push_back(
            {set.terms.nodes, set.nodes.text(), set.terms.price, set.terms.most.value_or(-1)});
    for (journal::Supply& before : site_.supply)
        if (std::ranges::find(in_force, before.name, &journal::Supply::name) == in_force.end())
            outbox_.note(now, journal::Supply{before.name, before.nodes});
    for (const journal::Supply& supply : in_force) {
        if (std::ranges::find(site_.supply, supply) != site_.supply.end()) continue;
        outbox_.note(now, supply);
        log_info("supply: {}", journal::describe({now, supply}));
    }
    site_.supply = std::move(in_force);
}

// Once each: a batch script cannot move, so its job keeps a node that is to be left.
void Scheduler::name_who_cannot_leave() {
    std::map<JobId, std::string> bound;
    const core::Snapshot& snapshot = reading_.view.snapshot;
    for (const core::RunningJob& job : snapshot.running) {
        const core::Pool& pool = snapshot.pools[job.batch_host_pool];
        if (!job.elastic.malleable || !pool.failing) continue;
        const controller::Job* entry = state_.jobs.find(job.id);
        if (!entry || entry->batch_host.empty()) continue;
        bound.emplace(job.id, entry->batch_host);
        if (site_.bound.contains(job.id)) continue;
        log_info(
            "job {0}: cannot leave {1}, which is {2}: its batch script runs there; wait for its "
            "end, or `scontrol requeue {0}`",
            entry->label(), entry->batch_host,
            pool.maintained ? "reserved for maintenance" : "drained or failing");
    }
    site_.bound = std::move(bound);
}

// Once each: they were submitted while another scheduler was configured, and are refused since.
void Scheduler::name_heterogeneous() {
    for (const JobId id : reading_.view.heterogeneous)
        if (!heterogeneous_.contains(id))
            log_info(
                "job {0}: is heterogeneous (with ':' between its components), which sched/elastic "
                "does not start: `scancel {0}` and submit it as one job, or configure "
                "SchedulerType=sched/backfill again; until then it waits",
                id);
    heterogeneous_ = reading_.view.heterogeneous;
}

std::string Scheduler::recorded_pass() const {
    return planned_.seed == 0 ? "" : core::to_json(planned_, plan_).dump();
}

// Keeps what the plan was made of: the view may be read anew before anybody asks.
const core::Plan& Scheduler::plan() {
    core::PlanInputs& inputs = planned_;
    inputs.policy_name = config_.policy_name;
    inputs.policy = config_.policy;
    inputs.seed = next_seed_++;
    inputs.snapshot = reading_.view.snapshot;
    plan_ = core::make_plan(planner_, inputs);
    return plan_;
}

// [lina] algorithm 1 on Slurm: snapshot, plan, act; and again for what Slurm
// refused.
void Scheduler::pass() {
    auto begin = Clock::now();
    seen_until_ = time(nullptr);
    urgent_ = false;
    Time now = wall_clock();
    negotiation_.follow_steps(now);
    mend_exclusive_counts();
    reader_.read_queue();
    groups_.advance(now);
    reader_.read_again(now);
    read_site();
    announce_supply(now);
    name_who_cannot_leave();
    name_heterogeneous();
    const std::size_t waiting = reading_.view.snapshot.pending.size();
    while (executor_.carry_out(plan(), now) && Clock::now() - begin < kLongestPass) {
        now = wall_clock();
        reader_.read_again(now);
    }
    last_pass_ = Clock::now();
    const double length = std::chrono::duration<double>(last_pass_ - begin).count();
    site_.timings.passes.add(length);
    count_cycle(length, waiting);
    pass_allowed_ = ration(pass_allowed_, begin);
}

// When work that began at `begin` and has just ended may be done again.
Scheduler::Clock::time_point Scheduler::ration(Clock::time_point allowed, Clock::time_point begin) {
    return std::max(allowed, begin - kCredit) + 3 * (Clock::now() - begin);
}

// Whether what is to be told has to wait for its saving.
bool Scheduler::must_wait_to_tell() const {
    return outbox_.resized && Clock::now() < save_allowed_;
}

// Once, until it works again.
void Scheduler::report(bool& failed, const Result<void>& saved, const char* consequence) {
    if (!saved && !failed) log_error("{}; {}", saved.error().message, consequence);
    if (saved && failed) log_info("state is saved again");
    failed = !saved;
}

// Called when there are events or an agreement has changed without one.  What else the state file
// holds changes with an event, but for what applications say of their progress: a hint that they
// repeat, and too frequent to be worth a file each.
//
// A journal that lacks events is told what there is in place of what has happened since.
void Scheduler::save_and_write(const std::vector<journal::Event>& events) {
    if (auto looked = journal_.look(); !looked)
        log_error("{}; the file was deleted, events are lost until that works again",
                  looked.error().message);
    const bool tells_anew = journal_.has_gap() && !events.empty();
    state_.telling = journal_.prepare(
        tells_anew ? tell_anew(state_.jobs, site_, config_.policy_name, wall_clock()) : events);
    auto saved = [this] {
        controller::Stopwatch watch(site_.timings.states);
        return save_state_file(state_directory_ + "/elastic_state", state_);
    }();
    report(save_failed_, saved, "agreements would not survive a restart");
    if (auto written = journal_.write(state_.telling); !written)
        log_error("{}", written.error().message);
}

void Scheduler::save_slurm() {
    auto begin = Clock::now();
    {
        controller::Stopwatch watch(site_.timings.saves);
        report(slurm_save_failed_, save_jobs_now(), "resizes would not survive a crash");
    }
    if (Clock::now() - begin > kCheapSave) save_allowed_ = ration(save_allowed_, begin);
}

// Slurm's records and our state first, then the journal, then applications: whatever somebody has
// been told is still true after a crash, unless the log says that the state cannot be saved.
void Scheduler::flush() {
    controller::Outbox out = std::exchange(outbox_, {});
    if (out.resized)
        save_slurm();
    else if (out.changed)
        save_state();
    if (out.unsaved || !out.events.empty()) save_and_write(out.events);
    reception_.tell(std::move(out));
}

}  // namespace elastic::slurm
