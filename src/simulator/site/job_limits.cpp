// SPDX-License-Identifier: MIT
// A limit on what each user or account may have is one limit for each of them.
#include "simulator/site/job_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "common/text.hpp"

namespace elastic::simulator {

namespace {

class Limits {
  public:
    Limits(const Log& log, Site& site) : log_(log), site_(site) {}

    void apply(const Qos& qos, std::size_t job) {
        const JobFacts facts = log_.facts_of(job);
        for (const Cap& cap : qos.caps) {
            const int whose = cap.of == Cap::Of::all    ? 0
                              : cap.of == Cap::Of::user ? facts.user
                                                        : facts.account;
            if (whose < 0) continue;
            const auto [found, is_new] = numbers_.try_emplace(
                std::tuple(&cap, whose), static_cast<std::uint32_t>(site_.limits.size()));
            if (is_new)
                site_.limits.push_back({name_of(qos, cap, facts), cap.nodes, cap.processors,
                                        cap.gpus, cap.memory, cap.jobs});
            site_.limits_of[job].push_back(found->second);
        }
    }

  private:
    std::string name_of(const Qos& qos, const Cap& cap, const JobFacts& facts) const {
        const std::string of =
            cap.of == Cap::Of::user ? fmt::format(" of user {}", log_.names.users[facts.user])
            : cap.of == Cap::Of::account
                ? fmt::format(" of account {}", log_.names.accounts[facts.account])
                : "";
        return printable(fmt::format("limits of QOS {}{}", qos.name, of), 200);
    }

    const Log& log_;
    Site& site_;
    std::map<std::tuple<const Cap*, int>, std::uint32_t> numbers_;
};

}  // namespace

void limit_jobs(const Log& log, const SiteKnowledge& known, Site& site) {
    if (known.qos.empty()) return;
    if (known.conf && !known.conf->enforces_limits) {
        site.notes.push_back(
            fmt::format("{}: AccountingStorageEnforce has no limits, so those of QOS keep no job "
                        "waiting",
                        known.conf->name));
        return;
    }
    Limits found(log, site);
    site.limits_of.resize(log.jobs.size());
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        if (const Qos* qos = known.qos_of(log, job)) found.apply(*qos, job);
        const SlurmConf::Partition* conf =
            known.partition(site.partitions[site.partition_of[job]].name);
        if (conf && !conf->qos.empty())
            if (const Qos* qos = known.qos_named(conf->qos)) found.apply(*qos, job);
        std::vector<std::uint32_t>& limits = site.limits_of[job];
        std::ranges::sort(limits);
        limits.erase(std::ranges::unique(limits).begin(), limits.end());
    }
}

}  // namespace elastic::simulator
