// SPDX-License-Identifier: MIT
// What `selastic top` knows of the cluster, asked for once a second over a link that comes back.
#pragma once

#include <memory>

#include "common/result.hpp"
#include "journal/event.hpp"
#include "libelastic/link.hpp"
#include "selastic/top_frame.hpp"

namespace elastic::tools {

class TopWatch : private libelastic::LinkUser {
  public:
    TopWatch(protocol::Endpoint, std::unique_ptr<protocol::Seal>);

    int fd() const { return link_.fd(); }
    // Does what there is to do, for at most so many milliseconds; asks when it is time.
    void run(int timeout_ms);
    // What is known now.
    TopData data() const;
    // Each question has been answered once at least.
    bool has_all() const { return data_.answered && journal_answered_; }
    // The controller has said no for good, or does not speak with us.
    bool over() const { return link_.off(); }
    const std::string& trouble() const { return link_.trouble(); }
    // For programs: the last answers.
    Json to_json() const;

  private:
    protocol::Hello hello() override;
    void welcomed(const protocol::Welcome&) override { ask(); }
    void received(const protocol::Message&) override;
    void refused(const protocol::Failure&) override {}
    void ask();
    void on_jobs(const Json&);
    void on_journal(const Json&);

    TopData data_;
    Json last_events_ = Json::array();
    journal::JobNames names_;
    std::string after_;  // where the journal goes on
    std::int64_t token_ = 0, jobs_token_ = 0, journal_token_ = 0;
    bool journal_answered_ = false;
    Time due_ = 0, heard_;
    libelastic::Link link_;
};

Result<std::unique_ptr<TopWatch>> watch_cluster();

}  // namespace elastic::tools
