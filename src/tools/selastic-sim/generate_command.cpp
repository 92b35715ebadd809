// SPDX-License-Identifier: MIT
// Writes the log piece by piece, so that a long one needs no memory twice.
#include "selastic-sim/generate_command.hpp"

#include "program.hpp"
#include "simulator/generators.hpp"
#include "write_output.hpp"

namespace elastic::tools {

int print_log(const Result<simulator::Log>& log, std::string_view model) {
    if (!log) return fail(log.error());
    Result<void> written;
    simulator::write_swf(*log, model, [&](std::string_view piece) {
        if (written) written = write_output("-", piece);
    });
    return written ? kExitOk : fail(written.error());
}

}  // namespace elastic::tools
