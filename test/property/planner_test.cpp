// SPDX-License-Identifier: MIT
// What always holds for a plan (planner.hpp), on random snapshots with everything in them, under
// every preset and victim order.
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/model/speedup.hpp"
#include "random_snapshot.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

struct Case {
    Snapshot snapshot;
    Policy policy;
    std::vector<Action> actions;
    std::map<JobId, const RunningJob*> running;
    std::map<JobId, const PendingJob*> pending;

    Case(Snapshot s, Policy p) : snapshot(std::move(s)), policy(p) {
        Planner planner;
        Rng rng(1);
        actions = planner.plan(snapshot, policy, rng).actions;
        for (const RunningJob& job : snapshot.running) running[job.id] = &job;
        for (const PendingJob& job : snapshot.pending) pending[job.id] = &job;
    }
    Case(const Case&) = delete;

    std::string text() const {
        Plan plan;
        plan.actions = actions;
        return to_json(snapshot).dump() + "\n" + to_json(plan).dump();
    }
};

#define holds(condition, c) \
    ck_assert_msg(condition, "%s does not hold for\n%s", #condition, (c).text().c_str())

// Evolution profiles are left out where a test has another picture of who uses which nodes when:
// simulation_elastic_test.cpp has what holds for them.
enum class Profiles { some, none };
// Jobs that start together.
enum class Bound { some, none };

Snapshot without_profiles(Snapshot snapshot) {
    for (RunningJob& job : snapshot.running) job.elastic.profile.clear();
    for (PendingJob& job : snapshot.pending) job.elastic.profile.clear();
    return snapshot;
}

// Others may grow past a job that has no room yet, as long as it has none.
Snapshot without_deferred(Snapshot snapshot) {
    for (PendingJob& job : snapshot.pending) job.not_before = 0;
    return snapshot;
}

template <class Check>
void for_random_cases(std::uint64_t standard_seed, int count, Check check,
                      Profiles profiles = Profiles::some, Bound bound_jobs = Bound::some) {
    Rng rng(seed(standard_seed)), bound(standard_seed);
    for (int i = 0; i < count; ++i) {
        RandomSnapshot random(rng);
        Snapshot snapshot = random.anything();
        if (profiles == Profiles::none) snapshot = without_profiles(std::move(snapshot));
        if (bound_jobs == Bound::some && i % 4 == 0) RandomSnapshot(bound).bind(snapshot);
        check_ok(validate(snapshot));
        Policy policy = *preset(preset_names()[i % preset_names().size()]);
        if (random.chance(30)) policy = Policy{};
        if (random.chance(50)) policy.victim_order = static_cast<VictimOrder>(random.between(0, 9));
        if (random.chance(15)) policy.backfill = Backfill::none;
        if (i % 7 == 3) policy.backfill = Backfill::first_fit;
        if (i % 5 == 2) policy.shrink_amount = ShrinkAmount::each;
        if (random.chance(50)) policy.reserved_nodes = ReservedNodes::lent;
        if (random.chance(50)) policy.expand_from = ExpandFrom::start;
        if (random.chance(30)) {
            policy.head_delay = random.between(0, 60);
            policy.head_delay_binds = HeadDelayBinds::all;
        }
        for (PendingJob& job : snapshot.pending)
            if (random.chance(50)) job.promised = snapshot.now + random.between(-200, 200);
        check(Case(snapshot, policy));
    }
}

// Jobs that wait for victims, under each choice of what else they may start on.
template <class Check>
void for_contended_cases(std::uint64_t standard_seed, int count, Check check) {
    Rng rng(seed(standard_seed));
    for (int i = 0; i < count; ++i) {
        RandomSnapshot random(rng);
        const Snapshot snapshot = random.contended();
        check_ok(validate(snapshot));
        Policy policy = *preset(preset_names()[i % preset_names().size()]);
        policy.starts_on = static_cast<StartsOn>(random.between(0, 3));
        check(Case(snapshot, policy));
    }
}

void add(PoolCounts& to, const PoolCounts& more, int sign = 1) {
    for (std::size_t p = 0; p < to.size(); ++p) to[p] += sign * more[p];
}

bool only_in(const PoolCounts& nodes, const Eligibility& eligible) {
    int inside = 0;
    for (PoolId pool : eligible) inside += nodes[pool];
    return inside == total(nodes);
}

void check_start(const Case& c, const Action& action) {
    holds(c.pending.contains(action.job), c);
    const PendingJob& job = *c.pending.at(action.job);
    const Sizing& a = job.elastic;
    holds(a.min <= action.size_after && action.size_after <= a.max, c);
    holds(a.sizes.allows(action.size_after), c);
    holds(total(action.nodes) == action.size_after ||
              (job.shares_nodes && total(action.nodes) < action.size_after),
          c);
    holds(job.claimed || job.not_before <= c.snapshot.now, c);
    holds(only_in(action.nodes, c.snapshot.eligibilities[job.eligible]), c);
}

void check_resizable(const Case& c, const RunningJob& job) {
    holds(job.elastic.malleable && job.resizable && job.not_before <= c.snapshot.now, c);
    const Duration gap = job.elastic.gap >= 0 ? job.elastic.gap : c.policy.resize_gap;
    holds(job.last_resize + gap <= c.snapshot.now, c);
}

void check_shrink(const Case& c, const Action& action) {
    const RunningJob& job = *c.running.at(action.job);
    check_resizable(c, job);
    holds(total(action.nodes) >= 1 && action.size_after == total(job.held) - total(action.nodes),
          c);
    holds(action.size_after >= job.elastic.min && job.elastic.sizes.allows(action.size_after), c);
    for (PoolId p = 0; p < action.nodes.size(); ++p)
        holds(action.nodes[p] == 0 ||
                  action.nodes[p] <= job.held[p] - (p == job.batch_host_pool ? 1 : 0),
              c);
    const auto starts_together = [](const PendingJob& job) { return job.together != 0; };
    // Who is asked for all gives what nobody needs, too.
    holds(action.beneficiary != 0 || c.policy.shrink_amount == ShrinkAmount::each ||
              std::ranges::any_of(c.snapshot.pending, starts_together),
          c);
    holds(action.beneficiary != action.job, c);
}

void check_expand(const Case& c, const Action& action) {
    const RunningJob& job = *c.running.at(action.job);
    holds(job.resizable, c);
    if (action.op == 0) check_resizable(c, job);
    holds(total(action.nodes) >= 1 && action.size_after == total(job.held) + total(action.nodes),
          c);
    holds(action.size_after <= job.elastic.max && job.elastic.sizes.allows(action.size_after), c);
    holds(only_in(action.nodes, c.snapshot.eligibilities[job.eligible]), c);
}

const Promise& promise_of(const Case& c, OpId op) {
    return *std::ranges::find(c.snapshot.promises, op, &Promise::op);
}

void check_trade(const Case& c, const Action& action) {
    const Promise& promise = promise_of(c, action.op);
    holds(promise.kind == ResizeKind::shrink && promise.job == action.job, c);
    holds(!promise.released && !promise.revocable, c);
    holds(promise.beneficiary != action.beneficiary && action.size_after == 0, c);
    const PendingJob& giver = *c.pending.at(action.beneficiary);
    holds(giver.claimed && !giver.has_traded, c);
    holds(total(action.nodes) >= 1, c);
    for (PoolId p = 0; p < action.nodes.size(); ++p) holds(action.nodes[p] <= promise.nodes[p], c);
}

// What victims have left for anybody in this pool.
int released_nodes(const Case& c, PoolId pool) {
    int nodes = 0;
    for (const Promise& promise : c.snapshot.promises)
        if (promise.released) nodes += promise.nodes[pool];
    return nodes;
}

// The nodes that an action takes from the idle ones; the rest comes from its victims.
PoolCounts idle_part(const Case& c, const Action& action) {
    PoolCounts nodes = action.nodes;
    for (const Action& other : c.actions)
        if (other.kind == ActionKind::shrink && other.beneficiary == action.job)
            add(nodes, other.nodes, -1);
    for (int& count : nodes) count = std::max(count, 0);
    return nodes;
}

bool gives_nodes(const Action& action) {
    return action.kind == ActionKind::start || action.kind == ActionKind::expand;
}

bool is_withdrawn(const Case& c, OpId op) {
    return std::any_of(c.actions.begin(), c.actions.end(), [&](const Action& action) {
        return action.kind == ActionKind::withdraw && action.op == op;
    });
}

Time soon(const Case& c) {
    return std::nextafter(c.snapshot.now, kNever);
}

// Who uses which nodes when, if the plan is carried out now and every job ends by its estimate,
// which for a shrunk job grows by the model.
struct Use {
    Time from, to;
    PoolCounts nodes;
};

Time end_of(const Case& c, const RunningJob& job) {
    return std::max(job.estimated_end, soon(c));
}

bool is_promised(const Case& c, JobId job) {
    return std::any_of(c.snapshot.promises.begin(), c.snapshot.promises.end(),
                       [&](const Promise& promise) { return promise.job == job; });
}

bool asks(const Case& c, JobId job) {
    return std::any_of(c.snapshot.requests.begin(), c.snapshot.requests.end(),
                       [&](const GrowthRequest& request) { return request.job == job; });
}

// Whether reservations may count on what the job holds above its smallest size.
bool returns(const Case& c, const RunningJob& job) {
    const Policy& p = c.policy;
    return p.reserved_nodes == ReservedNodes::lent && p.shrink_guard == ShrinkGuard::by_default &&
           p.shrink_amount == ShrinkAmount::needed && p.feasibility != Feasibility::mebf &&
           p.feasibility != Feasibility::slowdown && job.elastic.malleable &&
           (job.resizable || is_promised(c, job.id)) && !asks(c, job.id) && job.not_before <= 0;
}

Time returns_at(const Case& c, const RunningJob& job, Time resized) {
    const Duration gap = job.elastic.gap >= 0 ? job.elastic.gap : c.policy.resize_gap;
    return std::max(resized + gap, soon(c));
}

// Of these nodes, those above the smallest size; the batch host's pool comes last.
PoolCounts returnable(const RunningJob& job, const PoolCounts& held) {
    PoolCounts nodes(held.size(), 0);
    int left = total(held);
    while (left > 0 && !job.elastic.sizes.allows(left)) --left;
    for (int size = left; size >= job.elastic.min; --size)
        if (job.elastic.sizes.allows(size)) left = size;
    left = total(held) - left;
    for (PoolId p = 0; p < held.size(); ++p)
        if (p != job.batch_host_pool) left -= nodes[p] = std::min(held[p], left);
    nodes[job.batch_host_pool] = std::min(held[job.batch_host_pool] - 1, left);
    return nodes;
}

// What the job holds until it ends, in two parts if it gives back one of them before.
void add_holding(const Case& c, const RunningJob& job, const Use& all, Time resized,
                 std::vector<Use>& uses) {
    Use kept = all, back = all;
    back.nodes.assign(all.nodes.size(), 0);
    if (returns(c, job)) back.nodes = returnable(job, all.nodes);
    back.to = std::min(all.to, returns_at(c, job, resized));
    add(kept.nodes, back.nodes, -1);
    uses.push_back(kept);
    uses.push_back(back);
}

Use kept_by_victim(const Case& c, const RunningJob& job, const PoolCounts& given) {
    Use use{c.snapshot.now, end_of(c, job), job.held};
    const int size = total(job.held), after = size - total(given);
    add(use.nodes, given, -1);
    if (use.to >= kNever || after < 1) return use;
    const Duration slower = rescale(use.to - c.snapshot.now, size, after, job.elastic);
    use.to = std::max(use.to, c.snapshot.now + slower + job.elastic.cost.seconds(size, after));
    return use;
}

std::vector<Use> uses_after(const Case& c) {
    std::map<JobId, PoolCounts> given;
    for (const Promise& promise : c.snapshot.promises)
        if (promise.kind == ResizeKind::shrink) given[promise.job] = promise.nodes;
    for (const Action& action : c.actions)
        if (action.kind == ActionKind::shrink) given[action.job] = action.nodes;
    std::map<JobId, PoolCounts> taken;
    for (const Promise& promise : c.snapshot.promises)
        if (promise.kind == ResizeKind::expand && !is_withdrawn(c, promise.op))
            taken[promise.job] = promise.nodes;
    for (const Action& action : c.actions)
        if (action.kind == ActionKind::expand) taken[action.job] = action.nodes;
    std::vector<Use> uses;
    for (const RunningJob& job : c.snapshot.running) {
        Use use{c.snapshot.now, end_of(c, job), job.held};
        if (given.contains(job.id)) use = kept_by_victim(c, job, given[job.id]);
        if (taken.contains(job.id)) add(use.nodes, taken[job.id]);
        const bool resized = given.contains(job.id) || taken.contains(job.id);
        add_holding(c, job, use, resized ? c.snapshot.now : job.last_resize, uses);
    }
    for (const Action& action : c.actions) {
        if (action.kind != ActionKind::start) continue;
        const PendingJob& job = *c.pending.at(action.job);
        Duration duration = job.duration_at(action.size_after);
        if (action.size_after < job.elastic.pref)
            duration = rescale(duration, job.elastic.pref, action.size_after, job.elastic);
        uses.push_back(
            {c.snapshot.now, std::max(c.snapshot.now + duration, soon(c)), action.nodes});
    }
    for (const Action& action : c.actions) {
        if (action.kind != ActionKind::reserve) continue;
        Duration duration = c.pending.at(action.job)->duration_at(action.size_after);
        const Sizing& a = c.pending.at(action.job)->elastic;
        if (action.size_after < a.pref) duration = rescale(duration, a.pref, action.size_after, a);
        duration = c.snapshot.now + duration - c.snapshot.now;  // rounded as the planner rounds
        uses.push_back({action.time,
                        std::max(action.time + duration, std::nextafter(action.time, kNever)),
                        action.nodes});
    }
    for (const SharedNodes& shared : c.snapshot.shared_until) {
        PoolCounts nodes(c.snapshot.pools.size(), 0);
        nodes[shared.pool] = shared.nodes;
        uses.push_back({c.snapshot.now, std::max(shared.until, soon(c)), nodes});
    }
    return uses;
}

}  // namespace

TEST(every_action_is_allowed_to_the_job_it_concerns) {
    std::map<ActionKind, int> seen;
    const auto check = [&](const Case& c) {
        std::map<JobId, int> actions;
        for (const Action& action : c.actions) {
            ++seen[action.kind];
            if (action.kind == ActionKind::start) check_start(c, action);
            if (action.kind == ActionKind::shrink) check_shrink(c, action);
            if (action.kind == ActionKind::expand) check_expand(c, action);
            if (action.kind == ActionKind::trade) check_trade(c, action);
            if (action.kind != ActionKind::deny) ++actions[action.job];
        }
        for (auto [job, count] : actions) holds(count == 1, c);
    };
    for_random_cases(11, 12000, check);
    for_contended_cases(25, 6000, check);
    check_eq(seen.size(), 7U);
    for (auto [kind, count] : seen) check_that(count > 100);
}

namespace {

void check_idle_nodes(const Case& c) {
    PoolCounts given(c.snapshot.pools.size(), 0);
    for (const Promise& promise : c.snapshot.promises)
        if (promise.kind == ResizeKind::expand && !is_withdrawn(c, promise.op))
            add(given, promise.nodes);
    PoolCounts traded(c.snapshot.pools.size(), 0);
    for (const Action& action : c.actions) {
        if (!gives_nodes(action)) continue;
        const bool is_traded = action.reason == Reason::by_trading;
        add(is_traded ? traded : given, idle_part(c, action));
    }
    for (PoolId p = 0; p < given.size(); ++p) {
        given[p] += std::max(0, traded[p] - released_nodes(c, p));
        holds(given[p] <= c.snapshot.pools[p].idle, c);
    }
}

}  // namespace

TEST(no_idle_node_is_given_twice) {
    for_random_cases(12, 12000, check_idle_nodes);
    for_contended_cases(26, 6000, check_idle_nodes);
}

// With its trades a job has exactly what it was promised, whoever gave to it is left as much of
// each pool, and nobody gives to two, or starts besides.
TEST(a_trade_is_an_exchange_between_two_who_wait) {
    int starts = 0, trades = 0, several = 0;
    for_contended_cases(23, 10000, [&](const Case& c) {
        std::map<JobId, std::vector<const Action*>> for_job;
        std::map<JobId, JobId> taker_of;
        std::set<JobId> started;
        for (const Action& action : c.actions) {
            if (action.kind == ActionKind::start) started.insert(action.job);
            if (action.kind != ActionKind::trade) continue;
            ++trades;
            const JobId taker = promise_of(c, action.op).beneficiary;
            for_job[taker].push_back(&action);
            holds(taker_of.emplace(action.beneficiary, taker).first->second == taker, c);
        }
        for (const auto& [giver, taker] : taker_of) {
            holds(!started.contains(giver) && !taker_of.contains(taker), c);
            const auto is_for_it = [&](const Promise& promise) {
                return promise.beneficiary == giver && !promise.released;
            };
            holds(std::ranges::any_of(c.snapshot.promises, is_for_it), c);
        }
        for (const Action& action : c.actions) {
            if (action.reason != Reason::by_trading) continue;
            ++starts;
            several += for_job[action.job].size() > 1;
            holds(c.policy.trades() && c.pending.at(action.job)->claimed, c);
            for (PoolId p = 0; p < action.nodes.size(); ++p) {
                int there = c.snapshot.pools[p].idle + released_nodes(c, p);
                holds(action.nodes[p] <= there, c);
            }
            for_job.erase(action.job);
        }
        holds(for_job.empty(), c);  // nothing is traded for nobody
    });
    check_that(starts > 400);
    check_that(trades > 300);
    check_that(several > 25);
}

TEST(nobody_trades_who_has_not_chosen_to) {
    int would = 0;
    for_contended_cases(24, 4000, [&](const Case& given) {
        Policy policy = given.policy;
        for (const StartsOn starts_on : {StartsOn::idle, StartsOn::agreed}) {
            policy.starts_on = starts_on;
            const Case c(given.snapshot, policy);
            for (const Action& action : c.actions) {
                holds(action.kind != ActionKind::trade, c);
                holds(action.reason != Reason::by_trading, c);
                holds(action.reason != Reason::nodes_came_free || starts_on == StartsOn::idle, c);
            }
        }
        policy.starts_on = StartsOn::steal;
        would += std::ranges::count(Case(given.snapshot, policy).actions, ActionKind::trade,
                                    &Action::kind);
    });
    check_that(would > 300);
}

Snapshot with_preemptors(RandomSnapshot& random, Snapshot snapshot) {
    for (std::uint32_t place = 0; place < snapshot.pending.size(); ++place) {
        if (random.chance(50)) continue;
        Preemptor& preemptor = snapshot.preemptors.emplace_back();
        preemptor.place = place;
        for (const RunningJob& job : snapshot.running)
            if (random.chance(60)) preemptor.victims.push_back(job.id);
        preemptor.asked = random.chance(30);
        preemptor.ends = random.chance(60);
    }
    return snapshot;
}

const Preemptor* preemptor_of(const Case& c, JobId job) {
    for (const Preemptor& preemptor : c.snapshot.preemptors)
        if (c.snapshot.pending[preemptor.place].id == job) return &preemptor;
    return nullptr;
}

bool is_victim(const Preemptor& preemptor, JobId job) {
    return std::ranges::find(preemptor.victims, job) != preemptor.victims.end();
}

// What is ended helps its preemptor, which could not have all its nodes without each of these.
void check_preempted(const Case& c, const PendingJob& job, const std::vector<JobId>& ended) {
    int nodes = 0, least = kMaxNodes;
    for (const JobId id : ended) {
        int usable = 0;
        for (PoolId pool : c.snapshot.eligibilities[job.eligible])
            usable += c.running.at(id)->held[pool];
        nodes += usable;
        least = std::min(least, usable);
    }
    holds(least > 0 && nodes - least < job.elastic.max, c);
}

TEST(preemption_asks_first_and_ends_only_what_it_may) {
    int shrinks = 0, ends = 0;
    Rng rng(seed(28));
    for (int i = 0; i < 12000; ++i) {
        RandomSnapshot random(rng);
        Snapshot snapshot = with_preemptors(random, random.anything());
        check_ok(validate(snapshot));
        const Case c(snapshot, *preset(preset_names()[i % preset_names().size()]));
        std::map<JobId, int> actions;
        std::map<JobId, std::vector<JobId>> ended;
        std::set<JobId> started;
        check_idle_nodes(c);
        for (const Action& action : c.actions) {
            if (action.kind != ActionKind::deny) holds(++actions[action.job] == 1, c);
            if (action.kind == ActionKind::start) started.insert(action.job);
            if (action.kind == ActionKind::preempt) ended[action.beneficiary].push_back(action.job);
            if (action.reason != Reason::instead_of_preemption) continue;
            ++shrinks;
            const Preemptor* preemptor = preemptor_of(c, action.beneficiary);
            holds(preemptor && !preemptor->asked && is_victim(*preemptor, action.job), c);
            const RunningJob& job = *c.running.at(action.job);
            holds(job.resizable && job.not_before <= snapshot.now, c);
            holds(action.size_after >= job.elastic.min, c);
        }
        for (const auto& [job, victims] : ended) {
            ++ends;
            const Preemptor* preemptor = preemptor_of(c, job);
            holds(preemptor && preemptor->ends && !started.contains(job), c);
            for (JobId victim : victims) holds(is_victim(*preemptor, victim), c);
            check_preempted(c, *c.pending.at(job), victims);
        }
    }
    check_that(shrinks > 500);
    check_that(ends > 500);
}

TEST(who_waits_for_victims_gets_all_it_needs_from_them) {
    for_random_cases(13, 8000, [](const Case& c) {
        for (const Action& action : c.actions) {
            if (gives_nodes(action)) {
                const bool has_victims =
                    std::any_of(c.actions.begin(), c.actions.end(), [&](const Action& other) {
                        return other.kind == ActionKind::shrink && other.beneficiary == action.job;
                    });
                holds(action.deferred == has_victims, c);
            }
            if (action.kind != ActionKind::shrink || !action.beneficiary) continue;
            holds(std::any_of(c.actions.begin(), c.actions.end(),
                              [&](const Action& other) {
                                  return gives_nodes(other) && other.deferred &&
                                         other.job == action.beneficiary;
                              }),
                  c);
        }
    });
}

// Nodes may be given that a deferred job has reserved: they come back.  Of claims, which of their
// victims' nodes they use is not in the plan.
bool is_any_deferred_or_claimed(const Snapshot& snapshot) {
    return std::ranges::any_of(snapshot.pending, [&](const PendingJob& job) {
        return job.claimed || job.not_before > snapshot.now;
    });
}

// How many reservations there are, each of which can be kept.
int check_reserved_nodes(const Case& c) {
    int reservations = 0;
    const std::vector<Use> uses = uses_after(c);
    for (const Action& action : c.actions) {
        if (action.kind != ActionKind::reserve) continue;
        ++reservations;
        for (const Use& at : uses) {
            const Time end = action.time + c.pending.at(action.job)->duration_at(action.size_after);
            const Time time = std::max(at.from, action.time);
            if (time >= std::max(end, std::nextafter(action.time, kNever))) continue;
            for (std::size_t p = 0; p < action.nodes.size(); ++p) {
                if (action.nodes[p] == 0) continue;
                int used = 0;
                for (const Use& use : uses)
                    if (use.from <= time && time < use.to) used += use.nodes[p];
                holds(used <= c.snapshot.pools[p].nodes, c);
            }
        }
    }
    return reservations;
}

TEST(the_reserved_nodes_are_free_at_the_reserved_time) {
    int reservations = 0;
    for_random_cases(
        14, 12000,
        [&](const Case& c) {
            if (!is_any_deferred_or_claimed(c.snapshot)) reservations += check_reserved_nodes(c);
        },
        Profiles::none);
    check_that(reservations > 1000);
}

// Moves some of what an action takes to other pools, where that is spare; how many nodes.
int move_some(Action& action, PoolCounts& strayed, Rng& rng) {
    int moved = 0;
    for (PoolId from = 0; from < action.nodes.size(); ++from)
        for (PoolId to = 0; to < action.spare.size(); ++to) {
            const int most = std::min(action.nodes[from], action.spare[to] - strayed[to]);
            if (from == to || most < 1) continue;
            const int nodes = std::uniform_int_distribution(0, most)(rng);
            action.nodes[from] -= nodes;
            action.nodes[to] += nodes;
            strayed[to] += nodes;
            moved += nodes;
        }
    return moved;
}

// Growths get what starts leave of it, so the test looks at either.
TEST(nobody_suffers_if_actions_take_what_is_spare_instead) {
    int moved = 0;
    Rng rng(seed(29));
    for_random_cases(
        28, 12000,
        [&](const Case& c) {
            if (is_any_deferred_or_claimed(c.snapshot)) return;
            Case other(c.snapshot, c.policy);
            const bool grows = std::ranges::any_of(other.actions, [](const Action& action) {
                return action.kind == ActionKind::expand;
            });
            PoolCounts strayed(c.snapshot.pools.size(), 0);
            for (Action& action : other.actions)
                if (action.kind == (grows ? ActionKind::expand : ActionKind::start))
                    moved += move_some(action, strayed, rng);
            PoolCounts given(c.snapshot.pools.size(), 0);
            for (const Action& action : other.actions)
                if (gives_nodes(action) && action.reason != Reason::by_trading)
                    add(given, idle_part(other, action));
            for (PoolId p = 0; p < given.size(); ++p)
                holds(given[p] <= c.snapshot.pools[p].idle, other);
            check_reserved_nodes(other);
        },
        Profiles::none);
    check_that(moved > 1000);
}

// What conservative backfilling, which resizes nobody, plans for jobs that cannot start yet.
std::vector<PlannedStart> planned_by_another(const Snapshot& snapshot) {
    const Case other(snapshot, *preset("conservative"));
    std::map<JobId, PlannedStart> planned;
    for (const Action& action : other.actions) {
        if (action.kind != ActionKind::reserve) continue;
        const Duration duration = other.pending.at(action.job)->duration_at(action.size_after);
        const Time to = std::max(action.time + duration, std::nextafter(action.time, kNever));
        planned.try_emplace(action.job, PlannedStart{action.job, action.time, to, action.nodes});
    }
    std::vector<PlannedStart> starts;
    for (const auto& [job, start] : planned) starts.push_back(start);
    return starts;
}

TEST(what_another_scheduler_has_planned_is_not_delayed) {
    int planned = 0;
    for_random_cases(
        27, 12000,
        [&](const Case& random) {
            Snapshot snapshot = random.snapshot;
            snapshot.requests.clear();  // of which the other knows nothing
            if (is_any_deferred_or_claimed(snapshot)) return;
            snapshot.planned = planned_by_another(snapshot);
            snapshot.requests = random.snapshot.requests;
            // As soon as overdue jobs end, the next instant: nobody else plans in such.
            if (std::ranges::any_of(snapshot.planned, [&](const PlannedStart& start) {
                    return start.from < snapshot.now + 0.5;
                }))
                return;
            check_ok(validate(snapshot));
            Policy policy = random.policy;
            policy.reserved_nodes = ReservedNodes::kept;
            const Case c(std::move(snapshot), policy);
            check_reserved_nodes(c);
            for (const PlannedStart& start : c.snapshot.planned) {
                const auto is_start = [&](const Action& action) {
                    return action.job == start.job && action.kind == ActionKind::start;
                };
                if (std::ranges::any_of(c.actions, is_start)) continue;
                ++planned;
                holds(std::ranges::any_of(c.actions,
                                          [&](const Action& action) {
                                              return action.job == start.job &&
                                                     action.kind == ActionKind::reserve &&
                                                     action.time == start.from &&
                                                     action.nodes == start.nodes;
                                          }),
                      c);
            }
        },
        Profiles::none, Bound::none);
    check_that(planned > 1000);
}

const Action* action_of(const Case& c, JobId job) {
    const auto found = std::find_if(c.actions.begin(), c.actions.end(),
                                    [&](const Action& action) { return action.job == job; });
    return found == c.actions.end() ? nullptr : &*found;
}

// The head is the first job that does not start; null if there is none, or if its nodes never
// come free.
const Action* reservation_of_head(const Case& c) {
    for (const PendingJob& job : c.snapshot.pending) {
        const Action* action = action_of(c, job.id);
        if (!job.claimed && !(action && action->kind == ActionKind::start)) return action;
    }
    return nullptr;
}

// Without backfilling, shrinking and expanding it would start at its fcfs reservation.
TEST(the_head_never_starts_later_than_without_the_plan) {
    int heads = 0;
    for_random_cases(
        15, 12000,
        [&](const Case& given) {
            Snapshot snapshot = without_deferred(given.snapshot);
            snapshot.requests.clear();
            if (given.policy.backfill == Backfill::first_fit) return;  // nobody has a reservation
            // Who starts moldable jobs with less starts them where fcfs would wait, in order.
            if (given.policy.initial_size != InitialSize::requested &&
                given.policy.initial_size != InitialSize::least)
                return;
            // A job that waits for victims holds what its initial size says until it starts.
            Policy fcfs = *preset("fcfs");
            fcfs.initial_size = given.policy.initial_size;
            fcfs.starts_on = given.policy.starts_on;
            const Case plain(snapshot, fcfs);
            const Action* head = reservation_of_head(plain);
            if (!head) return;
            ++heads;
            const Case c(snapshot, given.policy);
            const Action* own = action_of(c, head->job);
            holds(own, c);
            holds(own->kind == ActionKind::start || own->time <= head->time, c);
        },
        Profiles::none);
    check_that(heads > 1000);
}

template <class Job>
auto find_job(std::vector<Job>& jobs, JobId id) {
    return std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return job.id == id; });
}

void apply_resize(const Case& c, const Action& action, Snapshot& next) {
    const bool shrinks = action.kind == ActionKind::shrink;
    RunningJob& job = *find_job(next.running, action.job);
    const int size = total(job.held);
    const Time end = end_of(c, job);
    add(job.held, action.nodes, shrinks ? -1 : 1);
    job.last_resize = next.now;
    if (end >= kNever) return;
    const Duration left = rescale(end - next.now, size, total(job.held), job.elastic);
    const Duration cost = job.elastic.cost.seconds(size, total(job.held));
    job.estimated_end = std::max(shrinks ? end : 0, next.now + left + cost);
}

void apply_start(const Action& action, Snapshot& next) {
    const auto pending = find_job(next.pending, action.job);
    RunningJob job;
    job.id = pending->id;
    job.elastic = pending->elastic;
    job.eligible = pending->eligible;
    job.held = action.nodes;
    while (job.held[job.batch_host_pool] == 0) ++job.batch_host_pool;
    job.start = job.last_resize = next.now;
    Duration duration = pending->duration_at(action.size_after);
    if (action.size_after < job.elastic.pref)
        duration = rescale(duration, job.elastic.pref, action.size_after, job.elastic);
    job.estimated_end = std::min(next.now + duration, kNever);
    job.resizable = job.elastic.malleable;
    next.running.push_back(job);
    next.pending.erase(pending);
}

// What is there when the plan has been carried out, if everybody does as asked at once.
Snapshot after_plan(const Case& c) {
    Snapshot next = c.snapshot;
    for (const Action& action : c.actions) {
        if (action.kind == ActionKind::start) apply_start(action, next);
        if (action.kind == ActionKind::shrink || action.kind == ActionKind::expand)
            apply_resize(c, action, next);
    }
    for (PoolId pool = 0; pool < next.pools.size(); ++pool) {
        int used = 0;
        for (const RunningJob& job : next.running) used += job.held[pool];
        for (const SharedNodes& shared : next.shared_until)
            used += shared.pool == pool ? shared.nodes : 0;
        next.pools[pool].idle = next.pools[pool].nodes - used;
    }
    return next;
}

// No decision makes who waits wait longer: the reservation of the head stands in the next pass.
TEST(the_head_never_waits_longer_than_its_reservation_said) {
    int heads = 0;
    for_random_cases(
        18, 12000,
        [&](const Case& given) {
            Snapshot snapshot = given.snapshot;
            // Shares change with the jobs; what shares nodes is for Slurm to say.
            if (given.policy.initial_size == InitialSize::equal_share) return;
            snapshot = without_deferred(std::move(snapshot));
            snapshot.requests.clear();
            snapshot.promises.clear();
            for (PendingJob& job : snapshot.pending) job.shares_nodes = job.claimed = false;
            const Case before(snapshot, given.policy);
            const Action* promised = reservation_of_head(before);
            if (!promised) return;
            ++heads;
            const Case c(after_plan(before), given.policy);
            const Action* own = action_of(c, promised->job);
            holds(own, before);
            holds(own->kind == ActionKind::start || own->time <= promised->time, before);
        },
        Profiles::none);
    check_that(heads > 1000);
}

// Who was promised a start has it within the bound, whatever others ask for.
TEST(requests_push_nobody_back_beyond_the_bound) {
    int heads = 0, delayed = 0;
    for_random_cases(
        21, 12000,
        [&](const Case& given) {
            if (given.snapshot.requests.empty()) return;
            if (given.policy.initial_size == InitialSize::equal_share) return;
            // Who asks for nodes lends none.
            if (given.policy.reserved_nodes == ReservedNodes::lent) return;
            Snapshot snapshot = without_deferred(given.snapshot);
            for (PendingJob& job : snapshot.pending) job.shares_nodes = job.claimed = false;
            snapshot.promises.clear();
            snapshot.claims.clear();
            snapshot.requests.clear();
            const Case before(snapshot, given.policy);
            const Action* promised = reservation_of_head(before);
            // Where another job is in front that would start now, that is the head once it cannot.
            if (!promised || promised->place != 0) return;
            ++heads;
            snapshot.requests = given.snapshot.requests;
            snapshot.pending[promised->place].promised = promised->time;
            Policy policy = given.policy;
            policy.head_delay = heads % 3 * 10;
            const Case c(snapshot, policy);
            const Action* own = action_of(c, promised->job);
            holds(own, c);
            if (own->kind == ActionKind::start) return;
            holds(own->time <= promised->time + policy.head_delay, c);
            delayed += own->time > promised->time;
        },
        Profiles::none);
    check_that(heads > 200);
    check_that(delayed > 10);
}

// Of jobs that start together.
TEST(components_start_together_or_not_at_all) {
    int starts = 0, reservations = 0, waits = 0;
    for_random_cases(27, 12000, [&](const Case& c) {
        std::map<JobId, int> components, started, reserved;
        std::map<JobId, Time> times;
        for (const PendingJob& job : c.snapshot.pending) components[job.together] += 1;
        for (const Action& action : c.actions) {
            if (action.kind != ActionKind::start && action.kind != ActionKind::reserve) continue;
            const JobId together = c.snapshot.pending[action.place].together;
            if (action.kind == ActionKind::start) {
                holds(!together || !action.deferred, c);
                ++started[together];
            } else {
                ++reserved[together];
                const Time time = times.emplace(together, action.time).first->second;
                holds(!together || time == action.time, c);
            }
        }
        for (const auto& [together, count] : components) {
            if (!together) continue;
            const bool starts_now = started[together] > 0, is_reserved = reserved[together] > 0;
            holds(!starts_now || (started[together] == count && !is_reserved), c);
            holds(!is_reserved || reserved[together] == count, c);
            starts += starts_now;
            reservations += is_reserved;
            waits += !starts_now && !is_reserved;
        }
    });
    check_that(starts > 200);
    check_that(reservations > 200);
    check_that(waits > 200);
}

TEST(the_same_snapshot_gives_the_same_plan) {
    Planner used;
    for_random_cases(16, 3000, [&](const Case& c) {
        Rng rng(1);
        Plan fresh;
        fresh.actions = c.actions;
        const std::string expected = to_json(fresh).dump();
        check_eq(to_json(used.plan(c.snapshot, c.policy, rng)).dump(), expected);
        rng.seed(1);
        Result<Snapshot> read = snapshot_from_json(*Json::parse(to_json(c.snapshot).dump()));
        ck_assert_msg(static_cast<bool>(read), "%s\n%s", read ? "" : read.error().message.c_str(),
                      c.text().c_str());
        check_eq(to_json(used.plan(*read, c.policy, rng)).dump(), expected);
    });
}

// Each job that waits for no victims, one to four times.
Snapshot with_copies(Snapshot snapshot, Rng& rng) {
    int nodes = 0;
    for (const Pool& pool : snapshot.pools) nodes += pool.nodes;
    for (PendingJob& job : snapshot.pending)
        if (!job.claimed) job.copies = std::min(1 + static_cast<int>(rng() % 4), nodes + 1);
    return snapshot;
}

// The same with an entry for each copy, and the entry of `snapshot` that each comes from.
std::pair<Snapshot, std::vector<std::uint32_t>> unfolded(Snapshot snapshot) {
    std::vector<std::uint32_t> from;
    std::vector<PendingJob> queue;
    for (std::uint32_t entry = 0; entry < snapshot.pending.size(); ++entry) {
        PendingJob& job = snapshot.pending[entry];
        for (int left = std::exchange(job.copies, 1); left > 0; --left) {
            queue.push_back(job);
            from.push_back(entry);
            job.promised = kNever;  // a promise is that of one copy
        }
    }
    snapshot.pending = std::move(queue);
    return {std::move(snapshot), std::move(from)};
}

// Of the reservations of one entry it does not matter which comes first.
std::string text_of(std::vector<Action> actions) {
    std::ranges::stable_sort(actions, {}, [](const Action& action) {
        const bool reserves = action.kind == ActionKind::reserve;
        return reserves ? std::tuple(true, action.place, action.time, action.nodes)
                        : std::tuple(false, std::uint32_t{0}, Time{0}, PoolCounts());
    });
    Plan plan;
    plan.actions = std::move(actions);
    return to_json(plan).dump();
}

// With a reservation for one of its copies an entry is at its turn in the queue; the others come
// then, too, where entries of their own wait for their turn in the order of backfilling.
bool has_two_turns(const Case& given) {
    return given.policy.backfill_order != BackfillOrder::queue &&
           std::ranges::any_of(given.actions, [&](const Action& action) {
               return action.kind == ActionKind::reserve &&
                      given.snapshot.pending[action.place].copies > 1;
           });
}

TEST(copies_are_planned_as_entries_of_their_own) {
    int several = 0, out_of_turn = 0;
    Rng rng(seed(20));
    for_random_cases(
        19, 6000,
        [&](const Case& given) {
            const Case folded(with_copies(given.snapshot, rng), given.policy);
            check_ok(validate(folded.snapshot));
            auto [snapshot, from] = unfolded(folded.snapshot);
            Case plain(std::move(snapshot), given.policy);
            std::map<std::uint32_t, int> starts;
            for (Action& action : plain.actions) {
                if (action.kind != ActionKind::start && action.kind != ActionKind::reserve)
                    continue;
                action.place = from[action.place];
                several += action.kind == ActionKind::start && ++starts[action.place] > 1;
            }
            const bool is_same = text_of(folded.actions) == text_of(plain.actions);
            if (!is_same && has_two_turns(folded)) return void(++out_of_turn);
            ck_assert_msg(is_same, "%s\nnot\n%s", folded.text().c_str(),
                          text_of(plain.actions).c_str());
        },
        Profiles::some, Bound::none);
    check_that(several > 500);
    check_that(out_of_turn < 20);
}

// What is expanded from its start is what starts anyway, with nodes that nobody else is to have.
TEST(a_start_that_is_an_expansion_changes_no_other_decision_but_expansions) {
    int larger = 0, number = 0;
    for_random_cases(22, 12000, [&](const Case& given) {
        Policy policy = given.policy;
        Snapshot snapshot = given.snapshot;
        snapshot.pools.front().asleep = ++number % 4 == 0;
        policy.expand_from = ExpandFrom::gap;
        Case before(snapshot, policy);
        policy.expand_from = ExpandFrom::start;
        Case c(snapshot, policy);
        const auto is_expansion = [](const Action& action) {
            return action.kind == ActionKind::expand && action.op == 0;
        };
        std::erase_if(before.actions, is_expansion);
        std::erase_if(c.actions, is_expansion);
        holds(c.actions.size() == before.actions.size(), c);
        for (std::size_t i = 0; i < c.actions.size(); ++i) {
            Action& action = c.actions[i];
            const Action& plain = before.actions[i];
            const int more = action.size_after - plain.size_after;
            if (action.kind == ActionKind::start && more > 0) {
                ++larger;
                holds(!action.deferred && c.pending.at(action.job)->elastic.malleable, c);
                for (PoolId p = 0; p < action.nodes.size(); ++p)
                    holds(c.snapshot.pools[p].asleep ? action.nodes[p] == plain.nodes[p]
                                                     : action.nodes[p] >= plain.nodes[p],
                          c);
                action.nodes = plain.nodes;
                action.size_after = plain.size_after;
            }
        }
        ck_assert_msg(text_of(c.actions) == text_of(before.actions), "%s\nnot\n%s",
                      c.text().c_str(), before.text().c_str());
    });
    check_that(larger > 500);
}

TEST(rigid_policies_resize_nobody_but_who_asks) {
    for_random_cases(17, 3000, [](const Case& given) {
        for (const char* name : {"fcfs", "easy", "conservative"}) {
            const Case c(given.snapshot, *preset(name));
            for (const Action& action : c.actions) {
                holds(action.kind != ActionKind::shrink, c);
                holds(action.kind != ActionKind::expand || action.op != 0, c);
            }
        }
    });
}
