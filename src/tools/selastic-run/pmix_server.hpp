// SPDX-License-Identifier: MIT
// A PMIx server for the program that selastic-run starts: what its processes ask of their job by
// PMIx_Allocation_request() arrives here, and what becomes of the job is told to them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/time.hpp"

namespace elastic::tools {

// What a process has asked for.
struct PmixRequest {
    enum class What { kMore, kFewer, kAgain };  // PMIX_ALLOC_EXTEND, _RELEASE, _REAQUIRE

    What what = What::kMore;
    std::int64_t nodes = 0;                     // 0: not said
    std::string node_list = {};                 // "": not said
    std::string id = {};                        // the program's own name for it; "": none
    std::optional<Duration> timeout = {};       // nothing: as long as it takes
    void *callback = nullptr, *data = nullptr;  // for answer()
};

// How a request has ended, as PMIx says it.
enum class PmixAnswer { kDone, kRefused, kTooLate, kWithdrawn, kNotNow, kBad };

// What has become of the job's nodes, which PMIx has between commas.
struct PmixChange {
    std::string node_list;  // that have come or gone
    int nodes = 0;          // how many
    std::string id = {};    // of the request that it answers; "": none
};

// The processes of the program, rank by rank along its nodes.
struct PmixJob {
    std::string id;                  // of Slurm
    std::vector<std::string> nodes;  // of the program
    int tasks_per_node = 1;
};

class PmixServer {
  public:
    // Throws std::runtime_error where PMIx refuses.
    explicit PmixServer(const PmixJob& job);
    ~PmixServer();
    PmixServer(const PmixServer&) = delete;
    PmixServer& operator=(const PmixServer&) = delete;

    // What a process needs in its environment to find the server, but for its rank.
    const std::vector<std::pair<std::string, std::string>>& environment() const {
        return environment_;
    }

    int descriptor() const;  // readable when there are requests
    std::vector<PmixRequest> take_requests();
    // Each request is answered once.
    void answer(const PmixRequest& request, PmixAnswer answer, const PmixChange& change = {});
    // Tells every process that wants to hear of it.
    void tell(const PmixChange& change);

  private:
    void register_job(const PmixJob& job);

    const std::string job_, name_space_;
    std::vector<std::pair<std::string, std::string>> environment_;
};

}  // namespace elastic::tools
