// SPDX-License-Identifier: MIT
// By realloc(), which moves a large block by its pages.
#include "simulator/logs/text_block.hpp"

#include <algorithm>

namespace elastic::simulator {

bool Text::reserve(std::size_t capacity) {
    if (capacity <= capacity_) return true;
    char* larger = static_cast<char*>(std::realloc(data_.get(), capacity));
    if (!larger) return false;
    (void)data_.release();
    data_.reset(larger);
    capacity_ = capacity;
    return true;
}

bool Text::grow(std::size_t limit) {
    return reserve(std::min(limit, std::max(2 * capacity_, kFirstRoom)));
}

}  // namespace elastic::simulator
