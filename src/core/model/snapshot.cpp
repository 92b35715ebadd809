// SPDX-License-Identifier: MIT
// Snapshots as JSON, and what must hold of one.
//
// A snapshot that is read may come from anywhere, so each member has a type and a range, errors say
// where they are ("running[3]: held[0] must be ..."), and the result has passed validate().  What
// has its default value is left out.
#include "core/model/snapshot.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "common/record.hpp"

namespace elastic::core {
namespace {

// Read as the annotation that it is a part of, which is whole and allowed, or refused.
struct Checked {
    Json write(const Sizing& sizing) const { return to_json(sizing); }
    Result<void> read(const Json& json, Sizing& sizing) const {
        Result<Annotation> found = annotation_from_json(json);
        if (!found) return error(": {}", found.error().message);
        sizing = *std::move(found);
        return {};
    }
};

constexpr Checked kSizing;
constexpr Whole kId{1}, kPlace{0}, kNodes{0, kMaxNodes}, kSomeNodes{1, kMaxNodes};
constexpr List kCounts{kNodes};
constexpr List kIds{kId};
constexpr List kPools{kPlace};
constexpr List<List<Whole>> kEligibilities{kPools};
constexpr List<Nested> kRecords;
constexpr Number kTime{-kNever, kNever};
constexpr Number kDuration{0, kNever};
constexpr Number kShare{0, 1};

}  // namespace

template <class F>
void fields(F& f, Pool& pool) {
    f.required("idle", pool.idle, kNodes);
    f.required("nodes", pool.nodes, kNodes);
    f.optional("price", pool.price, Number{0, kMaxPrice});
    f.optional("failing", pool.failing);
    f.optional("maintained", pool.maintained);
    f.optional("asleep", pool.asleep);
}

template <class F>
void fields(F& f, Budget& budget) {
    f.required("most", budget.most, kNodes);
    f.required("pools", budget.pools, kPools);
}

template <class F>
void fields(F& f, RunningJob& job) {
    f.required("id", job.id, kId);
    f.required("elastic", job.elastic, kSizing);
    f.optional("believed", job.elastic.speedup.believed, kShare, 1);
    f.required("eligible", job.eligible, kPlace);
    f.required("held", job.held, kCounts);
    f.required("batch_host_pool", job.batch_host_pool, kPlace);
    f.required("start", job.start, kTime);
    f.required("estimated_end", job.estimated_end, kTime);
    f.optional("limit_end", job.limit_end, kTime, kNever);
    f.optional("last_resize", job.last_resize, kTime);
    f.optional("rescale_time", job.rescale_time, kDuration);
    f.optional("gain", job.gain, Whole{});
    f.optional("expansions", job.expansions, Whole{0});
    f.optional("shrinks", job.shrinks, Whole{0});
    f.optional("duration", job.duration, kDuration);
    f.optional("resizable", job.resizable);
    f.optional("not_before", job.not_before, kTime);
}

template <class F>
void fields(F& f, PendingJob& job) {
    f.required("id", job.id, kId);
    f.required("elastic", job.elastic, kSizing);
    f.optional("believed", job.elastic.speedup.believed, kShare, 1);
    f.required("eligible", job.eligible, kPlace);
    f.required("duration", job.duration, kDuration);
    f.optional("divisible", job.divisible, kDuration);
    f.holds(job.divisible <= job.duration, "divisible={} is larger than duration={}", job.divisible,
            job.duration);
    f.required("submit", job.submit, kTime);
    f.optional("promised", job.promised, kTime, kNever);
    f.optional("not_before", job.not_before, kTime);
    f.optional("shares_nodes", job.shares_nodes);
    f.optional("claimed", job.claimed);
    f.optional("has_traded", job.has_traded);
    f.optional("alternative", job.alternative);
    f.optional("copies", job.copies, kSomeNodes, 1);
    f.optional("reserves", job.reserves, kNodes, kMaxNodes);
    f.optional("together", job.together, kId);
}

template <class F>
void fields(F& f, SharedNodes& shared) {
    f.required("pool", shared.pool, kPlace);
    f.required("nodes", shared.nodes, kNodes);
    f.required("until", shared.until, kTime);
}

template <class F>
void fields(F& f, Promise& promise) {
    f.required("kind", promise.kind);
    f.required("op", promise.op, kId);
    f.required("job", promise.job, kId);
    f.required("nodes", promise.nodes, kCounts);
    f.optional("beneficiary", promise.beneficiary, Whole{0});
    f.optional("size", promise.size, kNodes);
    f.optional("revocable", promise.revocable);
    f.optional("released", promise.released);
}

template <class F>
void fields(F& f, Claim& claim) {
    f.required("job", claim.job, kId);
    f.required("nodes", claim.nodes, kCounts);
}

template <class F>
void fields(F& f, PlannedStart& start) {
    f.required("job", start.job, kId);
    f.required("from", start.from, kTime);
    f.required("to", start.to, kTime);
    f.required("nodes", start.nodes, kCounts);
}

template <class F>
void fields(F& f, Preemptor& preemptor) {
    f.required("place", preemptor.place, kPlace);
    f.required("victims", preemptor.victims, kIds);
    f.optional("asked", preemptor.asked);
    f.optional("ends", preemptor.ends);
}

template <class F>
void fields(F& f, GrowthRequest& request) {
    f.required("op", request.op, kId);
    f.required("job", request.job, kId);
    f.required("nodes", request.nodes, kSomeNodes);
    f.required("least", request.least, kSomeNodes);
    f.required("deadline", request.deadline, kTime);
}

template <class F>
void fields(F& f, Snapshot& snapshot) {
    f.required("now", snapshot.now, kTime);
    f.optional("window", snapshot.window, kDuration, kNever);
    f.required("pools", snapshot.pools, kRecords);
    f.required("eligibilities", snapshot.eligibilities, kEligibilities);
    f.when(!snapshot.budgets.empty(), "budgets", snapshot.budgets, kRecords);
    f.required("running", snapshot.running, kRecords);
    f.required("pending", snapshot.pending, kRecords);
    f.required("shared_until", snapshot.shared_until, kRecords);
    f.required("promises", snapshot.promises, kRecords);
    f.when(!snapshot.claims.empty(), "claims", snapshot.claims, kRecords);
    f.when(!snapshot.planned.empty(), "planned", snapshot.planned, kRecords);
    f.when(!snapshot.preemptors.empty(), "preemptors", snapshot.preemptors, kRecords);
    f.required("requests", snapshot.requests, kRecords);
}

namespace {

// ---- checking ----------------------------------------------------------------

// Nodes accounted for by pool, and checks that stop at the first error.
class Checker {
  public:
    explicit Checker(const Snapshot& snapshot)
        : snapshot_(snapshot), used_(snapshot.pools.size(), 0), kept_(snapshot.pools.size(), 0) {}

    Result<void> run() {
        check_pools();
        for (const RunningJob& job : snapshot_.running) check_running(job);
        for (const PendingJob& job : snapshot_.pending) check_pending(job);
        check_together();
        for (const SharedNodes& shared : snapshot_.shared_until) check_shared(shared);
        if (!error_) check_totals();
        for (const Promise& promise : snapshot_.promises) check_promise(promise);
        for (const Claim& claim : snapshot_.claims) check_claim(claim);
        for (std::size_t pool = 0; pool < kept_.size() && !error_; ++pool)
            require(kept_[pool] <= snapshot_.pools[pool].idle,
                    "more idle nodes of pool {} are promised than there are", pool);
        for (const PlannedStart& start : snapshot_.planned) check_planned(start);
        check_preemptors();
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
        nodes_ = all;
        for (std::size_t i = 0; i < snapshot_.eligibilities.size(); ++i) {
            std::set<PoolId> seen;
            for (PoolId pool : snapshot_.eligibilities[i])
                require(pool < snapshot_.pools.size() && seen.insert(pool).second,
                        "eligibility {} names pool {} twice or it does not exist", i, pool);
        }
        for (std::size_t i = 0; i < snapshot_.budgets.size(); ++i) {
            std::set<PoolId> seen;
            for (PoolId pool : snapshot_.budgets[i].pools)
                require(pool < snapshot_.pools.size() && seen.insert(pool).second,
                        "budget {} names pool {} twice or it does not exist", i, pool);
        }
    }

    template <class Job>
    bool check_job(const Job& job, const char* what) {
        const Sizing& a = job.elastic;
        require(job.id != 0, "a {} job has the id 0", what);
        require(job.eligible < snapshot_.eligibilities.size(),
                "{} job {}: there is no eligibility {}", what, job.id, job.eligible);
        return require(1 <= a.min && a.min <= a.pref && a.pref <= a.max && a.max <= kMaxNodes,
                       "{} job {}: 1 <= min <= pref <= max does not hold", what, job.id);
    }

    void check_running(const RunningJob& job) {
        if (!check_job(job, "running")) return;
        if (!require(is_counts(job.held),
                     "running job {}: held must have a number of nodes for each of the {} pools",
                     job.id, snapshot_.pools.size()))
            return;
        require(job.batch_host_pool < snapshot_.pools.size(), "running job {}: there is no pool {}",
                job.id, job.batch_host_pool);
        for (std::size_t pool = 0; pool < job.held.size(); ++pool) used_[pool] += job.held[pool];
        require(held_.emplace(job.id, &job.held).second, "running job {} is there twice", job.id);
    }

    void check_pending(const PendingJob& job) {
        if (!check_job(job, "pending")) return;
        // Twice it may be there: for another partition, or as other elements of a job array.
        require(!held_.contains(job.id), "job {} runs and waits", job.id);
        require(job.copies >= 1 && job.copies - 1 <= nodes_,
                "pending job {}: copies must be 1 to one more than there are nodes, not {}", job.id,
                job.copies);
        require(job.copies == 1 || !(job.claimed || job.alternative),
                "pending job {}: one that is claimed or an alternative has no copies", job.id);
        require(job.duration >= 0, "pending job {}: negative duration", job.id);
        if (job.claimed) claimed_.insert(job.id);
    }

    void check_together() {
        std::set<JobId> seen;
        const PendingJob* before = nullptr;
        for (const PendingJob& job : snapshot_.pending) {
            const bool follows = before && before->together == job.together;
            before = &job;
            if (!job.together) continue;
            require(follows || seen.insert(job.together).second,
                    "pending job {}: others stand between those that start together", job.id);
            require(
                !job.elastic.malleable && !job.elastic.evolving && job.copies == 1 && !job.claimed,
                "pending job {}: one that starts together with others is rigid, has no copies "
                "and is not claimed",
                job.id);
        }
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
        if (!require(is_counts(promise.nodes),
                     "promise {}: nodes must have a number for each of the {} pools", promise.op,
                     snapshot_.pools.size()))
            return;
        const auto held = held_.find(promise.job);
        if (!require(held != held_.end(), "promise {}: job {} does not run", promise.op,
                     promise.job))
            return;
        require(promised_.insert(promise.job).second, "promise {}: job {} has another one",
                promise.op, promise.job);
        for (std::size_t pool = 0; pool < promise.nodes.size(); ++pool) {
            if (promise.kind == ResizeKind::expand)
                kept_[pool] += promise.nodes[pool];
            else
                require(promise.nodes[pool] <= (*held->second)[pool],
                        "promise {}: job {} does not hold that many nodes", promise.op,
                        promise.job);
        }
    }

    void check_claim(const Claim& claim) {
        if (!require(is_counts(claim.nodes),
                     "the claim of job {}: nodes must have a number for each of the {} pools",
                     claim.job, snapshot_.pools.size()))
            return;
        require(claimed_.contains(claim.job), "there is a claim of job {}, which is not claimed",
                claim.job);
        require(claims_.insert(claim.job).second, "job {} has two claims", claim.job);
        for (std::size_t pool = 0; pool < claim.nodes.size(); ++pool)
            kept_[pool] += claim.nodes[pool];
    }

    void check_planned(const PlannedStart& start) {
        if (!require(is_counts(start.nodes),
                     "the planned start of job {}: nodes must have a number for each of the {} "
                     "pools",
                     start.job, snapshot_.pools.size()))
            return;
        require(start.from < start.to, "the planned start of job {}: from < to does not hold",
                start.job);
        require(!held_.contains(start.job), "the planned start of job {}: the job runs", start.job);
        require(planned_.insert(start.job).second, "job {} has two planned starts", start.job);
    }

    void check_preemptors() {
        std::int64_t last = -1;
        for (const Preemptor& preemptor : snapshot_.preemptors) {
            require(last < preemptor.place && preemptor.place < snapshot_.pending.size(),
                    "preemptors: place {} does not follow place {} in a queue of {}",
                    preemptor.place, last, snapshot_.pending.size());
            last = preemptor.place;
            std::set<JobId> seen;
            for (JobId victim : preemptor.victims)
                require(held_.contains(victim) && seen.insert(victim).second,
                        "the preemptor at place {}: victim {} does not run, or is there twice",
                        preemptor.place, victim);
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
    std::int64_t nodes_ = 0;                 // of all pools
    std::map<JobId, const PoolCounts*> held_;
    std::set<JobId> promised_, claimed_, claims_, planned_;
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

Duration PendingJob::duration_at(int size) const {
    return duration - divisible + divisible * elastic.pref / std::max(size, elastic.pref);
}

int Snapshot::idle() const {
    int nodes = 0;
    for (const Pool& pool : pools) nodes += pool.idle;
    return nodes;
}

namespace {

bool is_priced(const Pool& pool) {
    return pool.price > 0;
}

// Those that are cheap enough, without a price first.
Eligibility affordable(const Snapshot& snapshot, const Eligibility& eligible,
                       const Sizing& elastic) {
    Eligibility pools;
    for (PoolId pool : eligible)
        if (!is_dear(snapshot.pools[pool], elastic)) pools.push_back(pool);
    std::stable_partition(pools.begin(), pools.end(),
                          [&](PoolId pool) { return !is_priced(snapshot.pools[pool]); });
    return pools;
}

// Where a job that waits may start: on its static set, if there is one that is large enough.
Eligibility places_to_start(const Snapshot& snapshot, const Eligibility& eligible,
                            const Sizing& elastic) {
    Eligibility pools = affordable(snapshot, eligible, elastic);
    const auto priced =
        std::ranges::find_if(pools, [&](PoolId pool) { return is_priced(snapshot.pools[pool]); });
    int free_of_charge = 0;
    for (auto pool = pools.begin(); pool != priced; ++pool)
        free_of_charge += snapshot.pools[*pool].nodes;
    if (free_of_charge >= elastic.min) pools.erase(priced, pools.end());
    return pools;
}

class Interned {
  public:
    explicit Interned(std::vector<Eligibility>& all) : all_(all) {
        for (EligibilityId id = 0; id < all.size(); ++id) ids_.try_emplace(all[id], id);
    }
    EligibilityId operator()(Eligibility&& pools) {
        const auto [found, is_new] =
            ids_.try_emplace(pools, static_cast<EligibilityId>(all_.size()));
        if (is_new) all_.push_back(std::move(pools));
        return found->second;
    }

  private:
    std::vector<Eligibility>& all_;
    std::map<Eligibility, EligibilityId> ids_;
};

}  // namespace

void apply_prices(Snapshot& snapshot) {
    if (std::ranges::none_of(snapshot.pools, is_priced)) return;
    Interned intern(snapshot.eligibilities);
    for (RunningJob& job : snapshot.running)
        if (job.elastic.price >= 0)
            job.eligible =
                intern(affordable(snapshot, snapshot.eligibilities[job.eligible], job.elastic));
    for (PendingJob& job : snapshot.pending)
        if (job.elastic.price >= 0)
            job.eligible = intern(
                places_to_start(snapshot, snapshot.eligibilities[job.eligible], job.elastic));
}

Json to_json(const Snapshot& snapshot) {
    return write_record(snapshot);
}

Result<Snapshot> snapshot_from_json(const Json& json) {
    if (!json.is_object()) return error("a snapshot must be an object");
    Snapshot snapshot;
    Result<void> done = read_record(json, snapshot);
    if (done) done = validate(snapshot);
    if (!done) return done.error();
    return snapshot;
}

Result<void> validate(const Snapshot& snapshot) {
    return Checker(snapshot).run();
}

}  // namespace elastic::core
