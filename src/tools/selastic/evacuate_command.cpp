// SPDX-License-Identifier: MIT
// The controller does one round a question and keeps nothing between two of them: so it does not
// matter whether this program is interrupted, the controller restarted, or two people do the same.
#include "selastic/evacuate_command.hpp"

#include <chrono>
#include <thread>

#include "common/text.hpp"
#include "libelastic/link.hpp"
#include "selastic/asker.hpp"
#include "selastic/output.hpp"

namespace elastic::tools {
namespace {

constexpr std::size_t kMaxText = 2000;

std::vector<Json> jobs_of(const Json& answer) {
    const Json list = answer.get("jobs");
    std::vector<Json> jobs;
    for (std::size_t i = 0; i < list.size(); ++i) jobs.push_back(list.at(i));
    return jobs;
}

std::string label_of(const Json& job) {
    return printable(job.get_string("label"));
}

std::string on_nodes(const Json& job) {
    return fmt::format("job {} on {}: {}", label_of(job),
                       printable(job.get_string("nodes"), kMaxText),
                       printable(job.get_string("text"), kMaxText));
}

bool somebody_leaves(const Json& answer) {
    for (const Json& job : jobs_of(answer))
        if (job.get_bool("leaves")) return true;
    return false;
}

// The last line; the exit code.
int conclude(const EvacuateOptions& options, const Json& answer, bool in_time) {
    const std::vector<Json> left = jobs_of(answer);
    if (options.json) fmt::print("{}\n", answer.dump());
    if (left.empty()) {
        if (!options.json)
            fmt::print(
                "{}: empty; `scontrol update NodeName={} State=RESUME` when the work is "
                "done\n",
                options.nodes, options.nodes);
        return kExitOk;
    }
    if (!in_time)
        for (const Json& job : left) note("{}", on_nodes(job));
    note("{} {} left after {}", left.size(), left.size() == 1 ? "job is" : "jobs are",
         in_time ? "everybody who can leave has left"
                 : fmt::format("{} s; the nodes stay drained", options.timeout));
    return kExitNo;
}

}  // namespace

std::vector<std::string> EvacuationProgress::lines(const Json& answer) {
    std::vector<std::string> lines;
    if (const std::string drained = answer.get_string("drained"); !drained.empty())
        lines.push_back(fmt::format("{}: drained", printable(drained, kMaxText)));
    std::map<std::string, std::string> now;
    for (const Json& job : jobs_of(answer)) {
        const std::string line = on_nodes(job);
        now[label_of(job)] = line;
        if (const auto before = told_.find(label_of(job));
            before == told_.end() || before->second != line)
            lines.push_back(line);
    }
    for (const auto& [label, line] : told_)
        if (!now.contains(label)) lines.push_back(fmt::format("job {}: has left", label));
    told_ = std::move(now);
    return lines;
}

int evacuate(const EvacuateOptions& options) {
    using namespace std::chrono_literals;
    const auto asker = connect();
    if (!asker) return fail(asker.error());
    protocol::Query query;
    query.what = protocol::Question::evacuate;
    query.node = options.nodes;
    const Time end = libelastic::monotonic_now() + options.timeout;
    EvacuationProgress progress;
    for (bool has_begun = false;;) {
        const Result<Json> answer = (*asker)->ask(query);
        const bool in_time = libelastic::monotonic_now() < end;
        // A controller that has begun and is restarted comes back.
        if (!answer && (!has_begun || (*asker)->was_refused() || !in_time))
            return (*asker)->give_up(answer.error());
        if (answer) {
            has_begun = true;
            if (!options.json)
                for (const std::string& line : progress.lines(*answer)) fmt::print("{}\n", line);
            flush();
            if (!in_time || !somebody_leaves(*answer)) return conclude(options, *answer, in_time);
        }
        std::this_thread::sleep_for(500ms);
    }
}

}  // namespace elastic::tools
