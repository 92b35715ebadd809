// SPDX-License-Identifier: MIT
// A scanner of its own, because a simulation of EASY takes less time than the usual ways to read
// its log: one pass over the text, lines found by memchr(), integers (nearly all of a log) summed
// up digit by digit, anything else left to from_chars().  Fields that nobody needs are read, too: a
// line that was cut off or damaged gives itself away by them.
//
// Always: no byte outside of `text` is looked at, and what a line says is taken only if all of it
// could be read.
#include "simulator/logs/swf.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "common/text.hpp"
#include "core/model/annotation/annotation.hpp"

namespace elastic::simulator {

namespace {

constexpr int kFields = 18;
constexpr double kUnknown = -1;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWith = "with";

// The names of the format's definition, for messages.
constexpr std::array<const char*, kFields> kFieldNames{
    "job number",      "submit time",      "wait time",   "run time",
    "processors used", "average CPU time", "memory used", "processors requested",
    "time requested",  "memory requested", "status",      "user",
    "group",           "executable",       "queue",       "partition",
    "preceding job",   "think time"};

// Index of a field that is needed, and the largest value it may have.
struct NeededField {
    int index;
    double limit;
};
constexpr double kMaxJobNumber = 1e15;
constexpr std::array<NeededField, 6> kNeeded{{{0, kMaxJobNumber},
                                              {1, kMaxLogTime},
                                              {3, kMaxLogTime},
                                              {4, kMaxProcessors},
                                              {7, kMaxProcessors},
                                              {8, kMaxLogTime}}};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

const char* skip_blanks(const char* at, const char* end) {
    while (at != end && is_blank(*at)) ++at;
    return at;
}

const char* token_end(const char* at, const char* end) {
    while (at != end && !is_blank(*at)) ++at;
    return at;
}

// "12.5", "1e3", "+4"; not "inf".  Where it ends, or null if it is no number.
const char* read_any_number(const char* at, const char* end, double& value) {
    const char* stop = token_end(at, end);
    if (at != stop && *at == '+') ++at;
    const auto [last, failure] = std::from_chars(at, stop, value);
    return failure == std::errc() && last == stop && std::isfinite(value) ? stop : nullptr;
}

// The same, quick for what fits an integer.
const char* read_number(const char* at, const char* end, double& value) {
    constexpr int kSafeDigits = 18;
    const bool negative = at != end && *at == '-';
    const char* digits = at + negative;
    const char* most = end - digits > kSafeDigits ? digits + kSafeDigits : end;
    const char* stop = digits;
    std::int64_t sum = 0;
    while (stop != most && static_cast<unsigned char>(*stop - '0') < 10)
        sum = sum * 10 + (*stop++ - '0');
    if (stop == digits || (stop != end && !is_blank(*stop))) return read_any_number(at, end, value);
    value = static_cast<double>(negative ? -sum : sum);
    return stop;
}

// "1,024", "1'024", "1_024" and "1 024" as "1024"; any other text as it stands.
std::string without_separators(std::string_view number) {
    constexpr std::size_t kGroup = 3;
    const std::size_t first = number.find_first_not_of(kDigits);
    if (first == std::string_view::npos || first == 0 || first > kGroup ||
        std::string_view(",'_ ").find(number[first]) == std::string_view::npos)
        return std::string(number);
    std::string digits(number.substr(0, first));
    for (std::size_t at = first; at < number.size(); at += 1 + kGroup) {
        const std::string_view group = number.substr(at + 1, kGroup);
        if (number[at] != number[first] || group.size() < kGroup || !consists_of(group, kDigits))
            return std::string(number);
        digits += group;
    }
    return digits;
}

class SwfReader {
  public:
    SwfReader(std::string_view text, std::string_view name, bool lenient, const TypeRule& rule)
        : at_(text.data()),
          end_(text.data() + text.size()),
          name_(name),
          lenient_(lenient),
          types_(rule) {
        constexpr std::size_t kUsualLine = 64, kMostAtOnce = 1 << 20;
        log_.jobs.reserve(std::min(text.size() / kUsualLine + 1, kMostAtOnce));
        log_.name = name;
        log_.lenient = lenient;
    }

    Result<Log> read() {
        for (line_ = 1; at_ != end_; ++line_) {
            const char* begin = at_;
            auto* newline = static_cast<const char*>(
                std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
            const char* stop = newline ? newline : end_;
            at_ = newline ? newline + 1 : end_;
            if (auto read = line(begin, stop); !read) {
                if (!lenient_) return error("{}:{}: {}", name_, line_, read.error().message);
                ++log_.malformed;
            }
        }
        log_.types = types_.take_names();
        if (auto ok = bind_components(); !ok) return ok.error();
        return std::move(log_);
    }

  private:
    Result<void> line(const char* at, const char* end) {
        if (static_cast<std::size_t>(end - at) > kMaxLogLine) {
            return error("the line is longer than {} bytes", kMaxLogLine);
        }
        at = skip_blanks(at, end);
        if (at == end) return {};
        return *at == ';' ? comment({at, end}) : job(at, end);
    }

    Result<void> job(const char* at, const char* end) {
        std::array<double, kFields> fields;
        for (int i = 0; i < kFields; ++i) {
            at = skip_blanks(at, end);
            if (at == end) return error("{} field(s), where a job has {}", i, kFields);
            const char* stop = read_number(at, end, fields[i]);
            if (!stop) return bad_field(i, {at, token_end(at, end)}, "is not a number");
            at = stop;
        }
        for (const auto& [i, limit] : kNeeded) {
            if (!(fields[i] <= limit && fields[i] >= -kMaxJobNumber)) {
                return bad_field(i, fmt::format("{}", fields[i]), "is out of range");
            }
        }
        add(fields);
        return {};
    }

    static Error bad_field(int index, std::string_view value, const char* what) {
        return error("field {} ({}): '{}' {}", index + 1, kFieldNames[index], printable(value),
                     what);
    }

    void add(const std::array<double, kFields>& fields) {
        const double number = fields[0], submit = fields[1], run = fields[3], used = fields[4],
                     requested = fields[7], time = fields[8];
        const double size = used > 0 ? used : requested;
        log_.last_id = std::max(log_.last_id, static_cast<std::int64_t>(number));
        if (!(submit >= 0 && run > 0 && size > 0)) {
            log_.skipped.push_back(log_.jobs.size());
            return;
        }
        LogJob& job = log_.jobs.emplace_back();
        job.id = static_cast<std::int64_t>(number);
        job.submit = submit;
        job.run = run;
        job.estimate = time > 0 ? time : run;
        job.limited = time > 0;
        if (fields[2] >= 0 && fields[2] <= kMaxLogTime) job.wait = fields[2];
        job.processors = static_cast<std::int64_t>(std::ceil(size));
        if (!types_.rule().empty()) job.type = type_of(fields);
    }

    // The fields of the format that TypeField names stand in its order.
    int type_of(const std::array<double, kFields>& fields) {
        constexpr int kFirst = 11;
        std::array<std::string, kTypeFields> texts;
        std::array<std::optional<std::string_view>, kTypeFields> known;
        for (const TypeField field : types_.rule()) {
            const auto i = static_cast<std::size_t>(field);
            if (fields[kFirst + i] < 0) continue;
            texts[i] = fmt::format("{:.0f}", fields[kFirst + i]);
            known[i] = texts[i];
        }
        return types_.type_of(known);
    }

    // "; MaxProcs: 128", where other comments are anything at all.
    Result<void> comment(std::string_view text) {
        const std::size_t begin = text.find_first_not_of("; \t");
        if (begin == std::string_view::npos) return {};
        text.remove_prefix(begin);
        if (text.starts_with("MaxProcs:")) return machine_size(text, log_.processors);
        if (text.starts_with("MaxNodes:")) return machine_size(text, log_.nodes);
        if (text.starts_with(core::kCommentPrefix)) return annotation(text);
        return {};
    }

    // "elastic: 17 malleable,min=2,max=8", "elastic: 18 rigid", "elastic: 20 with 19"
    Result<void> annotation(std::string_view text) {
        const std::string_view rest = trim(text.substr(core::kCommentPrefix.size()));
        const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
        const auto job = job_number(word);
        if (!job) return error("elastic: '{}' is not a job number", printable(word));
        const std::string_view value = trim(rest.substr(word.size()));
        if (value.empty() || value.size() > core::kMaxAnnotation)
            return error("elastic: job {}: must be an annotation of 1 to {} characters", *job,
                         core::kMaxAnnotation);
        if (log_.rigid.contains(*job) || log_.annotations.contains(*job) || with_.contains(*job))
            return error("elastic: job {} stands twice", *job);
        if (value == "rigid")
            log_.rigid.insert(*job);
        else if (value.substr(0, value.find_first_of(" \t")) == kWith)
            return with(*job, trim(value.substr(kWith.size())));
        else
            log_.annotations[*job] = {std::string(value), line_};
        return {};
    }

    static std::optional<std::int64_t> job_number(std::string_view text) {
        const auto job = parse_integer(text);
        if (!job || *job < 0 || static_cast<double>(*job) > kMaxJobNumber) return std::nullopt;
        return *job;
    }

    // They are components of one heterogeneous job.
    Result<void> with(std::int64_t job, std::string_view first) {
        const auto number = job_number(first);
        if (!number || *number == job)
            return error("elastic: job {}: '{}' is not another job's number", job,
                         printable(first));
        with_[job] = {*number, line_};
        return {};
    }

    // The first one stands for all.  Jobs that are skipped are no components.
    Result<void> bind_components() {
        if (with_.empty()) return {};
        std::unordered_map<std::int64_t, std::size_t> places;
        for (std::size_t place = 0; place < log_.jobs.size(); ++place)
            places.try_emplace(log_.jobs[place].id, place);
        std::map<std::int64_t, std::set<std::size_t>> jobs;
        for (const auto& [job, with] : with_) {
            if (with_.contains(with.first)) {
                if (!lenient_)
                    return error("{}:{}: elastic: job {}: job {} is itself with another", name_,
                                 with.line, job, with.first);
                ++log_.malformed;
                continue;
            }
            for (const std::int64_t component : {with.first, job})
                if (const auto found = places.find(component); found != places.end())
                    jobs[with.first].insert(found->second);
        }
        for (const auto& [first, components] : jobs)
            if (components.size() > 1)
                log_.heterogeneous.emplace_back(components.begin(), components.end());
        std::ranges::sort(log_.heterogeneous);
        return {};
    }

    // "MaxProcs: 1,024 (12 of them spare)".  A value with no digit in it says that nobody knows.
    Result<void> machine_size(std::string_view text, std::int64_t& size) {
        const std::string_view key = text.substr(0, text.find(':'));
        const std::string_view value = trim(text.substr(key.size() + 1));
        const std::string_view stated = trim(value.substr(0, value.find_first_of("(;")));
        if (stated.find_first_of(kDigits) == std::string_view::npos) return {};
        const auto number = parse_number(without_separators(stated));
        if (number == kUnknown) return {};
        if (!number || *number != std::trunc(*number)) {
            log_.unclear_size =
                fmt::format("{}: {}: '{}' is no whole number", line_, key, printable(value));
            return {};
        }
        if (!(*number >= 0 && *number <= kMaxProcessors)) {
            return error("{}: '{}' is out of range", key, printable(stated));
        }
        size = static_cast<std::int64_t>(*number);
        return {};
    }

    const char* at_;
    const char* end_;
    std::string name_;
    bool lenient_;
    std::int64_t line_ = 0;
    struct With {
        std::int64_t first = 0, line = 0;
    };
    std::map<std::int64_t, With> with_;  // by job: who says that it starts with another
    TypeBook types_;
    Log log_;
};

}  // namespace

Result<Log> read_swf(std::string_view text, std::string_view name, bool lenient,
                     const TypeRule& rule) {
    return SwfReader(text, name, lenient, rule).read();
}

}  // namespace elastic::simulator
