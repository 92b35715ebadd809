// SPDX-License-Identifier: MIT
// The pictures of an advice: inline images in the colours of the page, be it light, dark or paper.
//
// A policy has one colour in all of them.  They are as narrow as a phone, and legends are text of
// the page, so that both can be read there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "studies/advice/advice.hpp"

namespace elastic::studies {

// Presets that are drawn, each with its colour: easy, order alone, the recommended one, the best of
// the others.
class Drawn {
  public:
    explicit Drawn(const Advice&);
    const std::vector<std::string>& names() const { return names_; }
    std::string colour(std::string_view policy) const;  // as CSS has it

  private:
    std::vector<std::string> names_;
};

// By share at the usual cost: mean turnaround against easy's, with the error over the seeds and the
// worst of them; and the longest wait.
std::string draw_gains(const Advice&, const Drawn&);
std::string draw_longest_waits(const Advice&, const Drawn&);
// By size, under easy and the recommended one.
std::string draw_sizes(const Advice&, const Drawn&);
// Nodes in use and jobs that wait, before and after; "" while it is not known.
std::string draw_over_time(const Advice&, const Drawn&);

}  // namespace elastic::studies
