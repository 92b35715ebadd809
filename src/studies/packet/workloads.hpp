// SPDX-License-Identifier: MIT
// The six workloads of [packet] section 6, out of the model of Lublin and Feitelson.
#pragma once

#include <array>
#include <cstdint>

#include "common/result.hpp"
#include "simulator/packets.hpp"

namespace elastic::studies::packet {

inline constexpr std::array kLoads{0.85, 0.90, 0.95};  // calculated load

// One of the six: Workload0.85, Workload0.90 and Workload0.95 are the homogeneous ones.
struct Flow {
    bool homogeneous = true;
    double load = 0.85;

    int nodes() const { return homogeneous ? 100 : 500; }
    friend bool operator==(const Flow&, const Flow&) = default;
};

// The paper says how many jobs arrive in which time on how many nodes with which load, and leaves
// open what is in here.
struct Assumptions {
    std::int64_t jobs = 5000;  // of a workload; the paper's
    double days = 4;           // the last job arrives about then; the paper's
    int types = 8;             // h, those of [28], whose figures 1 and 2 the paper repeats
    // "e_i is i-th job runtime" in the share S: at the size that the model draws, or on one node,
    // as e_i is defined in section 5.
    bool share_by_one_node = false;
    // "A modified generator that provided more homogeneous ones": only in run times, or also in
    // when jobs arrive.
    bool even_arrivals = true;
    core::LongestWait longest_wait = core::LongestWait::ever;
};

// Jobs of the flow, with an initialisation that is the same for all types and `share`, S, of all
// they take (section 6).
Result<simulator::PacketWorkload> make_workload(const Flow&, double share, const Assumptions&,
                                                std::uint64_t seed);

}  // namespace elastic::studies::packet
