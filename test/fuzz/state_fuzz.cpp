// SPDX-License-Identifier: MIT
// The input is the state file of a controller before. What is let in can be saved and read again,
// and a job has one agreement at most.
#include <set>

#include "controller/state_file.hpp"
#include "fuzz.hpp"

using namespace elastic;
using namespace elastic::controller;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    State state;
    const auto read = read_state(fuzz::text(data, size), state);
    if (!read) {
        fuzz::require_clean(read.error().message);
        fuzz::require(state.jobs.all().empty() && state.book.all().empty(), "nothing has changed");
        return 0;
    }
    std::set<JobId> asked;
    for (const auto& [op, agreement] : state.book.all()) {
        fuzz::require(agreement.open() && agreement.op == op, "an open one, by its number");
        fuzz::require(asked.insert(agreement.job).second, "one agreement a job");
        fuzz::require(state.book.of_job(agreement.job) == &agreement, "the job's agreement");
        fuzz::require(op <= state.book.last_op(), "numbers only grow");
    }
    const std::string saved = state_text(state);
    State again;
    fuzz::require(static_cast<bool>(read_state(saved, again)), "what was saved can be read");
    fuzz::require(again.jobs.all().size() == state.jobs.all().size() &&
                      again.book.all().size() == asked.size(),
                  "nothing is lost");
    return 0;
}
