// SPDX-License-Identifier: MIT
// A release is denied as a whole if one of its nodes has left the job, so it is of those that have
// not.
#include "selastic-run/nodes.hpp"

#include "common/hostlist.hpp"
#include "program.hpp"

namespace elastic::tools {

std::string common_hosts(const std::string& one, const std::string& other) {
    return without_hosts(one, without_hosts(one, other));
}

void release_nodes(elastic_handle* job, const std::string& nodes) {
    const std::string held = common_hosts(nodes, elastic_nodelist(job));
    if (held.empty()) return;
    if (elastic_release(job, 0, held.c_str()) < 0)
        note("{} cannot be given back: {}", held, elastic_detail(job));
}

}  // namespace elastic::tools
