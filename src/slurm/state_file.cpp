// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's records are the truth about allocations; this file only says what was
// intended and what the journal has been told.  So a stale or lost file costs
// agreements in flight, never a node or a job: observe() corrects the rest.
//
// With the state the file holds the lines that the journal is told next, since a
// crash may come between the two: start() writes those that are missing.
#include "slurm/state_file.hpp"

#include "common/atomic_file.hpp"

namespace elastic::slurm {

namespace {

constexpr int kFormat = 2;
constexpr std::size_t kMaxSize = 256u << 20;
constexpr std::int64_t kMaxRange = 10'000'000;  // jobs; no Slurm has so many

Json to_json(const JobEntry& job) {
    Json json = Json::object();
    json.set("job", job.id)
        .set("running", job.running)
        .set("suspended", job.suspended)
        .set("restarts", job.restarts)
        .set("nodes", job.nodes)
        .set("node_list", job.node_list);
    if (!job.elastic) return json;
    if (job.limit_extended != 0)
        json.set("limit_before", job.limit_before).set("limit_extended", job.limit_extended);
    return json.set("not_before", job.not_before)
        .set("last_resize", job.last_resize)
        .set("gain", job.gain)
        .set("expansions", job.expansions)
        .set("resizes", job.resizes)
        .set("last_reason", job.last_reason)
        .set("progress_end", job.progress_end)
        .set("ledger_end", job.ledger.estimated_end());
}

// Ids as pairs of first and last.
Json ranges(std::vector<JobId> ids) {
    std::sort(ids.begin(), ids.end());
    Json list = Json::array();
    for (std::size_t first = 0, next = 0; first < ids.size(); first = next) {
        for (next = first + 1; next < ids.size() && ids[next] == ids[next - 1] + 1;) ++next;
        list.push(Json::array().push(ids[first]).push(ids[next - 1]));
    }
    return list;
}

// Of a job that waits there is nothing to know but that the journal has been told of it.
Json to_json(const JobTable& table) {
    Json jobs = Json::array();
    std::vector<JobId> waiting;
    for (const auto& [id, job] : table.all())
        if (job.running || job.suspended)
            jobs.push(to_json(job));
        else if (job.submitted)
            waiting.push_back(id);
    return Json::object().set("jobs", jobs).set("waiting", ranges(std::move(waiting)));
}

Json to_json(const journal::Batch& batch) {
    return Json::object()
        .set("file", static_cast<std::int64_t>(batch.file))
        .set("at", batch.at)
        .set("events", static_cast<std::int64_t>(batch.events))
        .set("text", batch.text);
}

journal::Batch batch_from_json(const Json& json) {
    journal::Batch batch;
    batch.file = static_cast<std::uint64_t>(json.get_int("file"));
    batch.at = json.get_int("at");
    batch.events = static_cast<std::size_t>(json.get_int("events"));
    batch.text = json.get_string("text");
    return batch;
}

void from_json(const Json& json, JobTable& jobs) {
    auto id = json.need_int("job", 1, UINT32_MAX);
    if (!id) return;
    JobEntry& job = jobs.all()[static_cast<JobId>(*id)];
    job.id = static_cast<JobId>(*id);
    job.submitted = true;
    job.running = json.get_bool("running");
    job.suspended = json.get_bool("suspended");
    job.restarts = static_cast<int>(json.get_int("restarts"));
    job.nodes = static_cast<int>(json.get_int("nodes"));
    job.node_list = json.get_string("node_list");
    job.limit_before = static_cast<std::uint32_t>(json.get_int("limit_before"));
    job.limit_extended = static_cast<std::uint32_t>(json.get_int("limit_extended"));
    job.not_before = json.get_number("not_before");
    job.last_resize = json.get_number("last_resize");
    job.gain = static_cast<int>(json.get_int("gain"));
    job.expansions = static_cast<int>(json.get_int("expansions"));
    job.resizes = static_cast<int>(json.get_int("resizes"));
    job.last_reason = json.get_string("last_reason");
    job.progress_end = json.get_number("progress_end");
    job.restored_end = json.get_number("ledger_end");
}

void read_waiting(const Json& ranges, JobTable& jobs) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        auto first = ranges.at(i).at(0).as_int(), last = ranges.at(i).at(1).as_int();
        if (first < 1 || last > UINT32_MAX || last - first > kMaxRange) continue;
        for (auto id = static_cast<JobId>(first); id <= last; ++id) {
            jobs.all()[id].id = id;
            jobs.all()[id].submitted = true;
        }
    }
}

std::string path_of(const Context& context) {
    return context.state_directory + "/elastic_state";
}

}  // namespace

Result<void> save_state_file(const Context& context) {
    Json json = context.book.save()
                    .set("format", kFormat)
                    .set("table", to_json(context.jobs))
                    .set("telling", to_json(context.telling));
    return write_file(path_of(context), json.dump(), Durability::survives_process);
}

Result<void> load_state_file(Context& context) {
    const std::string path = path_of(context);
    auto text = read_file_if_there(path, kMaxSize);
    if (!text) return text.error();
    if (!*text) return {};
    auto json = Json::parse(**text);
    if (!json) return elastic::error("{}: {}", path, json.error().message);
    if (json->get_int("format") != kFormat)
        return elastic::error("{}: format {} is not {}", path, json->get_int("format"), kFormat);
    core::AgreementBook book(context.book.last_op());
    if (auto loaded = book.load(*json); !loaded)
        return elastic::error("{}: {}", path, loaded.error().message);
    context.book = std::move(book);
    context.telling = batch_from_json(json->get("telling"));
    Json jobs = json->get("table").get("jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) from_json(jobs.at(i), context.jobs);
    read_waiting(json->get("table").get("waiting"), context.jobs);
    return {};
}

}  // namespace elastic::slurm
