// SPDX-License-Identifier: MIT
// Slurm's records are the truth about allocations; this file only says what was
// intended and what the journal has been told.  So a stale or lost file costs
// agreements in flight, never a node or a job: observe() corrects the rest.
//
// With the state the file holds the lines that the journal is told next, since a
// crash may come between the two: start() writes those that are missing.
#include "controller/state_file.hpp"

#include "common/atomic_file.hpp"

namespace elastic::controller {

namespace {

constexpr int kFormat = 3;
constexpr std::size_t kMaxSize = 256u << 20;
constexpr std::int64_t kMaxRange = 10'000'000;  // jobs; no Slurm has so many

Json to_json(const Job& job) {
    Json json = Json::object();
    json.set("job", job.id)
        .set("running", job.running)
        .set("suspended", job.suspended)
        .set("restarts", job.restarts)
        .set("nodes", job.nodes)
        .set("node_list", job.node_list);
    if (job.shared) json.set("shared", true);
    if (!job.elastic) return json;
    return json.set("not_before", job.participation.not_before)
        .set("last_resize", job.history.last_resize)
        .set("gain", job.history.gain)
        .set("expansions", job.history.expansions)
        .set("resizes", job.history.resizes)
        .set("last_reason", job.last_reason)
        .set("began", job.began)
        .set("time", job.time.save());
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
    Job& job = jobs.get(static_cast<JobId>(*id));
    job.submitted = true;
    job.running = json.get_bool("running");
    job.suspended = json.get_bool("suspended");
    job.restarts = static_cast<int>(json.get_int("restarts"));
    job.nodes = static_cast<int>(json.get_int("nodes"));
    job.node_list = json.get_string("node_list");
    job.shared = json.get_bool("shared");
    job.participation.not_before = json.get_number("not_before");
    job.history.last_resize = json.get_number("last_resize");
    job.history.gain = static_cast<int>(json.get_int("gain"));
    job.history.expansions = static_cast<int>(json.get_int("expansions"));
    job.history.resizes = static_cast<int>(json.get_int("resizes"));
    job.last_reason = json.get_string("last_reason");
    job.began = json.get_number("began");
    job.time.load(json.get("time"));
}

void read_waiting(const Json& ranges, JobTable& jobs) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        auto first = ranges.at(i).at(0).as_int(), last = ranges.at(i).at(1).as_int();
        if (first < 1 || last > UINT32_MAX || last - first > kMaxRange) continue;
        for (auto id = static_cast<JobId>(first); id <= last; ++id) {
            jobs.get(id).submitted = true;
        }
    }
}

}  // namespace

Result<void> save_state_file(const std::string& path, const State& state) {
    Json json = state.book.save()
                    .set("format", kFormat)
                    .set("table", to_json(state.jobs))
                    .set("telling", to_json(state.telling));
    return write_file(path, json.dump(), Durability::survives_process);
}

Result<void> load_state_file(const std::string& path, State& state) {
    auto text = read_file_if_there(path, kMaxSize);
    if (!text) return text.error();
    if (!*text) return {};
    auto json = Json::parse(**text);
    if (!json) return error("{}: {}", path, json.error().message);
    if (json->get_int("format") != kFormat)
        return error("{}: format {} is not {}", path, json->get_int("format"), kFormat);
    AgreementBook book(state.book.last_op());
    if (auto loaded = book.load(*json); !loaded)
        return error("{}: {}", path, loaded.error().message);
    state.book = std::move(book);
    state.telling = batch_from_json(json->get("telling"));
    Json jobs = json->get("table").get("jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) from_json(jobs.at(i), state.jobs);
    read_waiting(json->get("table").get("waiting"), state.jobs);
    return {};
}

}  // namespace elastic::controller
