// SPDX-License-Identifier: MIT
// Slurm's records are the truth about allocations; this file only says what was intended and what
// the journal has been told.  So a stale or lost file costs agreements in flight, never a node or a
// job: observe() corrects the rest.
//
// With the state the file holds the lines that the journal is told next, since a crash may come
// between the two: start() writes those that are missing.
//
// What is in the file is written down once (common/record.hpp).  Keys that older controllers did
// not write may be missing.
#include "controller/state_file.hpp"

#include <algorithm>

#include "common/atomic_file.hpp"
#include "common/hostlist.hpp"
#include "common/record.hpp"

namespace elastic::controller {

namespace {

constexpr int kFormat = 3;
constexpr std::size_t kMaxSize = 256u << 20;
constexpr std::int64_t kMaxWaiting = 10'000'000;  // jobs; no Slurm has so many

constexpr Number kTime{-kNever, kNever};

bool is_kept(const Agreement& agreement) {
    return agreement.open();
}
bool is_kept(const Claim&) {
    return true;
}
bool is_kept(const core::Experience::Evidence&) {
    return true;
}
// Of a job that waits there is nothing to know but that the journal has been told of it.
bool is_kept(const Job& job) {
    return job.running || job.suspended;
}

// A map's values, which have their own key: an array of those that are kept.
template <auto kKey>
struct Values {
    template <class Map>
    Json write(const Map& map) const {
        Json array = Json::array();
        for (const auto& [key, value] : map)
            if (is_kept(value)) array.push(write_record(value));
        return array;
    }
    template <class Map>
    Result<void> read(const Json& json, Map& map) const {
        std::vector<typename Map::mapped_type> values;
        if (auto done = List{}.read(json, values); !done) return done;
        for (auto& value : values) {
            const auto key = value.*kKey;
            if (is_kept(value) && !map.emplace(key, std::move(value)).second)
                return error(" has {} twice", key);
        }
        return {};
    }
};

// The jobs that wait, by their numbers: pairs of first and last.
struct Waiting {
    Json write(const JobTable::Jobs& jobs) const {
        std::vector<JobId> ids;
        for (const auto& [id, job] : jobs)
            if (job.submitted && !is_kept(job)) ids.push_back(id);
        std::ranges::sort(ids);
        Json array = Json::array();
        for (std::size_t first = 0, next = 0; first < ids.size(); first = next) {
            for (next = first + 1; next < ids.size() && ids[next] == ids[next - 1] + 1;) ++next;
            array.push(kRange.write(std::array{ids[first], ids[next - 1]}));
        }
        return array;
    }
    Result<void> read(const Json& json, JobTable::Jobs& jobs) const {
        std::vector<std::vector<JobId>> ranges;
        if (auto done = List<List<Whole>>{kRange}.read(json, ranges); !done) return done;
        std::int64_t count = 0;
        for (const auto& range : ranges) {
            if (range.size() != 2 || range[0] > range[1])
                return error(" must have pairs of a first and a last job");
            if (count += std::int64_t{range[1]} - range[0] + 1; count > kMaxWaiting)
                return error(" has {} jobs, at most {} are allowed", count, kMaxWaiting);
            for (std::int64_t id = range[0]; id <= range[1]; ++id)
                jobs[static_cast<JobId>(id)].id = static_cast<JobId>(id);
        }
        return {};
    }

  private:
    static constexpr List<Whole> kRange{Whole{1}};
};

// A number that may use all 64 bits, as that of a file in some file systems: as a signed one.
struct AllBits {
    Json write(std::uint64_t number) const { return Json(static_cast<std::int64_t>(number)); }
    Result<void> read(const Json& json, std::uint64_t& number) const {
        std::int64_t found = 0;
        auto done = Whole{}.read(json, found);
        number = static_cast<std::uint64_t>(found);
        return done;
    }
};

// The end by the ledger, or what was read of one before, as long as no ledger goes on with it.
struct LedgerEnd {
    Time by_ledger;

    Json write(Time read_before) const { return Json(read_before > 0 ? read_before : by_ledger); }
    Result<void> read(const Json& json, Time& end) const { return kTime.read(json, end); }
};

// A step of an evolution profile: its nodes and its seconds.
struct StepFormat {
    Json write(const core::EvolutionStep& step) const {
        Json pair = Json::array();
        pair.push(Json(step.nodes));
        pair.push(Json(step.duration));
        return pair;
    }
    Result<void> read(const Json& json, core::EvolutionStep& step) const {
        if (!json.is_array() || json.size() != 2) return error(" must be nodes and seconds");
        const auto done = Whole{1, kMaxNodes}.read(json.at(0), step.nodes);
        return done ? Number{0, kNever}.read(json.at(1), step.duration) : done;
    }
};

// A number for each of Experience::kShares.
struct Shares {
    static constexpr double kMost = 1e300;

    Json write(const core::Experience::ByShare& shares) const {
        Json array = Json::array();
        for (const double share : shares) array.push(Json(share));
        return array;
    }
    Result<void> read(const Json& json, core::Experience::ByShare& shares) const {
        if (!json.is_array() || json.size() != shares.size())
            return error(" must have {} numbers", shares.size());
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (auto done = Number{-kMost, kMost}.read(json.at(i), shares[i]); !done) return done;
        return {};
    }
};

constexpr Whole kOp{1, 1LL << 52}, kOpOrNone{0, 1LL << 52};
constexpr Whole kJob{1}, kCount{0};
constexpr Text kText{kMaxSize};

// A field that is always written and that older controllers did not know.
template <class F, class... Field>
void later(F& f, Field&&... field) {
    f.when(true, std::forward<Field>(field)...);
}

}  // namespace

template <class F>
void fields(F& f, Agreement& agreement) {
    f.required("op", agreement.op, kOp);
    f.required("job", agreement.job, kJob);
    f.required("kind", agreement.kind);
    f.required("state", agreement.state);
    later(f, "requested", agreement.requested);
    f.optional("for_step", agreement.for_step);
    f.required("nodes", agreement.nodes, kCount);
    later(f, "least", agreement.least, kCount);
    later(f, "granted", agreement.granted, kCount);
    f.required("node_list", agreement.node_list, kText);
    f.required("beneficiary", agreement.beneficiary, kCount);
    f.required("created", agreement.created, kTime);
    f.required("deadline", agreement.deadline, kTime);
    f.required("reason", agreement.reason, kText);
    f.optional("resizing_since", agreement.resizing_since, kTime);
}

template <class F>
void fields(F& f, Claim& claim) {
    f.required("job", claim.job, kJob);
    f.required("size", claim.size, kCount);
    f.required("node_list", claim.node_list, kText);
}

template <class F>
void fields(F& f, AgreementBook& book) {
    f.required("last_op", book.last_op_, kOpOrNone);
    f.required("agreements", book.agreements_, Values<&Agreement::op>{});
    later(f, "claims", book.claims_, Values<&Claim::job>{});
}

template <class F>
void fields(F& f, RunTime& time) {
    f.required("limit_end", time.limit_.end, kTime);
    f.required("limit", time.limit_.minutes, kCount);
    f.required("limit_before", time.minutes_before_, kCount);
    f.required("law", time.is_law_);
    f.required("resized", time.resized_);
    f.required("progress_end", time.progress_end_, kTime);
    f.required("ledger_end", time.loaded_end_, LedgerEnd{time.ledger_.estimated_end()});
}

template <class F>
void fields(F& f, NodeTime::Size& size) {
    f.required("nodes", size.nodes, kCount);
    f.required("seconds", size.seconds, kTime);
}

template <class F>
void fields(F& f, NodeTime& time) {
    f.required("seconds", time.seconds_, kTime);
    f.required("counted", time.counted_, kTime);
    f.optional("sizes", time.sizes_, List{});
}

template <class F>
void fields(F& f, RescaleTime& rescale) {
    f.required("count", rescale.count_, kCount);
    f.required("seconds", rescale.seconds_, Number{0, core::kMaxCost});
    f.required("ratio", rescale.ratio_, Number{0, core::kMaxCost});
}

template <class F>
void fields(F& f, Scaling::Pair& pair) {
    f.required("from", pair.from, Whole{1, kMaxNodes});
    f.required("to", pair.to, Whole{1, kMaxNodes});
    f.required("ratio", pair.ratio, Number{1.0 / kMaxNodes, kMaxNodes});
    f.holds(pair.from != pair.to, "from={} is to={}", pair.from, pair.to);
}

template <class F>
void fields(F& f, Scaling& scaling) {
    f.required("pairs", scaling.pairs_, List{});
}

template <class F>
void fields(F& f, LeftNodes::Departure& departure) {
    f.required("node_list", departure.node_list, kText);
    f.required("second", departure.second, kCount);
}

template <class F>
void fields(F& f, LeftNodes& left) {
    f.required("departures", left.departures_, List{});
}

}  // namespace elastic::controller

namespace elastic::core {

template <class F>
void fields(F& f, Evolution& evolution) {
    f.required("steps", evolution.steps_, List{controller::StepFormat{}});
    f.required("number", evolution.number_, controller::kCount);
    f.required("gives_back", evolution.gives_back_);
    f.required("since", evolution.since_, controller::kTime);
    f.required("waiting_since", evolution.waiting_since_, controller::kTime);
    f.required("waited", evolution.waited_, controller::kTime);
    f.required("heard", evolution.heard_, Whole{});
}

template <class F>
void fields(F& f, Experience::Evidence& evidence) {
    f.required("program", evidence.program, controller::AllBits{});
    f.required("compared", evidence.compared, controller::kCount);
    f.required("starts", evidence.starts, Number{0, controller::Shares::kMost});
    f.required("work", evidence.work, controller::Shares{});
    f.required("both", evidence.both, controller::Shares{});
}

template <class F>
void fields(F& f, Experience& experience) {
    f.required("all", experience.all_);
    f.required("programs", experience.programs_,
               controller::Values<&Experience::Evidence::program>{});
}

}  // namespace elastic::core

namespace elastic::controller {

template <class F>
void fields(F& f, Job& job) {
    f.required("job", job.id, kJob);
    f.required("running", job.running);
    f.required("suspended", job.suspended);
    f.required("restarts", job.restarts, kCount);
    f.required("nodes", job.nodes, kCount);
    f.required("node_list", job.node_list, kText);
    f.when(!job.node_aliases.empty(), "node_aliases", job.node_aliases, kText);
    f.optional("shared", job.shared);
    f.when(job.elastic, "not_before", job.participation.not_before, kTime);
    f.when(job.elastic, "last_resize", job.history.last_resize, kTime);
    f.when(job.elastic, "gain", job.history.gain, Whole{});
    f.when(job.elastic, "expansions", job.history.expansions, kCount);
    f.when(job.elastic, "resizes", job.history.resizes, kCount);
    f.when(job.elastic, "last_reason", job.last_reason, kText);
    f.when(job.elastic, "began", job.began, kTime);
    f.when(job.elastic, "time", job.time);
    f.when(job.believed < 1, "believed", job.believed, Number{0, 1});
    f.when(job.node_time.counted() > 0, "node_time", job.node_time);
    f.when(job.rescale.count() > 0, "rescale", job.rescale);
    f.when(job.scaling.measured() > 0, "scaling", job.scaling);
    f.when(!job.left.empty(), "left", job.left);
    f.when(!job.initialises.empty(), "initialises", job.initialises, kText);
    f.when(job.evolution.exists(), "evolution", job.evolution);
}

template <class F>
void fields(F& f, JobTable& table) {
    f.required("jobs", table.all(), Values<&Job::id>{});
    f.required("waiting", table.all(), Waiting{});
}

}  // namespace elastic::controller

namespace elastic::journal {

template <class F>
void fields(F& f, Batch& batch) {
    f.required("file", batch.file, controller::AllBits{});
    f.required("at", batch.at, controller::kCount);
    f.required("events", batch.events, controller::kCount);
    f.required("text", batch.text, controller::kText);
    f.optional("gap", batch.gap);
}

}  // namespace elastic::journal

namespace elastic::controller {

template <class F>
void fields(F& f, GroupKey& key) {
    f.required("user", key.user, Whole{0, UINT32_MAX});
    f.required("type", key.type, kText);
    f.required("program", key.program, kText);
}

template <class F>
void fields(F& f, GroupJob& job) {
    f.required("job", job.id, kJob);
    f.required("copies", job.copies, Whole{1});
    f.required("least", job.least, Whole{1, kMaxNodes});
    f.required("most", job.most, Whole{1, kMaxNodes});
    f.required("asked", job.asked, Whole{1, kMaxNodes});
    f.required("duration", job.duration, kTime);
    f.holds(job.least <= job.most, "least={} is larger than most={}", job.least, job.most);
}

template <class F>
void fields(F& f, Group& group) {
    f.required("key", group.key);
    f.required("partition", group.partition, kText);
    f.required("initialisation", group.initialisation, Number{0, kNever});
    f.required("node_list", group.node_list, kText);
    f.required("waiting", group.waiting, List{});
}

namespace {

// What is initialised for one key: since, of all, the earliest, with which too much is forgotten
// rather than too little.
struct Initialised {
    GroupKey key;
    Time since = kNever;
    std::string node_list;
};

template <class F>
void fields(F& f, Initialised& initialised) {
    f.required("key", initialised.key);
    f.required("since", initialised.since, kTime);
    f.required("node_list", initialised.node_list, kText);
}

struct Beliefs {
    using Map = std::map<std::string, GroupBook::Belief>;

    Json write(const Map& beliefs) const {
        std::map<GroupKey, std::pair<Time, std::vector<std::string>>> by_key;
        for (const auto& [node, belief] : beliefs) {
            auto& [since, nodes] = by_key.try_emplace(belief.key, kNever, 0).first->second;
            since = std::min(since, belief.since);
            nodes.push_back(node);
        }
        std::vector<Initialised> list;
        for (auto& [key, what] : by_key)
            list.push_back({key, what.first, compress_hostlist(std::move(what.second))});
        return List{}.write(list);
    }
    Result<void> read(const Json& json, Map& beliefs) const {
        std::vector<Initialised> list;
        if (auto done = List{}.read(json, list); !done) return done;
        for (const Initialised& initialised : list) {
            const auto nodes = expand_hostlist(initialised.node_list);
            if (!nodes) return error(": {}", nodes.error().message);
            for (const std::string& node : *nodes)
                beliefs[node] = {node, initialised.key, initialised.since};
        }
        return {};
    }
};

}  // namespace

template <class F>
void fields(F& f, GroupBook& book) {
    f.required("groups", book.groups_, List{});
    f.required("initialised", book.beliefs_, Beliefs{});
}

template <class F>
void fields(F& f, State& state) {
    int format = kFormat;
    fields(f, state.book);
    f.when(!state.groups.empty(), "packets", state.groups);
    f.when(state.experience.compared() > 0, "experience", state.experience);
    f.required("format", format, Whole{kFormat, kFormat});
    f.required("table", state.jobs);
    f.required("telling", state.telling);
}

std::string state_text(const State& state) {
    return write_record(state).dump();
}

Result<void> read_state(std::string_view text, State& state) {
    auto json = Json::parse(text);
    if (!json) return json.error();
    if (json->get_int("format") != kFormat)
        return error("format {} is not {}", json->get_int("format"), kFormat);
    State read;
    if (auto done = read_record(*json, read); !done) return done;
    if (auto resumed = state.book.resume(read.book); !resumed) return resumed;
    for (auto& [id, job] : read.jobs.all()) job.submitted = true;
    state.jobs = std::move(read.jobs);
    state.groups = std::move(read.groups);
    state.experience = std::move(read.experience);
    state.telling = std::move(read.telling);
    return {};
}

Result<void> save_state_file(const std::string& path, const State& state) {
    return write_file(path, state_text(state), Durability::survives_process);
}

Result<void> load_state_file(const std::string& path, State& state) {
    auto text = read_file_if_there(path, kMaxSize);
    if (!text) return text.error();
    if (!*text) return {};
    auto done = read_state(**text, state);
    return done ? done : error("{}: {}", path, done.error().message);
}

}  // namespace elastic::controller
