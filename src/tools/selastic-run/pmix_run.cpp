// SPDX-License-Identifier: MIT
// The program's step stays where it is, whatever becomes of the job: nodes that come are the
// program's to use, by steps of its own, and it gives back those that it has left.  So what the
// scheduler offers is declined, and the job is one that asks (evolving).
//
// Always holds: of the requests one is under way, the first; each is answered once, at the latest
// when the program has ended.
#include "selastic-run/pmix_run.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/environment.hpp"
#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "program.hpp"
#include "selastic-run/elastic_run.hpp"
#include "selastic-run/nodes.hpp"
#include "selastic-run/pmix_server.hpp"

namespace elastic::tools {
namespace {

constexpr Duration kAsLongAsItTakes = 1e9;

PmixJob pmix_job(const elastic_handle* job, const RunOptions& options) {
    auto nodes = host_names(elastic_nodelist(job));
    if (nodes.empty()) throw std::runtime_error("the job's nodes are not known");
    return {variable("SLURM_JOB_ID"), std::move(nodes), tasks_per_node(options)};
}

class PmixRun : public ElasticRun {
  public:
    PmixRun(elastic_handle* job, const RunOptions& options)
        : ElasticRun(job), options_(options), server_(pmix_job(job, options)) {}

  private:
    void start() override;
    void offered(const JobEvent& event) override {
        decline(event, "the program asks by PMIx when it wants another size");
    }
    void accepted(const JobEvent&) override {}
    void queued(const JobEvent& event) override;
    void resized(const JobEvent& event) override;
    void ended(const JobEvent& event) override;
    void on_end(pid_t process, int status) override;
    void on_signal(int number) override { ::kill(step_, number); }
    void look() override;
    int descriptor() const override { return server_.descriptor(); }

    bool waits_for(const JobEvent& event) const;
    bool begin(PmixRequest& request);
    bool begin_more(PmixRequest& request);
    bool begin_fewer(const PmixRequest& request);
    void answer(PmixAnswer answer, const PmixChange& change = {});

    const RunOptions& options_;
    PmixServer server_;
    std::deque<PmixRequest> requests_;
    bool under_way_ = false;  // the first of them
    std::int64_t op_ = 0;     // of that; 0: not known
    std::int64_t given_ = 0;  // nodes that the program has given back and not got again
    StepPlace place_ = {};
    pid_t step_ = -1;
};

// srun gives each process a number, which is its rank here.
void PmixRun::start() {
    RunOptions options = options_;
    const std::string exported = variable("SLURM_EXPORT_ENV");
    std::string list = exported;
    for (const auto& [name, value] : server_.environment()) {
        ::setenv(name.c_str(), value.c_str(), 1);
        list = with_export(list, name);
    }
    if (!exported.empty()) ::setenv("SLURM_EXPORT_ENV", list.c_str(), 1);
    Words command{"sh", "-c", "PMIX_RANK=$SLURM_PROCID exec \"$@\"", "sh"};
    command.insert(command.end(), options.program.begin(), options.program.end());
    place_ = place_on(elastic_nodelist(job()));
    options.srun_options.insert(
        options.srun_options.begin(),
        {"--job-name=" + program_name(options), "--mpi=none", "--distribution=block"});
    set_environment(options, place_);
    step_ = start_process(srun_words(options, command, place_));
}

void PmixRun::look() {
    for (PmixRequest& request : server_.take_requests()) requests_.push_back(std::move(request));
    while (!under_way_ && !requests_.empty()) {
        op_ = 0;
        under_way_ = begin(requests_.front());
        if (!under_way_) requests_.pop_front();
    }
}

// Whether it is under way; else it has been answered.
bool PmixRun::begin(PmixRequest& request) {
    const bool begun =
        request.what == PmixRequest::What::kFewer ? begin_fewer(request) : begin_more(request);
    if (begun) return true;
    note("a request by PMIx is refused: {}", request.what == PmixRequest::What::kFewer
                                                 ? "it gives back what it has not got beside the "
                                                   "nodes of its own processes"
                                                 : elastic_detail(job()));
    server_.answer(request, elastic_connected(job()) ? PmixAnswer::kBad : PmixAnswer::kNotNow);
    return false;
}

bool PmixRun::begin_more(PmixRequest& request) {
    if (request.nodes == 0) request.nodes = given_;
    const auto nodes = static_cast<int>(std::min<std::int64_t>(request.nodes, INT32_MAX));
    return elastic_request(job(), nodes, nodes, request.timeout.value_or(kAsLongAsItTakes)) ==
           ELASTIC_OK;
}

// None of those on which its own processes run, which the end of their step would end.
bool PmixRun::begin_fewer(const PmixRequest& request) {
    std::string nodes = request.node_list;
    if (nodes.empty()) {
        auto joined = host_names(without_hosts(elastic_nodelist(job()), place_.node_list));
        if (std::cmp_greater(request.nodes, joined.size())) return false;
        nodes =
            compress_hostlist(last_hosts(std::move(joined), "", static_cast<int>(request.nodes)));
    }
    return common_hosts(nodes, place_.node_list).empty() &&
           elastic_release(job(), 0, nodes.c_str()) == ELASTIC_OK;
}

bool PmixRun::waits_for(const JobEvent& event) const {
    if (!under_way_) return false;
    const bool fewer = requests_.front().what == PmixRequest::What::kFewer;
    return event.kind == (fewer ? ELASTIC_SHRINK : ELASTIC_EXPAND) &&
           (op_ == 0 || event.op == 0 || event.op == op_);
}

void PmixRun::queued(const JobEvent& event) {
    if (waits_for(event)) op_ = event.op;
}

void PmixRun::resized(const JobEvent& event) {
    PmixChange change{fmt::format("{}", fmt::join(host_names(event.node_list), ",")), event.nodes};
    const bool more = event.kind == ELASTIC_EXPAND;
    if (more && event.op > 0) elastic_done(job(), event.op);
    note("resize: {} -> {} nodes by PMIx",
         more ? event.size - event.nodes : event.size + event.nodes, event.size);
    // Nodes that were lost have an agreement with nobody.
    if (event.op > 0 && waits_for(event)) {
        change.id = requests_.front().id;
        given_ = std::max<std::int64_t>(0, given_ + (more ? -event.nodes : event.nodes));
        answer(PmixAnswer::kDone, change);
    }
    server_.tell(change);
}

void PmixRun::ended(const JobEvent& event) {
    if (!waits_for(event)) return;
    note("a request by PMIx has come to nothing: {}", printable(event.reason));
    answer(event.outcome == ELASTIC_EXPIRED     ? PmixAnswer::kTooLate
           : event.outcome == ELASTIC_CANCELLED ? PmixAnswer::kWithdrawn
                                                : PmixAnswer::kRefused);
}

void PmixRun::answer(PmixAnswer answer, const PmixChange& change) {
    server_.answer(requests_.front(), answer, change);
    requests_.pop_front();
    under_way_ = false;
}

void PmixRun::on_end(pid_t process, int status) {
    if (process != step_) return;
    if (under_way_ && requests_.front().what != PmixRequest::What::kFewer) elastic_cancel(job(), 0);
    for (const PmixRequest& request : requests_) server_.answer(request, PmixAnswer::kWithdrawn);
    requests_.clear();
    finish(status);
}

}  // namespace

int run_with_pmix(elastic_handle* job, const RunOptions& options) {
    return PmixRun(job, options).run();
}

}  // namespace elastic::tools
