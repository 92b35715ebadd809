// SPDX-License-Identifier: GPL-2.0-or-later
// Names become nodes anew in each reading, since partitions change and nodes come and go; only
// where a source is configured are there any.
#include "slurm/read/supply_sets.hpp"

#include "common/hostlist.hpp"
#include "common/text.hpp"

namespace elastic::slurm {

namespace {

class Finder {
  public:
    void add(const core::Terms& terms) {
        NodeSet nodes = nodes_named(terms.nodes);
        if (!nodes.empty()) found_.sets.push_back({terms, std::move(nodes)});
    }
    SupplySets take() { return std::move(found_); }

  private:
    // A partition before anything else: who names one "n1" or "ALL" knows it.
    NodeSet nodes_named(const std::string& name) {
        std::string text = name;
        if (const part_record_t* partition = find_part_record(text.data())) {
            NodeSet nodes(partition->node_bitmap);
            if (nodes.empty())
                complain("partition {} has no nodes; its line is not in force", printable(name));
            return nodes;
        }
        return equal_ignoring_case(name, "ALL") ? all_nodes() : nodes_listed(name);
    }

    static NodeSet all_nodes() {
        NodeSet nodes;
        for (int node = 0; node < node_record_count; ++node)
            if (node_record_table_ptr[node]) nodes.add(node);
        return nodes;
    }

    NodeSet nodes_listed(const std::string& name) {
        NodeSet nodes;
        std::vector<std::string> unknown;
        auto names = expand_hostlist(name);
        if (!names) names = std::vector{name};
        for (std::string& one : *names) {
            if (const node_record_t* node = find_node_record2(one.data()))
                nodes.add(static_cast<int>(node->index));
            else
                unknown.push_back(std::move(one));
        }
        if (nodes.empty())
            complain("Slurm knows no partition and no node {}; its line is not in force",
                     printable(name));
        else if (!unknown.empty())
            complain("Slurm knows no node {} of {}; the line is in force for the others",
                     printable(compress_hostlist(std::move(unknown))), printable(name));
        return nodes;
    }

    template <class... Args>
    void complain(fmt::format_string<Args...> format, Args&&... args) {
        found_.errors.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    SupplySets found_;
};

}  // namespace

SupplySets find_supply(const std::vector<core::Terms>& terms) {
    Finder finder;
    for (const core::Terms& one : terms) finder.add(one);
    return finder.take();
}

}  // namespace elastic::slurm
