// SPDX-License-Identifier: MIT
// For which jobs a search has failed in this stage, so that a long queue of alike jobs costs one
// search.
#pragma once

#include <algorithm>
#include <vector>

#include "core/model/types.hpp"

namespace elastic::core {

// Remembers, by eligibility, for which jobs the search has failed.  A job that wants no less for no
// less time need not try again.
class Failures {
  public:
    void clear(std::size_t eligibilities) {
        known_.resize(eligibilities);
        for (auto& known : known_) known.clear();
    }
    bool covers(EligibilityId id, int size, Duration duration) const {
        const auto& known = known_[id];
        return std::any_of(known.begin(), known.end(), [&](const Failure& failure) {
            return failure.size <= size && failure.duration <= duration;
        });
    }
    bool covers_everywhere(int size, Duration duration) const {
        for (EligibilityId id = 0; id < known_.size(); ++id)
            if (!covers(id, size, duration)) return false;
        return !known_.empty();
    }
    void add(EligibilityId id, int size, Duration duration) {
        auto& known = known_[id];
        const auto covered = [&](const Failure& failure) {
            return failure.size >= size && failure.duration >= duration;
        };
        known.erase(std::remove_if(known.begin(), known.end(), covered), known.end());
        known.push_back({size, duration});
    }

  private:
    struct Failure {
        int size;
        Duration duration;
    };
    std::vector<boost::container::small_vector<Failure, 8>> known_;
};

}  // namespace elastic::core
