// SPDX-License-Identifier: MIT
// Random valid annotations for property tests.
#pragma once

#include <algorithm>
#include <random>

#include "core/model/annotation/annotation.hpp"

namespace elastic::core {

inline int random_between(std::mt19937_64& random, int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
}

inline double random_share(std::mt19937_64& random) {
    return std::uniform_real_distribution<double>(0, 1)(random);
}

// A rule that allows at least one size of [min, max].
inline SizeRule random_sizes(std::mt19937_64& random, int min, int max) {
    SizeRule rule;
    rule.kind = static_cast<SizeRule::Kind>(random_between(random, 0, 3));
    if (rule.kind == SizeRule::Kind::step) rule.step = random_between(random, 1, 8);
    if (rule.kind == SizeRule::Kind::list) {
        for (int i = random_between(random, 1, 6); i > 0; --i) {
            rule.list.push_back(random_between(random, min, max));
        }
        std::ranges::sort(rule.list);
        rule.list.erase(std::unique(rule.list.begin(), rule.list.end()), rule.list.end());
    }
    return rule.smallest(min, max) > 0 ? rule : SizeRule{};
}

inline Annotation random_annotation(std::mt19937_64& random, int largest = 64) {
    Annotation a;
    int classes = random_between(random, 0, 3);
    a.malleable = classes & 1;
    a.evolving = classes & 2;
    a.min = random_between(random, 1, largest);
    a.max = random_between(random, a.min, largest);
    a.sizes = random_sizes(random, a.min, a.max);
    auto size = [&] {
        return a.sizes.largest(a.min,
                               random_between(random, a.sizes.smallest(a.min, a.max), a.max));
    };
    a.pref = size();
    if (random() % 2) a.gap = random_between(random, 0, 1000);
    if (random() % 2) a.grace = 1 + 1000 * random_share(random);
    if (random() % 2)
        a.speedup.a = random_share(random);
    else if (random() % 2)
        a.speedup = {SpeedupModel::Kind::overhead, random_share(random), 0};
    else if (random() % 2)
        a.speedup = {SpeedupModel::Kind::downey, 1 + random_share(random), random_share(random)};
    if (random() % 2)
        a.cost = {random_share(random), 10 * random_share(random), random_share(random)};
    if (a.evolving && !a.malleable && random() % 2) {
        a.profile.push_back({a.pref, 1 + 100 * random_share(random)});
        for (int i = random_between(random, 0, 4); i > 0; --i)
            a.profile.push_back({size(), 0.001 + 100 * random_share(random)});
    }
    if (random() % 2) {
        a.packet = std::string(1 + random() % 64, "aZ9_.-"[random() % 6]);
        a.init = {"./warm", static_cast<double>(random_between(random, 0, 100))};
    }
    return a;
}

}  // namespace elastic::core
