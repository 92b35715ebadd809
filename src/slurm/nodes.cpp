// SPDX-License-Identifier: GPL-2.0-or-later
// What NodeSet needs Slurm's functions or loops for.
#include "slurm/nodes.hpp"

namespace elastic::slurm {

std::string NodeSet::text() const {
    char* names = bitmap2node_name(bits_);
    std::string result = names ? names : "";
    xfree(names);
    return result;
}

NodeSet NodeSet::from_text(const std::string& list) {
    std::string copy = list;
    if (copy.empty()) return {};
    bitstr_t* bits = compat::nodes_named(copy.data());
    NodeSet result(bits);
    FREE_NULL_BITMAP(bits);
    return result;
}

std::uint32_t processors_of_smallest(const NodeSet& nodes) {
    std::uint32_t least = 0;
    for_each_hardware([&](const config_record_t* config) {
        if (bit_overlap_any(nodes.get(), config->node_bitmap))
            least = least ? std::min<std::uint32_t>(least, config->cpus) : config->cpus;
    });
    return least;
}

}  // namespace elastic::slurm
