// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the pools of a view, and eligibilities of them.  Needs ControllerLock.
//
// Two nodes are in one pool if every job known may use either both or neither (partitions,
// features, reservations, excluded nodes, hardware).  So the core needs to know none of these, and
// a plan is as good with overlapping partitions as with one.
#pragma once

#include "core/model/pools.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/node_conditions.hpp"
#include "slurm/read/view.hpp"

namespace elastic::slurm {

// Once the view has its supply.
core::PoolMap make_pools(const Eligibilities&, const NodeConditions&, View&);

}  // namespace elastic::slurm
