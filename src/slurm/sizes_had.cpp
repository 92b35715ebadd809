// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's accounting has a record for each size of a job, of which sacct shows the last one alone,
// so that a job looks as if it had had its last nodes for its last minutes and no more. The whole
// is in its admin comment, which slurmctld sends to slurmdbd with the end of a job and in no other
// message that waits for nobody; so the end is sent again, by which slurmdbd writes the same record
// anew.
#include "slurm/sizes_had.hpp"

#include <algorithm>
#include <cmath>

#include "common/text.hpp"
#include "core/model/annotation/remarks.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

double rounded(double value, double digits) {
    return std::round(value * digits) / digits;
}

Json size_had(int nodes, Duration seconds) {
    return Json::object().set("nodes", Json(nodes)).set("seconds", Json(rounded(seconds, 10)));
}

// Of a run that has ended `passed` seconds after its begin, with `nodes` nodes.  Slurm's times are
// in whole seconds, so it may seem to have ended before its last resize.
Json sizes_had(const controller::NodeTime& time, Duration passed, int nodes) {
    passed = std::max(passed, time.counted());
    Json sizes = Json::array();
    for (const auto& size : time.sizes()) sizes.push(size_had(size.nodes, size.seconds));
    sizes.push(size_had(nodes, passed - time.counted()));
    return Json::object()
        .set("node_hours", Json(rounded(time.seconds(passed, nodes) / 3600, 10000)))
        .set("sizes", sizes);
}

void set_admin_comment(job_record_t* job, const std::string& text) {
    xfree(job->admin_comment);
    job->admin_comment = xstrdup(text.c_str());
    last_job_update = time(nullptr);
}

}  // namespace

void record_sizes_had(job_record_t* job, const controller::Job& known) {
    if (!known.elastic || known.node_time.sizes().empty()) return;
    const auto kept = Json::parse(text(job->admin_comment));
    if (!kept || !kept->is_object()) return;
    const Duration passed = time_had(job);
    const int nodes = known.running ? known.nodes : static_cast<int>(job->total_nodes);
    Json with_sizes = *kept;
    with_sizes.set(core::kSizesHad, sizes_had(known.node_time, passed, nodes));
    set_admin_comment(job, with_sizes.dump());
    jobacct_storage_g_job_complete(acct_db_conn, job);
}

void forget_sizes_had(job_record_t* job) {
    const std::string kept(text(job->admin_comment));
    if (std::string before = core::without_sizes_had(kept); before != kept)
        set_admin_comment(job, before);
}

}  // namespace elastic::slurm
