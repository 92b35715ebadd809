// SPDX-License-Identifier: MIT
// What the values of an annotation's keys look like as people type them; only for the files of the
// annotation.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/model/annotation/annotation.hpp"

namespace elastic::core {

inline constexpr std::string_view kMalleable = "malleable", kEvolving = "evolving";
inline constexpr Duration kMaxDuration = 365.0 * 86400;

// An error of the whole annotation, as sbatch shows it.
template <class... Args>
Error refuse(fmt::format_string<Args...> format, Args&&... args) {
    return Error{"elastic: " + fmt::format(format, std::forward<Args>(args)...)};
}

// Each reads one value into its place; an error is what follows "KEY=VALUE: ".
Result<void> read_nodes(int& place, std::string_view text);
Result<void> read_duration(Duration& place, std::string_view text);
Result<void> read_price(double& place, std::string_view text);
Result<void> read_rho(SpeedupModel& place, std::string_view text);
Result<void> read_power(SpeedupModel& place, std::string_view text);
Result<void> read_overhead(SpeedupModel& place, std::string_view text);
Result<void> read_downey(SpeedupModel& place, std::string_view text);
Result<void> read_sizes(SizeRule& place, std::string_view text);
Result<void> read_cost(ResizeCost& place, std::string_view text);
Result<void> read_data(ResizeCost& place, std::string_view text);
Result<void> read_profile(EvolutionProfile& place, std::string_view text);
Result<void> read_packet(std::string& place, std::string_view text);
Result<void> read_init(Initialisation& place, std::string_view text);

// The class has no key: it is "malleable", "evolving" or both with a plus.
Result<void> read_class(Sizing& sizing, std::string_view text);

// Whether such a key exists, for texts and JSON alike.
bool is_annotation_key(std::string_view name);

}  // namespace elastic::core
