// SPDX-License-Identifier: MIT
// Tables, shell words and times.  Everything that comes from a job's owner goes through printable()
// or shell_quote() here before a terminal or a shell sees it.
#include "selastic/output.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "common/text.hpp"

namespace elastic::tools {

std::string table(const std::vector<std::vector<std::string>>& rows) {
    constexpr std::size_t kMaxCell = 200;
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c)
            widths[c] = std::max(widths[c], printable(row[c], kMaxCell).size());
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c)
            line += fmt::format("{:<{}}  ", printable(row[c], kMaxCell), widths[c]);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

std::string shell_quote(std::string_view value) {
    std::string out = "'";
    for (const char c : value) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + '\'';
}

std::string time_text(Time time) {
    constexpr Time kSurelyEpoch = 1e9, kEndOfCalendar = 2e11;
    if (time < kSurelyEpoch || time > kEndOfCalendar) return fmt::format("{:10.3f}", time);
    const auto seconds = static_cast<std::time_t>(time);
    std::tm local{};
    std::array<char, 64> text{};
    if (!::localtime_r(&seconds, &local)) return fmt::format("{:.3f}", time);
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
    return text.data();
}

}  // namespace elastic::tools
