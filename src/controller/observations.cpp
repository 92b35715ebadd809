// SPDX-License-Identifier: MIT
// Since nothing is done, each plan says what the last one has said: only what changes is told.
#include "controller/observations.hpp"

namespace elastic::controller {

void Observations::would(What what, JobId job, int count, JobId beneficiary, Time now,
                         Outbox& outbox) {
    const journal::Would would{what, job, count, beneficiary};
    const auto [found, is_new] = all_.try_emplace({job, what}, Observation{would, now, look_});
    Observation& known = found->second;
    known.look = look_;
    const bool is_same = known.would.count == count && known.would.beneficiary == beneficiary;
    if (!is_new && is_same) return;
    if (!is_new) tell_end(known, now, outbox);
    known = {would, now, look_};
    outbox.note(now, would);
}

void Observations::end_look(Time now, Outbox& outbox) {
    std::erase_if(all_, [&](const auto& entry) {
        const bool is_over = entry.second.look != look_;
        if (is_over) tell_end(entry.second, now, outbox);
        return is_over;
    });
}

std::string Observations::of(JobId job) const {
    std::string text;
    for (auto entry = all_.lower_bound({job, What{}}); entry != all_.end(); ++entry) {
        if (entry->first.first != job) break;
        text += (text.empty() ? "would " : ", ") + describe(entry->second.would);
    }
    return text;
}

void Observations::tell_end(const Observation& observation, Time now, Outbox& outbox) {
    journal::Would over = observation.would;
    over.lasted = now - observation.since;
    outbox.note(now, over);
}

}  // namespace elastic::controller
