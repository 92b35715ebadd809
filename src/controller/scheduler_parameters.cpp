// SPDX-License-Identifier: MIT
// Two tables: of what is honoured, with the range that Slurm takes, and of what is not.  A key that
// is in neither is not of Slurm's loops, so Slurm goes by it whoever schedules.
#include "controller/scheduler_parameters.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"

namespace elastic::controller {

namespace {

using Values = SchedulerParameters;

constexpr std::int64_t kMostJobs = 1000000, kMonth = 30 * 86400;
constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kPriority = std::numeric_limits<std::uint32_t>::max();

struct Number {
    std::string_view key;
    std::int64_t least, most;
    void (*set)(Values&, std::int64_t);
};

template <auto member>
void store(Values& values, std::int64_t number) {
    values.*member = static_cast<std::remove_reference_t<decltype(values.*member)>>(number);
}

// Of two bounds for one thing the narrower.
template <auto member>
void lower(Values& values, std::int64_t number) {
    int& bound = values.*member;
    if (number == Values::kUnbounded) return;
    bound = bound == Values::kUnbounded ? static_cast<int>(number)
                                        : std::min(bound, static_cast<int>(number));
}

template <int parts_of_a_second>
void raise_interval(Values& values, std::int64_t number) {
    values.least_interval =
        std::max(values.least_interval, static_cast<Duration>(number) / parts_of_a_second);
}

// The first task of an array is as any other job.
void set_reserved_tasks(Values& values, std::int64_t tasks) {
    values.most_reserved_tasks = std::max(static_cast<int>(tasks), 1);
}

void set_window(Values& values, std::int64_t minutes) {
    values.window = static_cast<Duration>(minutes) * 60;
}

constexpr std::array kNumbers{
    Number{"batch_sched_delay", 0, kInt, raise_interval<1>},
    Number{"bf_max_job_array_resv", 0, 1000, set_reserved_tasks},
    Number{"bf_max_job_assoc", 0, kMostJobs, store<&Values::most_of_association>},
    Number{"bf_max_job_part", 0, kMostJobs, lower<&Values::most_in_partition>},
    Number{"bf_max_job_start", 0, 10000, lower<&Values::most_started>},
    Number{"bf_max_job_test", 1, kMostJobs, store<&Values::most_tested>},
    Number{"bf_max_job_user", 0, kMostJobs, store<&Values::most_of_user>},
    Number{"bf_max_job_user_part", 0, kMostJobs, store<&Values::most_of_user_in_partition>},
    Number{"bf_min_age_reserve", 0, kMonth, store<&Values::reserving_age>},
    Number{"bf_min_prio_reserve", 0, kPriority, store<&Values::reserving_priority>},
    Number{"bf_window", 1, kMonth / 60, set_window},
    Number{"max_rpc_cnt", 0, 1000, store<&Values::most_threads>},
    Number{"max_rpc_count", 0, 1000, store<&Values::most_threads>},
    Number{"partition_job_depth", 0, kInt, lower<&Values::most_in_partition>},
    Number{"sched_max_job_start", 0, kInt, lower<&Values::most_started>},
    Number{"sched_min_interval", 0, kInt, raise_interval<1000000>},
};

struct Flag {
    std::string_view key;
    bool Values::*member;
};

constexpr std::array kFlags{
    Flag{"assoc_limit_stop", &Values::limits_stop},
    Flag{"bf_one_resv_per_job", &Values::one_reservation},
};

constexpr std::array<std::string_view, 13> kPointless{"bf_continue",
                                                      "bf_hetjob_immediate",
                                                      "bf_interval",
                                                      "bf_max_time",
                                                      "bf_node_space_size",
                                                      "bf_resolution",
                                                      "bf_running_job_reserve",
                                                      "bf_window_linear",
                                                      "bf_yield_interval",
                                                      "bf_yield_rpc_cnt",
                                                      "bf_yield_sleep",
                                                      "default_queue_depth",
                                                      "max_sched_time"};

constexpr std::array<std::string_view, 9> kUnsupported{"bf_allow_magnetic_slot",
                                                       "bf_busy_nodes",
                                                       "bf_hetjob_prio",
                                                       "bf_job_part_count_reserve",
                                                       "bf_licenses",
                                                       "bf_topopt_enable",
                                                       "bf_topopt_iterations",
                                                       "reduce_completing_frag",
                                                       "time_min_as_soft_limit"};

using Settings = std::vector<std::pair<std::string, std::optional<std::string_view>>>;

// Each key once.
Settings settings_of(std::string_view text) {
    Settings settings;
    for (const std::string_view parameter : split(text, ',')) {
        const std::size_t end = parameter.find('=');
        std::string key = lower_case(trim(parameter.substr(0, end)));
        if (std::ranges::find(settings, key, [](const auto& known) { return known.first; }) !=
            settings.end())
            continue;
        std::optional<std::string_view> value;
        if (end != std::string_view::npos) value = trim(parameter.substr(end + 1));
        settings.emplace_back(std::move(key), value);
    }
    return settings;
}

std::string invalid(std::string_view key, std::string_view value, const Number& number) {
    return fmt::format("Invalid SchedulerParameters {}: {}: must be a number from {} to {}", key,
                       printable(value), number.least, number.most);
}

void read_number(const Number& number, std::string_view value, ReadParameters& read) {
    const auto parsed = parse_integer(value);
    if (parsed && *parsed >= number.least && *parsed <= number.most)
        number.set(read.values, *parsed);
    else
        read.errors.push_back(invalid(number.key, value, number));
}

}  // namespace

ReadParameters parse_scheduler_parameters(std::string_view text) {
    ReadParameters read;
    for (const auto& [key, value] : settings_of(text)) {
        if (const auto flag = std::ranges::find(kFlags, key, &Flag::key); flag != kFlags.end())
            read.values.*flag->member = true;
        const auto number = std::ranges::find(kNumbers, key, &Number::key);
        if (number != kNumbers.end() && value) read_number(*number, *value, read);
    }
    if (read.values.most_of_user && read.values.most_of_association) {
        read.errors.push_back(
            "Both bf_max_job_user and bf_max_job_assoc are set in SchedulerParameters: only "
            "bf_max_job_assoc is taken");
        read.values.most_of_user = Values::kUnbounded;
    }
    return read;
}

SchedulerParameters beside_slurm(const SchedulerParameters& read) {
    constexpr int kSlurms = 500;  // bf_max_job_test where slurm.conf says nothing
    SchedulerParameters values;
    values.deepest = read.most_tested == Values::kUnbounded ? kSlurms : read.most_tested;
    return values;
}

IgnoredParameters ignored_parameters(std::string_view text) {
    IgnoredParameters ignored;
    for (const auto& [key, value] : settings_of(text)) {
        if (std::ranges::find(kPointless, key) != kPointless.end())
            ignored.pointless.push_back(key);
        if (std::ranges::find(kUnsupported, key) != kUnsupported.end())
            ignored.unsupported.push_back(key);
    }
    return ignored;
}

}  // namespace elastic::controller
