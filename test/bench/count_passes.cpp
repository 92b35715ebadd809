// SPDX-License-Identifier: MIT
// Prints how many planning passes the controller has made.  Unlike `selastic jobs --json` this has
// it list no jobs, whose thousands of pieces of memory the next pass would have to clean up.
#include <cstdio>

#include "selastic/asker.hpp"

using namespace elastic;

int main() {
    const auto fail = [](const Error& error) {
        std::fprintf(stderr, "count_passes: %s\n", error.message.c_str());
        return 1;
    };
    const auto asker = tools::connect();
    if (!asker) return fail(asker.error());
    protocol::Query query;
    query.what = protocol::Question::metrics;
    const auto metrics = (*asker)->ask(query);
    if (!metrics) return fail(metrics.error());
    std::printf("%lld\n", static_cast<long long>(metrics->get("passes").get_int("count")));
    return 0;
}
