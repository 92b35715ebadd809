// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices a job has on a node, and which of them its steps use, Slurm keeps by the place of
// the node among the job's nodes. What the job has is counted anew by the select plugin when nodes
// have changed; what steps use is known to nobody else and is moved from the old places to the new.
// Slurm's own function for that (gres_ctld_step_state_rebase) forgets the counts and is not called.
#include "slurm/act/gres.hpp"

namespace elastic::slurm {

namespace {

gres_job_state_t* job_part(void* element) {
    return static_cast<gres_job_state_t*>(static_cast<gres_state_t*>(element)->gres_data);
}

template <class Function>
void for_each_element(xlist* list, Function&& function) {
    if (!list) return;
    list_for_each(
        list,
        [](void* element, void* called) {
            (*static_cast<std::remove_reference_t<Function>*>(called))(element);
            return 0;
        },
        &function);
}

// Moves the values of kept nodes to their new places, and frees those of other nodes.
template <class Value, class Free>
void move_values(Value*& values, const Places& places, Free&& free) {
    if (!values) return;
    auto* moved =
        static_cast<Value*>(xcalloc(static_cast<size_t>(places.nodes_after()), sizeof(Value)));
    places.for_each_kept([&](const Places::Kept& kept) {
        moved[kept.after] = std::exchange(values[kept.before], Value());
    });
    for (int place = 0; place < places.nodes_before(); ++place) free(values[place]);
    xfree(values);
    values = moved;
}

void free_bits(bitstr_t*& bits) {
    FREE_NULL_BITMAP(bits);
}

void keep(uint64_t) {}

void free_values(bitstr_t**& values, uint32_t count) {
    for (uint32_t place = 0; values && place < count; ++place) FREE_NULL_BITMAP(values[place]);
    xfree(values);
}

// What steps use of a GRES, as the job's books have it.
void take_over(gres_job_state_t* from, gres_job_state_t* to, const Places& places) {
    if (from->node_cnt != static_cast<uint32_t>(places.nodes_before()) ||
        to->node_cnt != static_cast<uint32_t>(places.nodes_after()))
        return;
    move_values(from->gres_bit_step_alloc, places, free_bits);
    move_values(from->gres_cnt_step_alloc, places, keep);
    free_values(to->gres_bit_step_alloc, to->node_cnt);
    xfree(to->gres_cnt_step_alloc);
    to->gres_bit_step_alloc = std::exchange(from->gres_bit_step_alloc, nullptr);
    to->gres_cnt_step_alloc = std::exchange(from->gres_cnt_step_alloc, nullptr);
}

// By the type's name: the number of no type is another one after slurmctld has restarted.
bool is_same_gres(gres_state_t* one, gres_state_t* other) {
    return one->plugin_id == other->plugin_id &&
           xstrcmp(job_part(one)->type_name, job_part(other)->type_name) == 0;
}

void move_step(gres_step_state_t* step, const Places& places) {
    if (step->node_cnt != static_cast<uint32_t>(places.nodes_before())) return;
    if (step->node_in_use) {
        bitstr_t* in_use = bit_alloc(places.nodes_after());
        places.for_each_kept([&](const Places::Kept& kept) {
            if (bit_test(step->node_in_use, kept.before)) bit_set(in_use, kept.after);
        });
        FREE_NULL_BITMAP(step->node_in_use);
        step->node_in_use = in_use;
    }
    move_values(step->gres_bit_alloc, places, free_bits);
    move_values(step->gres_cnt_node_alloc, places, keep);
    step->node_cnt = static_cast<uint32_t>(places.nodes_after());
}

void move_all(xlist* list, const Places& places) {
    for_each_element(list, [&](void* element) {
        move_step(static_cast<gres_step_state_t*>(static_cast<gres_state_t*>(element)->gres_data),
                  places);
    });
}

}  // namespace

GresList requested_gres(const job_record_t* job, job_details& details) {
    if (gres_get_gres_cnt() == 0) return nullptr;
    return GresList(compat::validate_gres(job, details));
}

HeldGres ask_for_whole_nodes(job_record_t* job) {
    HeldGres before{GresList(std::exchange(job->gres_list_alloc, nullptr))};
    if (gres_get_gres_cnt() == 0) return before;
    FREE_NULL_LIST(job->gres_list_req);
    job->gres_list_req = gres_of_whole_nodes(NodeSet(job->node_bitmap), job->job_id).release();
    return before;
}

void move_steps_gres(job_record_t* job, const HeldGres& before, const Places& places) {
    for_each_element(before.allocated.get(), [&](void* old) {
        for_each_element(job->gres_list_alloc, [&](void* element) {
            if (is_same_gres(static_cast<gres_state_t*>(old), static_cast<gres_state_t*>(element)))
                take_over(job_part(old), job_part(element), places);
        });
    });
    for_each_element(job->step_list, [&](void* element) {
        auto* step = static_cast<step_record_t*>(element);
        move_all(step->gres_list_alloc, places);
        move_all(step->gres_list_req, places);
    });
}

}  // namespace elastic::slurm
