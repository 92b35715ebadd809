// SPDX-License-Identifier: MIT
// Few resizes are better than many, since each costs the application: all nodes at once if that can
// be, if need be after one expansion, and bit by bit only where the job's largest size leaves no
// other way.
//
// Always holds: whoever repeats the step until it is empty ends, with the nodes left or with a job
// that allows no other size.
#include "core/model/departure.hpp"

#include <algorithm>

namespace elastic::core {

namespace {

// The largest size that the job allows, at most `most`; 0 if there is none.
int largest_size(const Sizing& annotation, int most) {
    for (int size = most; size >= annotation.min; --size)
        if (annotation.allows(size)) return size;
    return 0;
}

// The least expansion after which all can leave; 0 if there is none.
int least_expansion(const Sizing& annotation, int nodes, int leaving) {
    for (int more = 1; nodes + more <= annotation.max; ++more)
        if (annotation.allows(nodes + more) && largest_size(annotation, nodes + more - leaving) > 0)
            return more;
    return 0;
}

// The largest expansion by at most `most` nodes; 0 if there is none.
int largest_expansion(const Sizing& annotation, int nodes, int most) {
    const int size = largest_size(annotation, std::min(annotation.max, nodes + most));
    return std::max(0, size - nodes);
}

}  // namespace

Departure next_departure(const Sizing& annotation, int nodes, int leaving) {
    const int left = nodes - leaving;
    if (const int size = largest_size(annotation, left); size > 0) return {leaving, left - size, 0};
    if (const int more = least_expansion(annotation, nodes, leaving); more > 0) return {0, 0, more};
    if (const int size = largest_size(annotation, nodes - 1); size > 0) return {nodes - size, 0, 0};
    for (int more = annotation.max - nodes; more > 0; --more)
        if (annotation.allows(nodes + more) && largest_size(annotation, nodes + more - 1) >= nodes)
            return {0, 0, more};
    return {};
}

Departure next_replacement(const Sizing& annotation, int nodes, int leaving, int room) {
    const int wanted = std::min(annotation.pref, nodes);
    if (nodes - leaving < wanted) {
        const int most = std::min(room, annotation.pref + leaving - nodes);
        if (const int more = largest_expansion(annotation, nodes, most); more > 0)
            return {0, 0, more};
    }
    const Departure next = next_departure(annotation, nodes, leaving);
    return next.grow > room ? Departure{} : next;
}

Departure next_retreat(const Sizing& annotation, int nodes, int leaving, int room) {
    if (const int size = largest_size(annotation, nodes - leaving); size > 0)
        return {leaving, nodes - leaving - size, 0};
    if (const int size = annotation.sizes.smallest(annotation.min, nodes - 1); size > 0)
        return {nodes - size, 0, 0};
    return {0, 0, largest_expansion(annotation, nodes, std::min(room, leaving))};
}

}  // namespace elastic::core
