// SPDX-License-Identifier: MIT
// Writes the log piece by piece, so that a long one needs no memory twice.
#include "selastic-sim/generate_command.hpp"

#include "selastic-sim/output.hpp"
#include "simulator/generators.hpp"

namespace elastic::tools {

int print_log(const Result<simulator::Log>& log, std::string_view model) {
    if (!log) return fail(log.error());
    Result<void> written;
    simulator::write_swf(*log, model, [&](std::string_view piece) {
        if (written) written = write_output(std::string(kStandardOutput), piece);
    });
    return written ? kExitOk : fail(written.error());
}

}  // namespace elastic::tools
