// SPDX-License-Identifier: GPL-2.0-or-later
// Sets are made once for each different set of constraints, not once a job: with 10,000 nodes one
// costs a tenth of a millisecond, and all of it happens under slurmctld's locks.
//
// A job's time limit decides only through the reservations that begin before the job's end.  So
// constraints have the number of those reservations and not the limit, which differs from job to
// job.
//
// Always holds: if constraints forget something, Slurm refuses what was planned, as it does
// whatever else the planner does not know.
#include "slurm/read/eligibility.hpp"

#include <algorithm>

#include "common/text.hpp"
#include "slurm/node_order.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

// When it began (a suspension moves that), or would begin if it started now.
time_t begin_of(const job_record_t* job) {
    if (!IS_JOB_RUNNING(job)) return time(nullptr);
    return job->end_time - static_cast<time_t>(time_limit_of(job));
}

std::vector<time_t> begins_of_reservations() {
    std::vector<time_t> begins;
    ListIterator iterator = list_iterator_create(resv_list);
    while (auto* reservation = static_cast<slurmctld_resv_t*>(list_next(iterator)))
        begins.push_back(compat::begin_of(reservation, time(nullptr)));
    list_iterator_destroy(iterator);
    std::sort(begins.begin(), begins.end());
    return begins;
}

bool linear_selection() {
    return xstrcmp(slurm_conf.select_type, "select/linear") == 0;
}

// Sockets of a node, cores of a socket and threads of a core that the job asks for at least; 0
// where it does not say.
struct Shape {
    explicit Shape(const multi_core_data_t* wanted) {
        if (!wanted) return;
        sockets = least(wanted->sockets_per_node);
        cores = least(wanted->cores_per_socket);
        threads = least(wanted->threads_per_core);
    }
    static std::uint16_t least(std::uint16_t count) { return count == NO_VAL16 ? 0 : count; }

    bool fits(const config_record_t* config) const {
        return sockets <= config->tot_sockets && cores <= config->cores &&
               threads <= config->threads;
    }
    std::uint64_t key() const {
        return std::uint64_t{sockets} << 32 | std::uint64_t{cores} << 16 | threads;
    }

    std::uint16_t sockets = 0, cores = 0, threads = 0;
};

// Drops the nodes whose hardware the job cannot use.
void keep_fitting_hardware(const job_details* details, NodeSet& mask) {
    const Shape shape(details->mc_ptr);
    for_each_hardware([&](const config_record_t* config) {
        bool memory_fits =
            (details->pn_min_memory & MEM_PER_CPU) || config->real_memory >= details->pn_min_memory;
        if (config->cpus < details->pn_min_cpus || !memory_fits ||
            config->tmp_disk < details->pn_min_tmp_disk || !shape.fits(config))
            bit_and_not(mask.get(), config->node_bitmap);
    });
}

// The processors that the job needs on each of its nodes if all bear the same; 0 if that says
// nothing about which nodes to take.
std::uint32_t processor_share(const job_record_t* job) {
    const job_details* details = job->details;
    if (details->max_nodes == 0 || details->min_cpus <= details->max_nodes) return 0;
    if (!has_whole_nodes(job)) return 0;
    return (details->min_cpus + details->max_nodes - 1) / details->max_nodes;
}

// Slurm counts processors over all of a job's nodes, plans count nodes.  So if there are enough
// nodes with a share each, it is these; else Slurm has to find a mixture.
void prefer_large_enough(const job_record_t* job, NodeSet& mask) {
    const std::uint32_t share = processor_share(job);
    if (share == 0) return;
    NodeSet enough(mask);
    for_each_hardware([&](const config_record_t* config) {
        if (config->cpus < share) bit_and_not(enough.get(), config->node_bitmap);
    });
    if (enough.count() >= static_cast<int>(job->details->min_nodes)) mask = std::move(enough);
}

// A reservation of the job's own has to be there now; others must not begin before its end.
void keep_unreserved(job_record_t* job, NodeSet& mask) {
    time_t when = job->resv_name ? time(nullptr) : begin_of(job);
    bitstr_t* allowed = compat::unreserved_nodes(job, &when);
    if (allowed)
        bit_and(mask.get(), allowed);
    else
        mask = NodeSet();
    FREE_NULL_BITMAP(allowed);
}

// Whether the nodes that the user names are all that the job needs.
bool suffice(const job_record_t* job, bitstr_t* required) {
    const job_details* details = job->details;
    const auto count = static_cast<uint32_t>(bit_set_count(required));
    if (details->max_nodes > 0 && count >= details->max_nodes) return true;
    if (count < details->min_nodes || job->tres_per_job) return false;
    uint64_t processors = 0;
    for_each_node(required,
                  [&](int node) { processors += node_record_table_ptr[node]->config_ptr->cpus; });
    return processors >= details->min_cpus;
}

// Whether Slurm counts the step to a node that the step's job has left: at the step's end Slurm
// would take what it had there from what the job may have there anew. Steps with --overlap count as
// having nothing anywhere, as does the extern step.
bool is_counted(const step_record_t* step) {
    return step->step_node_bitmap && !(step->flags & SSF_OVERLAP_FORCE) &&
           step->step_id.step_id != SLURM_EXTERN_CONT;
}

int is_counted_elsewhere(void* step_pointer, void* nodes_of_job) {
    auto* step = static_cast<step_record_t*>(step_pointer);
    return is_counted(step) &&
           !bit_super_set(step->step_node_bitmap, static_cast<bitstr_t*>(nodes_of_job));
}

bool has_left_nodes_to_steps(const job_record_t* job) {
    return job->step_list && job->node_bitmap &&
           list_find_first(job->step_list, is_counted_elsewhere, job->node_bitmap);
}

NodeSet left_to_steps(const job_record_t* job) {
    NodeSet nodes;
    if (!has_left_nodes_to_steps(job)) return nodes;
    list_for_each(
        job->step_list,
        [](void* step_pointer, void* found) {
            auto* step = static_cast<step_record_t*>(step_pointer);
            if (is_counted(step)) *static_cast<NodeSet*>(found) |= NodeSet(step->step_node_bitmap);
            return 0;
        },
        &nodes);
    return nodes -= NodeSet(job->node_bitmap);
}

xlist* features_in_use(const job_details* details) {
    return details->features_use ? details->feature_list_use : details->feature_list;
}

// What stands between the bars of a matching OR ([a|b]), as sets of nodes: all nodes of the job are
// to be in one of them. Nothing for any other constraint.
class Alternatives {
  public:
    explicit Alternatives(const job_record_t* job) {
        xlist* features = features_in_use(job->details);
        if (!features) return;
        find_feature_nodes(features, false);
        list_for_each(
            features,
            [](void* feature, void* self) {
                static_cast<Alternatives*>(self)->read(*static_cast<job_feature_t*>(feature));
                return 0;
            },
            this);
    }

    bool empty() const { return sets_.empty(); }

    // Index of the first set that has all nodes of the running job; -1 if none has.
    int of(const job_record_t* job) const {
        const auto found = std::find_if(sets_.begin(), sets_.end(), [&](const NodeSet& set) {
            return bit_super_set(job->node_bitmap, set.get());
        });
        return found == sets_.end() ? -1 : static_cast<int>(found - sets_.begin());
    }

    // The nodes that the job may use: once it runs, the set that its present nodes are of.
    NodeSet nodes_for(const job_record_t* job) const {
        NodeSet nodes;
        if (IS_JOB_RUNNING(job)) {
            const int which = of(job);
            return which < 0 ? nodes : sets_[static_cast<std::size_t>(which)];
        }
        for (const NodeSet& set : sets_) nodes |= set;
        return nodes;
    }

  private:
    // Features in parentheses are one set; the last of them is counted as outside.
    void read(const job_feature_t& feature) {
        const NodeSet nodes(feature.node_bitmap_active);
        if (!is_inside_)
            set_ = nodes;
        else if (last_ == FEATURE_OP_OR)
            set_ |= nodes;
        else
            set_ &= nodes;
        is_inside_ = feature.paren > 0;
        if (!is_inside_ &&
            (feature.op_code == compat::kMatchingOr || before_ == compat::kMatchingOr))
            sets_.push_back(set_);
        last_ = feature.op_code;
        if (!is_inside_) before_ = feature.op_code;
    }

    std::vector<NodeSet> sets_;
    NodeSet set_;
    bool is_inside_ = false;           // of parentheses
    uint8_t last_ = FEATURE_OP_AND;    // the separator before this feature,
    uint8_t before_ = FEATURE_OP_AND;  // and before this set
};

// Whether the job is to use no more than some number of switches (--switches). What has started on
// these does not grow onto others, and so keeps to any number.
bool keeps_to_switches(const job_record_t* job) {
    return job->req_switch > 0 && IS_JOB_RUNNING(job) && compat::has_switches(job);
}

bool has_alternatives(const job_details* details) {
    const char* features = details->features_use ? details->features_use : details->features;
    return text(features).find('[') != std::string_view::npos;
}

}  // namespace

NodeSet usable_nodes() {
    NodeSet usable(avail_node_bitmap);
    bit_and(usable.get(), up_node_bitmap);
    // Since slurmctld started such a node has not reported, but its job has not been lost either:
    // what is agreed about it goes on.  One that is powered down cannot report, and is woken.
    for (int i = 0; i < node_record_count; ++i)
        if (const node_record_t* node = node_record_table_ptr[i];
            node && IS_NODE_UNKNOWN(node) &&
            (node->run_job_cnt > 0 ||
             (IS_NODE_POWERED_DOWN(node) && bit_test(avail_node_bitmap, i))))
            usable.add(i);
    return usable;
}

NodeSet idle_nodes() {
    NodeSet idle = open_nodes();
    bit_and(idle.get(), idle_node_bitmap);
    return idle;
}

NodeSet open_nodes() {
    NodeSet open(avail_node_bitmap);
    bit_and(open.get(), share_node_bitmap);
    bit_and_not(open.get(), cg_node_bitmap);
    return open;
}

NodeSet unreported_nodes() {
    NodeSet result;
    for (int i = 0; i < node_record_count; ++i)
        if (node_record_table_ptr[i] && IS_NODE_UNKNOWN(node_record_table_ptr[i])) result.add(i);
    return result;
}

NodeSet eligible_nodes(job_record_t* job, const NodeSet& usable) {
    NodeSet mask(job->part_ptr ? job->part_ptr->node_bitmap : nullptr);
    mask &= usable;
    job_details* details = job->details;
    if (details->exc_node_bitmap) mask -= NodeSet(details->exc_node_bitmap);
    if (IS_JOB_PENDING(job) && details->req_node_bitmap && suffice(job, details->req_node_bitmap))
        mask &= NodeSet(details->req_node_bitmap);
    keep_fitting_hardware(details, mask);
    compat::keep_extra_constraints(job, mask.get());
    prefer_large_enough(job, mask);
    if (IS_JOB_RUNNING(job)) {
        bit_and_not(mask.get(), compat::powered_down_nodes());
        bit_and_not(mask.get(), booting_node_bitmap);
        mask -= left_to_steps(job);
    }
    bool has_xor = false;
    if (valid_feature_counts(job, true, mask.get(), &has_xor) != SLURM_SUCCESS) return {};
    if (const Alternatives alternatives(job); !alternatives.empty())
        mask &= alternatives.nodes_for(job);
    if (keeps_to_switches(job)) mask &= with_neighbours(NodeSet(job->node_bitmap), job);
    if (list_count(resv_list) > 0) keep_unreserved(job, mask);
    return mask;
}

bool has_whole_nodes(const job_record_t* job) {
    const job_details* details = job->details;
    if (!details) return true;
    if (linear_selection())
        return details->share_res == 0 || !job->part_ptr ||
               (job->part_ptr->max_share & ~SHARED_FORCE) <= 1;
    return details->whole_node == WHOLE_NODE_REQUIRED ||
           (job->part_ptr && job->part_ptr->max_share == 0);
}

Eligibilities::Eligibilities()
    : usable_(usable_nodes()), reservation_begins_(begins_of_reservations()), last_(ids_.end()) {}

core::EligibilityId Eligibilities::of(job_record_t* job) {
    return intern(constraints_of(job), [&] {
        Set set{eligible_nodes(job, usable_), NodeSet(job->details->req_node_bitmap)};
        set.required &= set.nodes;
        return set;
    });
}

// Constraints without a partition are no job's.
core::EligibilityId Eligibilities::none() {
    return intern({}, [] { return Set(); });
}

Eligibilities::Constraints Eligibilities::constraints_of(const job_record_t* job) const {
    const job_details* details = job->details;
    Constraints result;
    result.partition = job->part_ptr;
    result.features = text(details->features_use ? details->features_use : details->features);
    if (IS_JOB_RUNNING(job) && has_alternatives(details))
        result.alternative = Alternatives(job).of(job);
    result.excluded = text(details->exc_nodes);
    result.required = text(details->req_nodes);
    result.extra = text(compat::extra_constraints(job));
    result.memory = details->pn_min_memory;
    result.processors = details->pn_min_cpus;
    result.disk = details->pn_min_tmp_disk;
    result.shape = Shape(details->mc_ptr).key();
    result.processor_share = processor_share(job);
    if (details->req_node_bitmap || result.processor_share > 0) result.nodes = details->min_nodes;
    result.running = IS_JOB_RUNNING(job);
    if (result.running && (keeps_to_switches(job) || has_left_nodes_to_steps(job)))
        result.only_of = job->job_id;
    if (!reservation_begins_.empty()) add_reservations(job, result);
    return result;
}

void Eligibilities::add_reservations(const job_record_t* job, Constraints& result) const {
    time_t end = begin_of(job) + static_cast<time_t>(time_limit_of(job));
    auto ahead = std::lower_bound(reservation_begins_.begin(), reservation_begins_.end(), end);
    result.reservations_ahead = static_cast<std::size_t>(ahead - reservation_begins_.begin());
    result.has_limit = job->time_limit != NO_VAL;
    result.whole_node = job->details->whole_node;
    if (job->warn_flags & KILL_JOB_RESV) result.start_delay = job->warn_time + 1;
    if (!job->resv_name) return;
    result.user = job->user_id;
    result.account = text(job->account);
    result.reservation = job->resv_name;
    result.reservation_in_use = job->resv_ptr;
}

template <class Make>
core::EligibilityId Eligibilities::intern(const Constraints& constraints, Make&& make) {
    if (last_ != ids_.end() && last_->first == constraints)
        return last_->second;  // neighbours in the queue are often alike
    auto [found, is_new] = ids_.try_emplace(constraints, 0);
    last_ = found;
    if (!is_new) return found->second;
    Set set = make();
    auto same = std::find_if(sets_.begin(), sets_.end(), [&](const Set& other) {
        return other.nodes.equals(set.nodes) && other.required.equals(set.required);
    });
    found->second = static_cast<core::EligibilityId>(same - sets_.begin());
    if (same == sets_.end()) {
        least_processors_.push_back(processors_of_smallest(set.nodes));
        sets_.push_back(std::move(set));
    }
    return found->second;
}

}  // namespace elastic::slurm
