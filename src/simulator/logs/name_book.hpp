// SPDX-License-Identifier: MIT
// Numbers the values of one column of a log in the order in which they first stand there.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace elastic::simulator {

class NameBook {
  public:
    // -1 for "".
    int number(std::string_view name) {
        if (name.empty()) return -1;
        const auto [found, is_new] =
            numbers_.try_emplace(std::string(name), static_cast<int>(names_.size()));
        if (is_new) names_.emplace_back(name);
        return found->second;
    }
    // By number.
    std::vector<std::string> take_names() { return std::move(names_); }

  private:
    std::unordered_map<std::string, int> numbers_;
    std::vector<std::string> names_;
};

}  // namespace elastic::simulator
