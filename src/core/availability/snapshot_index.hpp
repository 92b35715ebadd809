// SPDX-License-Identifier: MIT
// What can be known of a snapshot before a pass begins, so that a pass need not look at each job:
// made whole for a snapshot that was read (the plugin), kept up to date event by event by Cluster
// (the simulator).
#pragma once

#include <cstdint>
#include <vector>

#include "core/availability/queue_index.hpp"
#include "core/availability/vacancy_list.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::core {

struct SnapshotIndex {
    VacancyList vacancies;                // of running jobs and shared nodes, by estimated end
    QueueIndex queue;                     // place i is Snapshot::pending[i]
    std::vector<std::uint32_t> claimed;   // places of claimed jobs, ascending
    std::vector<std::uint32_t> promised;  // ... of those that have been promised a start
    // ... of jobs that start together but the first, which stands for all of them
    std::vector<std::uint32_t> followers;
    int waiting = 0;            // jobs in the queue
    int malleable_waiting = 0;  // of those
    int malleable_running = 0;
    int profiles_running = 0;   // running jobs with an evolution profile
    bool alternatives = false;  // some job stands in the queue for several partitions
    // Bounds of what resizing can do: nodes that running malleable jobs hold above their minima,
    // and what they lack of their maxima.
    int shrinkable = 0;
    int expandable = 0;

    void load(const Snapshot&);
    void load_queue(const std::vector<PendingJob>&);
    // The last job of this queue, which has just joined it.
    void add(const std::vector<PendingJob>&);
    void promise(std::uint32_t place);  // a job there has been promised a start
    // From the queue; the place stays empty.
    void remove(std::uint32_t place, const PendingJob&);
    // The job's part of the bounds; sign is +1 or -1.
    void count(const RunningJob&, int sign);

  private:
    void count(const PendingJob&, std::uint32_t place);
    // Whether the job there starts together with the one before it.
    bool count_follower(const std::vector<PendingJob>&, std::uint32_t place);
};

}  // namespace elastic::core
