// SPDX-License-Identifier: MIT
// An outage that goes on with another error is still the same one, so a log is never filled by it.
#include "controller/outage.hpp"

#include "common/log.hpp"

namespace elastic::controller {

void Outage::report(const Result<void>& tried) {
    if (!tried && !lasts_) log_error("{}; {}", tried.error().message, consequence_);
    if (tried && lasts_) log_info("{}", end_);
    lasts_ = !tried;
}

}  // namespace elastic::controller
