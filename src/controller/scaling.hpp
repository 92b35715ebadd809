// SPDX-License-Identifier: MIT
// How a job scales, fitted online to what its application says of its progress ([mebf] section 2.2
// has rho generated offline, or online by monitoring).
#pragma once

#include <optional>
#include <vector>

#include "core/model/speedup.hpp"

namespace elastic::controller {

class Scaling {
  public:
    // The application says that it has `remaining` seconds left with the `nodes` that it uses.
    void say_progress(Time now, int nodes, Duration remaining);
    // It goes on with another size after a resize that takes it `cost` seconds.
    void resize(Time now, int from, int to, Duration cost);
    // A run begins, or goes on: what was said before does not compare with what will be.
    void interrupt();

    // Sizes were compared so often; 0: the declared model holds.
    int measured() const { return static_cast<int>(pairs_.size()); }
    // How it scales, in the declared reading of rho if that is one.
    core::SpeedupModel model(const core::SpeedupModel& declared) const;

    // What takes a second with `from` nodes takes `ratio` seconds with `to`.
    struct Pair {
        int from = 0, to = 0;
        double ratio = 1;
    };

    // The state file's.
    template <class F>
    friend void fields(F&, Scaling&);

  private:
    struct Word {
        Time at = 0;
        Duration remaining = 0;
    };
    struct Before {
        int nodes = 0;
        Duration left = 0;  // with these nodes
        Time work_since = 0;
    };

    void compare(int from, int to, double ratio);

    std::optional<Word> word_;      // the last at the present size
    std::optional<Before> before_;  // the last resize
    std::vector<Pair> pairs_;       // by age; the newest of each two sizes
};

}  // namespace elastic::controller
