// SPDX-License-Identifier: MIT
// Bisection over numbers of nodes.
#pragma once

namespace elastic::core {

// The size from `low` to `high` at which `value` is least, if it falls up to there and rises
// behind; else a local minimum.
template <class Value>
int least_at(int low, int high, Value&& value) {
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (value(middle + 1) < value(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The last size from `low` to `high` for which it holds, if it does for `low` and up to there.
template <class Condition>
int last_where(int low, int high, Condition&& holds) {
    while (low < high) {
        const int middle = high - (high - low) / 2;
        if (holds(middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

}  // namespace elastic::core
