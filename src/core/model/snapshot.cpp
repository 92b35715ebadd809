// SPDX-License-Identifier: MIT
// Snapshots as JSON, and what must hold of one.
//
// A snapshot that is read may come from anywhere, so each member has a type and
// a range, errors say where they are ("running[3]: held: ..."), and the result
// has passed validate().  Counts are arrays with one entry a pool, so memory is
// bounded by the text.  What has its default value is left out.
#include "core/model/snapshot.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

namespace elastic::core {
namespace {

constexpr std::int64_t kMaxId = std::numeric_limits<JobId>::max();
constexpr std::int64_t kMaxOp = std::numeric_limits<OpId>::max();

// ---- writing -----------------------------------------------------------------

Json counts_to_json(const PoolCounts& counts) {
    Json array = Json::array();
    for (int nodes : counts) array.push(nodes);
    return array;
}

void set_unless(Json& json, std::string_view key, double value, double standard) {
    if (value != standard) json.set(key, value);
}

void set_if(Json& json, std::string_view key, bool value) {
    if (value) json.set(key, true);
}

Json to_json(const Pool& pool) {
    return Json::object().set("name", pool.name).set("idle", pool.idle).set("nodes", pool.nodes);
}

Json to_json(const RunningJob& job) {
    Json json = Json::object();
    json.set("id", job.id).set("elastic", to_json(job.elastic)).set("eligible", job.eligible);
    json.set("held", counts_to_json(job.held)).set("batch_host_pool", job.batch_host_pool);
    json.set("start", job.start).set("estimated_end", job.estimated_end);
    set_unless(json, "limit_end", job.limit_end, kNever);
    set_unless(json, "last_resize", job.last_resize, 0);
    if (job.gain != 0) json.set("gain", job.gain);
    if (job.expansions != 0) json.set("expansions", job.expansions);
    if (job.shrinks != 0) json.set("shrinks", job.shrinks);
    set_unless(json, "duration", job.duration, 0);
    set_if(json, "resizable", job.resizable);
    set_unless(json, "not_before", job.not_before, 0);
    return json;
}

Json to_json(const PendingJob& job) {
    Json json = Json::object();
    json.set("id", job.id).set("elastic", to_json(job.elastic)).set("eligible", job.eligible);
    json.set("duration", job.duration).set("submit", job.submit);
    set_if(json, "shares_nodes", job.shares_nodes);
    set_if(json, "refused", job.refused);
    set_if(json, "claimed", job.claimed);
    set_if(json, "alternative", job.alternative);
    return json;
}

Json to_json(const SharedNodes& shared) {
    return Json::object()
        .set("pool", shared.pool)
        .set("nodes", shared.nodes)
        .set("until", shared.until);
}

Json to_json(const Promise& promise) {
    Json json = Json::object();
    json.set("kind", promise.kind == ResizeKind::shrink ? "shrink" : "expand");
    json.set("op", Json(static_cast<std::int64_t>(promise.op))).set("job", promise.job);
    json.set("nodes", counts_to_json(promise.nodes));
    if (promise.beneficiary != 0) json.set("beneficiary", promise.beneficiary);
    if (promise.size != 0) json.set("size", promise.size);
    set_if(json, "revocable", promise.revocable);
    return json;
}

Json to_json(const GrowthRequest& request) {
    return Json::object()
        .set("op", Json(static_cast<std::int64_t>(request.op)))
        .set("job", request.job)
        .set("nodes", request.nodes)
        .set("least", request.least)
        .set("deadline", request.deadline);
}

Json to_json(const Eligibility& eligible) {
    Json pools = Json::array();
    for (PoolId pool : eligible) pools.push(pool);
    return pools;
}

template <class Item>
Json list_to_json(const std::vector<Item>& items) {
    Json array = Json::array();
    for (const Item& item : items) array.push(to_json(item));
    return array;
}

// ---- reading -----------------------------------------------------------------

// Reads the members of one object; the first error is kept, later ones are
// mostly its consequences.
class Reader {
  public:
    Reader(const Json& json, std::size_t pools) : json_(json), pools_(pools) {
        if (!json.is_object()) fail("must be an object");
    }

    template <class Integer>
    void integer(std::string_view key, Integer& place, std::int64_t low, std::int64_t high) {
        store(json_.need_int(key, low, high), place);
    }
    template <class Integer>
    void optional_integer(std::string_view key, Integer& place, std::int64_t low,
                          std::int64_t high) {
        if (json_.has(key)) integer(key, place, low, high);
    }
    void id(std::string_view key, JobId& place) { integer(key, place, 1, kMaxId); }
    void time(std::string_view key, Time& place) {
        store(json_.need_number(key, -kNever, kNever), place);
    }
    void optional_time(std::string_view key, Time& place) {
        if (json_.has(key)) time(key, place);
    }
    void duration(std::string_view key, Duration& place) {
        store(json_.need_number(key, 0, kNever), place);
    }
    void flag(std::string_view key, bool& place) { place = json_.get_bool(key); }
    void name(std::string_view key, std::string& place) {
        store(json_.need_string(key, 256), place);
    }
    void annotation(std::string_view key, Annotation& place) {
        Result<Annotation> annotation = annotation_from_json(json_.get(key));
        if (!annotation) fail(fmt::format("{}: {}", key, annotation.error().message));
        if (annotation) place = *std::move(annotation);
    }
    void counts(std::string_view key, PoolCounts& place) {
        const Json array = json_.get(key);
        if (!array.is_array() || array.size() != pools_)
            return fail(fmt::format("{} must be an array of {} numbers", key, pools_));
        for (std::size_t i = 0; i < pools_; ++i) {
            const std::int64_t nodes = array.at(i).as_int();
            if (nodes < 0 || nodes > kMaxNodes)
                return fail(fmt::format("{}[{}] must be from 0 to {}", key, i, kMaxNodes));
            place.push_back(static_cast<int>(nodes));
        }
    }
    void fail(std::string message) {
        if (!error_) error_ = Error{std::move(message)};
    }
    const Json& json() const { return json_; }
    const std::optional<Error>& error() const { return error_; }

  private:
    template <class From, class To>
    void store(const Result<From>& result, To& place) {
        if (result)
            place = static_cast<To>(*result);
        else
            fail(result.error().message);
    }

    const Json& json_;
    std::size_t pools_;
    std::optional<Error> error_;
};

void read(Reader& reader, Pool& pool) {
    reader.name("name", pool.name);
    reader.integer("idle", pool.idle, 0, kMaxNodes);
    reader.integer("nodes", pool.nodes, 0, kMaxNodes);
}

void read(Reader& reader, RunningJob& job) {
    reader.id("id", job.id);
    reader.annotation("elastic", job.elastic);
    reader.integer("eligible", job.eligible, 0, kMaxId);
    reader.counts("held", job.held);
    reader.integer("batch_host_pool", job.batch_host_pool, 0, kMaxId);
    reader.time("start", job.start);
    reader.time("estimated_end", job.estimated_end);
    reader.optional_time("limit_end", job.limit_end);
    reader.optional_time("last_resize", job.last_resize);
    reader.optional_integer("gain", job.gain, INT32_MIN, INT32_MAX);
    reader.optional_integer("expansions", job.expansions, 0, INT32_MAX);
    reader.optional_integer("shrinks", job.shrinks, 0, INT32_MAX);
    if (reader.json().has("duration")) reader.duration("duration", job.duration);
    reader.flag("resizable", job.resizable);
    reader.optional_time("not_before", job.not_before);
}

void read(Reader& reader, PendingJob& job) {
    reader.id("id", job.id);
    reader.annotation("elastic", job.elastic);
    reader.integer("eligible", job.eligible, 0, kMaxId);
    reader.duration("duration", job.duration);
    reader.time("submit", job.submit);
    reader.flag("shares_nodes", job.shares_nodes);
    reader.flag("refused", job.refused);
    reader.flag("claimed", job.claimed);
    reader.flag("alternative", job.alternative);
}

void read(Reader& reader, SharedNodes& shared) {
    reader.integer("pool", shared.pool, 0, kMaxId);
    reader.integer("nodes", shared.nodes, 0, kMaxNodes);
    reader.time("until", shared.until);
}

void read(Reader& reader, Promise& promise) {
    const std::string kind = reader.json().get_string("kind");
    if (kind != "shrink" && kind != "expand") reader.fail("kind must be shrink or expand");
    promise.kind = kind == "shrink" ? ResizeKind::shrink : ResizeKind::expand;
    reader.integer("op", promise.op, 1, kMaxOp);
    reader.id("job", promise.job);
    reader.counts("nodes", promise.nodes);
    reader.optional_integer("beneficiary", promise.beneficiary, 0, kMaxId);
    reader.optional_integer("size", promise.size, 0, kMaxNodes);
    reader.flag("revocable", promise.revocable);
}

void read(Reader& reader, GrowthRequest& request) {
    reader.integer("op", request.op, 1, kMaxOp);
    reader.id("job", request.job);
    reader.integer("nodes", request.nodes, 1, kMaxNodes);
    reader.integer("least", request.least, 1, kMaxNodes);
    reader.time("deadline", request.deadline);
}

Result<void> read_item(const Json& json, std::size_t pools, Eligibility& eligible) {
    if (!json.is_array() || json.size() > pools)
        return error("must be an array of at most {} pools", pools);
    for (std::size_t i = 0; i < json.size(); ++i) {
        const std::int64_t pool = json.at(i).as_int();
        if (pool < 0 || pool >= static_cast<std::int64_t>(pools))
            return error("there is no pool {}", pool);
        eligible.push_back(static_cast<PoolId>(pool));
    }
    return {};
}

template <class Item>
Result<void> read_item(const Json& json, std::size_t pools, Item& item) {
    Reader reader(json, pools);
    if (!reader.error()) read(reader, item);
    if (reader.error()) return *reader.error();
    return {};
}

template <class Item>
Result<void> read_list(const Json& snapshot, std::string_view key, std::size_t pools,
                       std::vector<Item>& items) {
    const Json array = snapshot.get(key);
    if (!array.is_array()) return error("{} must be an array", key);
    items.resize(array.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        Result<void> done = read_item(array.at(i), pools, items[i]);
        if (!done) return error("{}[{}]: {}", key, i, done.error().message);
    }
    return {};
}

// ---- checking ----------------------------------------------------------------

// Nodes accounted for by pool, and checks that stop at the first error.
class Checker {
  public:
    explicit Checker(const Snapshot& snapshot)
        : snapshot_(snapshot), used_(snapshot.pools.size(), 0) {}

    Result<void> run() {
        check_pools();
        for (const RunningJob& job : snapshot_.running) check_running(job);
        for (const PendingJob& job : snapshot_.pending) check_pending(job);
        for (const SharedNodes& shared : snapshot_.shared_until) check_shared(shared);
        if (!error_) check_totals();
        for (const Promise& promise : snapshot_.promises) check_promise(promise);
        for (std::size_t pool = 0; pool < kept_.size() && !error_; ++pool)
            require(kept_[pool] <= snapshot_.pools[pool].idle,
                    "more idle nodes of pool {} are promised than there are", pool);
        for (const GrowthRequest& request : snapshot_.requests) check_request(request);
        return error_ ? Result<void>(*error_) : Result<void>();
    }

  private:
    template <class... Args>
    bool require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
        if (!holds && !error_) error_ = elastic::error(format, std::forward<Args>(args)...);
        return !error_;
    }

    bool is_counts(const PoolCounts& counts) const {
        return counts.size() == snapshot_.pools.size() &&
               std::all_of(counts.begin(), counts.end(),
                           [](int nodes) { return nodes >= 0 && nodes <= kMaxNodes; });
    }

    void check_pools() {
        std::int64_t all = 0;
        for (std::size_t i = 0; i < snapshot_.pools.size(); ++i) {
            const Pool& pool = snapshot_.pools[i];
            require(pool.idle >= 0 && pool.idle <= kMaxNodes && pool.nodes >= 0,
                    "pool {} has a count out of range", i);
            all += pool.nodes;
            used_[i] = pool.idle;
        }
        require(all <= kMaxNodes, "{} nodes, at most {} are allowed", all, kMaxNodes);
        for (std::size_t i = 0; i < snapshot_.eligibilities.size(); ++i) {
            std::set<PoolId> seen;
            for (PoolId pool : snapshot_.eligibilities[i])
                require(pool < snapshot_.pools.size() && seen.insert(pool).second,
                        "eligibility {} names pool {} twice or it does not exist", i, pool);
        }
    }

    template <class Job>
    bool check_job(const Job& job, const char* what) {
        const Annotation& a = job.elastic;
        require(job.id != 0, "a {} job has the id 0", what);
        require(job.eligible < snapshot_.eligibilities.size(),
                "{} job {}: there is no eligibility {}", what, job.id, job.eligible);
        return require(1 <= a.min && a.min <= a.pref && a.pref <= a.max && a.max <= kMaxNodes,
                       "{} job {}: 1 <= min <= pref <= max does not hold", what, job.id);
    }

    void check_running(const RunningJob& job) {
        if (!check_job(job, "running")) return;
        if (!require(is_counts(job.held), "running job {}: held is malformed", job.id)) return;
        require(job.batch_host_pool < snapshot_.pools.size(), "running job {}: there is no pool {}",
                job.id, job.batch_host_pool);
        for (std::size_t pool = 0; pool < job.held.size(); ++pool) used_[pool] += job.held[pool];
        require(held_.emplace(job.id, &job.held).second, "running job {} is there twice", job.id);
    }

    void check_pending(const PendingJob& job) {
        if (!check_job(job, "pending")) return;
        // Twice it may be there: for another partition, or as another task of a job array.
        require(!held_.contains(job.id), "job {} runs and waits", job.id);
        require(job.duration >= 0, "pending job {}: negative duration", job.id);
    }

    void check_shared(const SharedNodes& shared) {
        if (!require(shared.pool < snapshot_.pools.size() && shared.nodes >= 0 &&
                         shared.nodes <= kMaxNodes,
                     "shared nodes of pool {} are malformed", shared.pool))
            return;
        used_[shared.pool] += shared.nodes;
    }

    void check_totals() {
        for (std::size_t i = 0; i < used_.size(); ++i)
            require(used_[i] <= snapshot_.pools[i].nodes,
                    "{} nodes of pool {} are accounted for, which has {}", used_[i], i,
                    snapshot_.pools[i].nodes);
    }

    void check_promise(const Promise& promise) {
        if (!require(is_counts(promise.nodes), "promise {}: nodes are malformed", promise.op))
            return;
        const auto held = held_.find(promise.job);
        if (!require(held != held_.end(), "promise {}: job {} does not run", promise.op,
                     promise.job))
            return;
        require(promised_.insert(promise.job).second, "promise {}: job {} has another one",
                promise.op, promise.job);
        kept_.resize(snapshot_.pools.size(), 0);
        for (std::size_t pool = 0; pool < promise.nodes.size(); ++pool) {
            if (promise.kind == ResizeKind::expand)
                kept_[pool] += promise.nodes[pool];
            else
                require(promise.nodes[pool] <= (*held->second)[pool],
                        "promise {}: job {} does not hold that many nodes", promise.op,
                        promise.job);
        }
    }

    void check_request(const GrowthRequest& request) {
        require(held_.contains(request.job), "request {}: job {} does not run", request.op,
                request.job);
        require(1 <= request.least && request.least <= request.nodes && request.nodes <= kMaxNodes,
                "request {}: 1 <= least <= nodes does not hold", request.op);
    }

    const Snapshot& snapshot_;
    std::vector<std::int64_t> used_, kept_;  // by pool
    std::map<JobId, const PoolCounts*> held_;
    std::set<JobId> promised_;
    std::optional<Error> error_;
};

}  // namespace

// A preferred size that the job's size rule does not allow is replaced by the next smaller allowed
// one, else by the next larger.
int PendingJob::requested_size() const {
    if (const int size = elastic.sizes.largest(elastic.min, elastic.pref)) return size;
    return elastic.sizes.smallest(elastic.pref, elastic.max);
}

int PendingJob::smallest_start() const {
    if (!elastic.malleable) return requested_size();
    return elastic.sizes.smallest(elastic.min, elastic.max);
}

int Snapshot::idle() const {
    int nodes = 0;
    for (const Pool& pool : pools) nodes += pool.idle;
    return nodes;
}

Json to_json(const Snapshot& snapshot) {
    Json json = Json::object();
    json.set("now", snapshot.now);
    json.set("pools", list_to_json(snapshot.pools));
    json.set("eligibilities", list_to_json(snapshot.eligibilities));
    json.set("running", list_to_json(snapshot.running));
    json.set("pending", list_to_json(snapshot.pending));
    json.set("shared_until", list_to_json(snapshot.shared_until));
    json.set("promises", list_to_json(snapshot.promises));
    json.set("requests", list_to_json(snapshot.requests));
    return json;
}

Result<Snapshot> snapshot_from_json(const Json& json) {
    Snapshot snapshot;
    if (!json.is_object()) return error("a snapshot must be an object");
    Result<double> now = json.need_number("now", -kNever, kNever);
    if (!now) return now.error();
    snapshot.now = *now;
    Result<void> done = read_list(json, "pools", 0, snapshot.pools);
    const std::size_t pools = snapshot.pools.size();
    if (done) done = read_list(json, "eligibilities", pools, snapshot.eligibilities);
    if (done) done = read_list(json, "running", pools, snapshot.running);
    if (done) done = read_list(json, "pending", pools, snapshot.pending);
    if (done) done = read_list(json, "shared_until", pools, snapshot.shared_until);
    if (done) done = read_list(json, "promises", pools, snapshot.promises);
    if (done) done = read_list(json, "requests", pools, snapshot.requests);
    if (done) done = validate(snapshot);
    if (!done) return done.error();
    return snapshot;
}

Result<void> validate(const Snapshot& snapshot) {
    return Checker(snapshot).run();
}

}  // namespace elastic::core
