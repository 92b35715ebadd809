// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler inside slurmctld: one thread that plans and acts, beside one that talks (Server).
#pragma once

#include <atomic>
#include <thread>

#include "controller/announcer.hpp"
#include "controller/dispatcher.hpp"
#include "controller/kept_config.hpp"
#include "controller/outage.hpp"
#include "controller/output_commit.hpp"
#include "controller/pass_clock.hpp"
#include "controller/queries.hpp"
#include "controller/server.hpp"
#include "controller/stable_storage.hpp"
#include "controller/supply_tracker.hpp"
#include "controller/wakeup.hpp"
#include "controller/warnings.hpp"
#include "core/pass/recording.hpp"
#include "slurm/act/cluster_control.hpp"
#include "slurm/hosted_scheduler.hpp"
#include "slurm/preflight.hpp"

namespace elastic::slurm {

// Whether a slurmctld begins, or goes on: with the work of another one (a backup), or with its own
// where `scontrol reconfigure` has executed it anew.
enum class Start { first, again };

class Scheduler {
  public:
    Scheduler();
    ~Scheduler();

    // Reads elastic.conf, restores what was in flight, listens, and begins.  An error says what is
    // wrong with which file or setting; nothing runs then.  A controller that goes on after others
    // goes by the last good elastic.conf instead, and without what fails, as its log says.
    Result<void> start(Start);
    void stop();
    // Says what is wrong with slurm.conf, as it has just been read, and rereads elastic.conf soon;
    // a bad file keeps the old configuration.
    void reconfigure();

  private:
    void run();
    bool wait();
    Result<core::Config> first_configuration(Start);
    Result<void> open_storage(Start);
    Result<void> listen(Start);
    Result<void> host_slurms();
    void name_scheduler();
    void take_configuration(Time now);
    std::size_t locked_check();
    bool settle_starts(std::size_t wrong);
    void take_messages(Time now);
    void note_askable(Time now);
    bool must_defer() const;
    void note_completing();
    bool may_plan() const;
    bool pass_is_due() const;
    void pass();
    void read_site();

    controller::Wakeup wakeup_;
    std::atomic<bool> stopping_ = false, reconfigure_ = false;  // each with a notification

    std::atomic<core::Starts> starts_ = core::Starts::elastic;  // as in force

    controller::KeptConfig kept_config_;
    core::Config config_;
    controller::State state_;
    controller::Outbox outbox_;
    controller::Site site_;
    controller::Negotiation negotiation_{config_, state_, outbox_};
    controller::Queries queries_{config_, state_, outbox_, negotiation_, site_};
    controller::Server server_{[this] { wakeup_.notify(); }};
    controller::Dispatcher dispatcher_{server_, negotiation_, queries_};
    controller::SupplyTracker supply_{outbox_, site_, [this] { wakeup_.notify(); }};
    controller::Outage deafness_{"no application can connect until that works",
                                 "applications can connect again"};
    controller::Announcer announcer_{config_, site_, outbox_};
    controller::Warnings warnings_{state_, site_};
    controller::StableStorage storage_{config_, state_, site_};
    std::uint64_t node_names_ = 0;  // which of the reader's site_ has
    std::string folder_;            // StateSaveLocation as of the start
    controller::OutputCommit output_;
    controller::PassClock passes_;
    bool completing_ = false;  // a job is, and CompleteWait has passes wait for its nodes
    core::RecordedPlanner planner_;
    std::atomic<bool> has_preemptor_ = false;  // a new one, with a notification
    controller::PreemptionGate gate_{[this] {
        has_preemptor_ = true;
        wakeup_.notify();
    }};
    ClusterControl cluster_{config_, state_, outbox_, negotiation_, gate_};
    HostedScheduler hosted_;
    Preflight preflight_;  // called where Slurm cannot be reading slurm.conf
    std::thread thread_;
};

}  // namespace elastic::slurm
