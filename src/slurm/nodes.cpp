// SPDX-License-Identifier: GPL-2.0-or-later
// Conversions between Slurm's node bitmaps and its texts.
#include "slurm/nodes.hpp"

namespace elastic::slurm {

std::string NodeSet::text() const {
    char* names = bitmap2node_name(bits_);
    std::string result = names ? names : "";
    xfree(names);
    return result;
}

NodeSet NodeSet::from_text(const std::string& list) {
    bitstr_t* bits = nullptr;
    std::string copy = list;
    if (copy.empty()) return {};
    node_name2bitmap(copy.data(), true, &bits);
    NodeSet result(bits);
    FREE_NULL_BITMAP(bits);
    return result;
}

}  // namespace elastic::slurm
