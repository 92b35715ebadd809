// SPDX-License-Identifier: MIT
// Axis and texts, kept apart from the two drawings so that they say the same.
#include "journal/axis.hpp"

#include <array>
#include <cmath>
#include <ctime>

namespace elastic::journal {

Duration tick_step(Duration span, int most) {
    constexpr std::array<Duration, 20> kSteps{1,     2,     5,     10,    15,     30,    60,
                                              120,   300,   600,   900,   1800,   3600,  7200,
                                              10800, 21600, 43200, 86400, 172800, 604800};
    for (const Duration step : kSteps)
        if (span <= step * most) return step;
    const Duration last = kSteps.back();
    return last * std::ceil(span / last / most);
}

std::string tick_label(Duration seconds) {
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (whole == 0) return "0";
    const std::array<std::pair<long long, char>, 4> parts{{{whole / 86400, 'd'},
                                                           {whole / 3600 % 24, 'h'},
                                                           {whole / 60 % 60, 'm'},
                                                           {whole % 60, 's'}}};
    std::string text;
    for (const auto& [value, unit] : parts)
        if (value != 0) text += fmt::format("{}{}", value, unit);
    return text;
}

std::string sizes_text(const JobHistory& job, std::string_view arrow) {
    constexpr std::size_t kMost = 8, kEnds = 3;
    std::string text;
    const std::size_t n = job.sizes.size();
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 0) text += fmt::format(" {} ", arrow);
        if (n > kMost && i == kEnds) {
            text += "...";
            i = n - kEnds - 1;
        } else {
            text += fmt::format("{}", job.sizes[i]);
        }
    }
    return text;
}

std::string begin_text(const Timeline& timeline) {
    constexpr Time kSurelyEpoch = 1e9, kEndOfCalendar = 2e11;
    if (timeline.from < kSurelyEpoch || timeline.from > kEndOfCalendar) return "";
    const auto seconds = static_cast<std::time_t>(timeline.from);
    std::tm utc{};
    std::array<char, 64> text{};
    if (!::gmtime_r(&seconds, &utc)) return "";
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &utc);
    return text.data();
}

}  // namespace elastic::journal
