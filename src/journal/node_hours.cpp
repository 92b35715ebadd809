// SPDX-License-Identifier: MIT
// Who held which node when is the timeline's; here each node gets its prices over time, and a span
// of it is cut where they change.
#include "journal/node_hours.hpp"

#include <map>
#include <unordered_map>

#include "common/hostlist.hpp"
#include "journal/gantt.hpp"

namespace elastic::journal {
namespace {

constexpr double kHour = 3600;

struct PriceChange {
    Time at = 0;
    double price = 0;
};

class Prices {
  public:
    void feed(Time at, const Supply& supply) {
        const auto nodes = expand_hostlist(supply.nodes);
        if (!nodes) return;
        const std::size_t set = sets_.try_emplace(supply.name, sets_.size()).first->second;
        for (const std::string& name : *nodes) {
            Node& node = nodes_[name];
            node.by_set[set] = supply.price;
            const double price = first_of(node.by_set);
            const double before = node.changes.empty() ? 0 : node.changes.back().price;
            if (price != before) node.changes.push_back({at, price});
        }
    }

    // Prices that are in force are said anew.
    void forget(Time at) {
        for (auto& [name, node] : nodes_) {
            if (!node.by_set.empty()) node.changes.push_back({at, 0});
            node.by_set.clear();
        }
    }

    const std::vector<PriceChange>& of(const std::string& node) const {
        static const std::vector<PriceChange> kNone;
        const auto found = nodes_.find(node);
        return found == nodes_.end() ? kNone : found->second.changes;
    }

  private:
    struct Node {
        std::map<std::size_t, double> by_set;
        std::vector<PriceChange> changes;
    };

    // As the scheduler has it: of several prices the first counts.
    static double first_of(const std::map<std::size_t, double>& prices) {
        for (const auto& [set, price] : prices)
            if (price > 0) return price;
        return 0;
    }

    std::unordered_map<std::string, std::size_t> sets_;  // in the order in which they came
    std::unordered_map<std::string, Node> nodes_;
};

void add(NodeHours& hours, Duration seconds, double price) {
    hours.hours += seconds / kHour;
    if (price > 0) hours.priced += seconds / kHour;
    hours.cost += seconds / kHour * price;
}

void add(NodeHours& hours, const Span& span, const std::vector<PriceChange>& changes) {
    Time from = span.from;
    double price = 0;
    for (const PriceChange& change : changes) {
        if (change.at >= span.to) break;
        if (change.at > from) {
            add(hours, change.at - from, price);
            from = change.at;
        }
        price = change.price;
    }
    add(hours, span.to - from, price);
}

}  // namespace

std::vector<NodeHours> node_hours(const std::vector<Line>& lines) {
    Prices prices;
    for (const Line& line : lines) {
        if (is_resume(line.event)) prices.forget(line.event.time);
        if (const auto* supply = std::get_if<Supply>(&line.event.what))
            prices.feed(line.event.time, *supply);
    }
    const Timeline held = timeline(lines);
    std::vector<NodeHours> result;
    for (const JobHistory& job : held.jobs) result.push_back({job.label, job.user, job.name});
    for (const Row& row : held.rows)
        for (const Span& span : row.spans)
            add(result[static_cast<std::size_t>(span.job)], span, prices.of(row.node));
    return result;
}

}  // namespace elastic::journal
