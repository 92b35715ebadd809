// SPDX-License-Identifier: MIT
// The terminal of `selastic top`: draws frames, reads keys, and is as it was when it is closed.
#pragma once

#include <memory>
#include <vector>

#include "common/result.hpp"
#include "selastic/top_frame.hpp"

namespace elastic::tools {

// What a key means, whatever terminal sent it.
enum class TopKey {
    none,
    closed,
    resized,
    up,
    down,
    page_up,
    page_down,
    home,
    tab,
    enter,
    escape,
    backspace,
    character
};

struct TopInput {
    TopKey key = TopKey::none;
    char character = 0;
};

class TopScreen {
  public:
    virtual ~TopScreen() = default;  // the terminal is as it was
    virtual void draw(const std::vector<TopLine>&) = 0;
    virtual TopInput read() = 0;  // none: there is no key now
    virtual int width() const = 0;
    virtual int height() const = 0;
};

// Takes the terminal of standard input and output.
Result<std::unique_ptr<TopScreen>> open_screen();

// Runs `body` in a process of its own, which has the terminal; should that be killed, the terminal
// is put back here.  Returns its exit code.
int with_terminal_kept(int (*body)(void*), void* argument);

}  // namespace elastic::tools
