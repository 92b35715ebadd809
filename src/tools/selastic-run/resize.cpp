// SPDX-License-Identifier: MIT
// The line about a resize.  It always has every phase, those that took no time among them, so that
// tables can be made of such lines.
#include "selastic-run/resize.hpp"

#include <fmt/format.h>

namespace elastic::tools {

std::string to_string(const Resize& resize, int number) {
    const runtime::Phases& phases = resize.phases;
    return fmt::format(
        "resize {}: {} -> {} nodes: negotiation {:.3f} s, start {:.3f} s, evacuation {:.3f} s, "
        "checkpoint {:.3f} s, stop {:.3f} s, reconnect {:.3f} s, rebalance {:.3f} s, restore "
        "{:.3f} s; pause {:.3f} s",
        number, resize.from, resize.to, resize.negotiation, resize.start, phases.evacuation,
        phases.checkpoint, resize.stop, phases.reconnect, phases.rebalance, phases.restore,
        resize.pause);
}

}  // namespace elastic::tools
