// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler inside slurmctld: one thread that plans and acts, beside one that talks (Server).
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "controller/queries.hpp"
#include "controller/reception.hpp"
#include "controller/server.hpp"
#include "controller/site.hpp"
#include "controller/supply_source.hpp"
#include "core/pass/planner.hpp"
#include "core/pass/recording.hpp"
#include "journal/journal.hpp"
#include "slurm/act/executor.hpp"
#include "slurm/read/cluster_reader.hpp"

namespace elastic::slurm {

class Scheduler {
  public:
    Scheduler();
    ~Scheduler();

    // Reads elastic.conf, restores what was in flight, listens, and begins.  An
    // error says what is wrong with which file or setting; nothing runs then.
    Result<void> start();
    void stop();
    // Says what is wrong with slurm.conf, as it has just been read, and rereads elastic.conf soon;
    // a bad file keeps the old configuration.
    void reconfigure();

  private:
    std::size_t name_settings();
    void run();
    bool wait();
    void wake();
    void take_messages(Time now);
    void take_configuration(Time now);
    bool may_schedule() const;
    bool pass_is_due() const;
    void pass();
    void read_site();
    void follow_supply(Time now);
    void announce_supply(Time now);
    void name_supply_errors();
    void name_who_cannot_leave();
    void name_heterogeneous();
    std::string recorded_pass() const;
    const core::Plan& plan();
    void flush();
    void save_slurm();
    bool must_wait_to_tell() const;
    void save_and_write(const std::vector<journal::Event>&);
    void report(bool& failed, const Result<void>& saved, const char* consequence);
    Result<void> open_journal();
    void announce(journal::Controller::What, Time now);
    controller::ServerOptions server_options() const;

    using Clock = std::chrono::steady_clock;
    static Clock::time_point ration(Clock::time_point allowed, Clock::time_point begin);

    core::Config config_;
    // StateSaveLocation as of the start: a change of it needs a restart, and Slurm frees its texts
    // and makes them anew whenever it reads slurm.conf.
    std::string state_directory_;
    controller::State state_;
    controller::Outbox outbox_;
    controller::Site site_;
    Reading reading_;
    core::PlanInputs planned_;  // in the last pass; its seed is 0 before the first
    core::Plan plan_;           // made of that

    controller::Negotiation negotiation_{config_, state_, outbox_};
    controller::Queries queries_{config_, state_, outbox_, negotiation_, site_};
    Observer observer_{state_, outbox_, negotiation_};
    AgreedNodes agreed_{state_.book, state_.groups};
    Placement placement_{agreed_, reading_.view};
    ClusterReader reader_{config_, state_, observer_, agreed_, reading_};
    Settlement settlement_{state_, outbox_, negotiation_, observer_, agreed_, placement_, reading_};
    GroupRunner groups_{state_, outbox_, observer_, settlement_, agreed_, reading_};
    Executor executor_{state_,      outbox_, negotiation_, observer_,
                       settlement_, groups_, placement_,   reading_};
    journal::Writer journal_;
    core::Planner planner_;
    std::int64_t next_seed_ = 1;  // each plan has its own, so that it can be made again
    controller::Server server_;
    controller::Reception reception_{server_, negotiation_, queries_};

    controller::SupplySource supply_source_{[this] { wake(); }};
    core::SupplyClock supply_;  // as it was read last

    std::vector<std::string> doubtful_;  // settings of slurm.conf that the log has named

    std::set<JobId> heterogeneous_;  // jobs of that kind that the log has named

    bool urgent_ = true;  // a pass should follow as soon as may be
    Clock::time_point last_pass_{};
    Clock::time_point pass_allowed_{}, save_allowed_{};
    time_t seen_until_ = 0;           // changes up to this second were seen by a pass
    bool save_failed_ = false;        // our state, at the last attempt
    bool slurm_save_failed_ = false;  // Slurm's
    int announced_nodes_ = 0;         // by the journal

    std::mutex mutex_;  // for the three below
    std::condition_variable wakeup_;
    bool stopping_ = false;
    bool reconfigure_ = false;
    bool woken_ = false;  // something has come since the thread last looked
    std::thread thread_;
};

}  // namespace elastic::slurm
