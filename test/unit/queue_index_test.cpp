// SPDX-License-Identifier: MIT
// The tournament tree over the queue finds what a walk over every place finds.
#include "core/availability/queue_index.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "testing.hpp"

using namespace elastic::core;
using elastic::Duration;

namespace {

// What the index must find, found by looking at each place.
class Line {
  public:
    void push_back(const QueueIndex::Demand& demand) { places_.push_back({demand, true}); }
    void change(std::uint32_t place, const QueueIndex::Demand& demand) {
        places_[place].demand = demand;
    }
    void remove(std::uint32_t place) { places_[place].taken = false; }
    bool is_taken(std::uint32_t place) const { return places_[place].taken; }

    std::uint32_t find(std::uint32_t from, const QueueIndex::Supply& supply,
                       int QueueIndex::Demand::*size) const {
        for (; from < places_.size(); ++from) {
            const auto& [demand, taken] = places_[from];
            if (taken && demand.*size <= supply.free &&
                (demand.duration <= supply.window || demand.*size <= supply.extra))
                break;
        }
        return from;
    }
    double rank(std::uint32_t place) const {
        return places_[place].demand.duration * std::sqrt(places_[place].demand.pref);
    }
    std::vector<std::uint32_t> by_rank(std::uint32_t from, const QueueIndex::Supply& supply) const {
        std::vector<std::uint32_t> found;
        for (from = find(from, supply, &QueueIndex::Demand::least); from < size();
             from = find(from + 1, supply, &QueueIndex::Demand::least))
            found.push_back(from);
        std::ranges::stable_sort(found, {}, [&](std::uint32_t place) { return rank(place); });
        return found;
    }
    std::uint32_t size() const { return places_.size(); }

  private:
    struct Place {
        QueueIndex::Demand demand;
        bool taken;
    };
    std::vector<Place> places_;
};

struct Wanted {
    QueueIndex::Supply supply;
    QueueIndex::By order;

    QueueIndex::By by() const { return order; }
    int most_nodes() const { return supply.free; }
    bool fits(int nodes, Duration duration) const { return supply.suffices(nodes, duration); }
};

std::vector<std::uint32_t> by_rank(const QueueIndex& index, const Line& line, std::uint32_t from,
                                   const Wanted& wanted) {
    std::vector<std::uint32_t> found;
    std::vector<QueueIndex::Part> parts;
    index.visit_by_rank(
        from, parts, wanted, [&](std::uint32_t place) { return line.rank(place); },
        [](int nodes, Duration duration) { return duration * std::sqrt(nodes); },
        [&](std::uint32_t place) { found.push_back(place); });
    return found;
}

}  // namespace

TEST(an_empty_index_finds_nothing) {
    QueueIndex index;
    check_eq(index.next(0), 0U);
    index.push_back({1, 1, 1, 1});
    index.remove(0);
    check_eq(index.next(0), index.end());
    index.begin_anew();
    index.build();
    check_eq(index.end(), 0U);
}

TEST(index_finds_what_a_walk_finds) {
    std::mt19937_64 random(elastic::testing::seed());
    const auto below = [&](int n) { return static_cast<int>(random() % n); };
    for (int round = 0; round < 300; ++round) {
        QueueIndex index;
        Line line;
        for (int step = 0; step < 400; ++step) {
            const int size = 1 + below(20);
            const QueueIndex::Demand demand{size, 1 + below(size), size + below(3),
                                            1.0 * below(50)};
            if (below(3) || line.size() == 0) {
                index.push_back(demand);
                line.push_back(demand);
            } else if (const auto place = random() % line.size(); line.is_taken(place)) {
                if (below(3)) {
                    index.remove(place);
                    line.remove(place);
                } else {
                    index.change(place, demand);
                    line.change(place, demand);
                }
            }
            const QueueIndex::Supply supply{below(20), below(5), 1.0 * below(50)};
            const auto from = static_cast<std::uint32_t>(random() % (line.size() + 1));
            check_eq(index.next(from, Wanted{supply, QueueIndex::By::size}),
                     line.find(from, supply, &QueueIndex::Demand::size));
            const Wanted wanted{supply, QueueIndex::By::least};
            check_eq(index.next(from, wanted), line.find(from, supply, &QueueIndex::Demand::least));
            check_eq(by_rank(index, line, from, wanted) == line.by_rank(from, supply), true);
            check_eq(index.next(from),
                     line.find(from, {1000, 1000, 1000}, &QueueIndex::Demand::size));
        }
    }
}
