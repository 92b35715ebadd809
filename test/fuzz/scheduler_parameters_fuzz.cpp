// SPDX-License-Identifier: MIT
// The input is slurm.conf's SchedulerParameters: what is taken is within Slurm's ranges, what is
// not is named in one line each.
#include "controller/scheduler_parameters.hpp"

#include "fuzz.hpp"

using namespace elastic;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text(data, size);
    const controller::ReadParameters read = controller::parse_scheduler_parameters(text);
    const controller::SchedulerParameters& values = read.values;
    for (const int bound : {values.most_tested, values.most_of_user, values.most_of_association,
                            values.most_in_partition, values.most_of_user_in_partition,
                            values.most_started, values.most_reserved_tasks, values.most_threads})
        fuzz::require(bound >= 0, "a bound is no negative number");
    fuzz::require(values.window >= 60, "a window is a minute at least");
    fuzz::require(values.least_interval >= 0 && values.reserving_age >= 0,
                  "times are not negative");
    for (const std::string& error : read.errors)
        fuzz::require(error.find('\n') == std::string::npos && error.size() < 300,
                      "an error is one line");
    const controller::IgnoredParameters ignored = controller::ignored_parameters(text);
    fuzz::require(ignored.pointless.size() + ignored.unsupported.size() <= size,
                  "what is ignored stands in the text");
    return 0;
}
