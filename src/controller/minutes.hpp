// SPDX-License-Identifier: MIT
// What a running job comes to under limits on the minutes of a resource (processors, nodes, memory:
// Slurm's TRES) if it has more of it from now on.
//
// Slurm asks these limits when a job starts: of its whole time, with all that it has.  For a
// running job it counts the present size as if the job had had that since its start, and ends the
// job by that count where limits are enforced without "safe".
#pragma once

#include <cstdint>
#include <vector>

#include "common/time.hpp"

namespace elastic::controller {

// The node-seconds that a run has used, over all of its sizes.
class NodeTime {
  public:
    // A size that it had, and for how long.
    struct Size {
        int nodes = 0;
        Duration seconds = 0;
        friend bool operator==(const Size&, const Size&) = default;
    };
    static constexpr std::size_t kMostSizes = 100;

    // The run, `passed` seconds old, has had `nodes` nodes since the last call.
    void add(Duration passed, int nodes);
    // Of the whole run, which is `passed` seconds old and has had `nodes` nodes since the last
    // call.
    Duration seconds(Duration passed, int nodes) const;
    // How old the run was when its size changed last; 0: it has not.
    Duration counted() const { return counted_; }

    // Those before the present one, in order; of more than kMostSizes the last.
    const std::vector<Size>& sizes() const { return sizes_; }

    // The state file's.
    template <class F>
    friend void fields(F&, NodeTime&);

  private:
    Duration seconds_ = 0, counted_ = 0;
    std::vector<Size> sizes_;
};

// A job that would grow now; times are without suspensions.
struct GrowingRun {
    Duration passed = 0;
    Duration left = 0;  // infinite without a time limit
    Duration node_seconds = 0;
    int nodes = 1;  // at present
};

// Of one resource.
struct Amount {
    std::uint64_t held = 0, wanted = 0;
};

// Minutes that the run will have used at its end.
double minutes_in_all(const GrowingRun&, const Amount&);

// The same as Slurm counts for running jobs: as if the run had had its last size since its start.
double minutes_by_last_size(const GrowingRun&, const Amount&);

// Minutes that the run uses by growing, above those that it would have used.
double minutes_more(const GrowingRun&, const Amount&);

}  // namespace elastic::controller
