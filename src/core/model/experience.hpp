// SPDX-License-Identifier: MIT
// How much faster jobs run with more nodes than they prefer, learned from those that have ended.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>

#include "common/time.hpp"
#include "core/model/annotation/annotation.hpp"

namespace elastic::core {

// What of a run the preferred size would have done, and what came on top by the declared speed-up
// beyond it, if that is true.
class WorkSeen {
  public:
    // The job has worked for `time` seconds on `nodes` nodes; the first call is of its start.
    void add(Duration time, int nodes, const Sizing&);

    double sure() const { return sure_; }              // seconds at the preferred size
    double beyond() const { return beyond_; }          // likewise
    double start_gain() const { return start_gain_; }  // declared speed at its first size, less 1
    bool empty() const { return start_gain_ < 0; }

    // The state file's.
    template <class F>
    friend void fields(F&, WorkSeen&);

  private:
    double sure_ = 0, beyond_ = 0;
    double start_gain_ = -1;  // at least 0 once it has begun
};

class Experience {
  public:
    // Whose jobs are compared: any number that stands for a user and the name of a job.
    using Program = std::uint64_t;
    static Program program(std::uint64_t user, std::string_view name);

    // A job has ended by itself that was given `limit` seconds at its preferred size of `pref`
    // nodes.  Rigid ones are worth telling, too: they ran with what they prefer.
    void learn(Program, int pref, Duration limit, const WorkSeen&);

    // How much is to be believed of the speed-up beyond the preferred size that jobs of the program
    // declare: from 0, nothing, to 1.
    double believed(Program) const;

    // So many jobs could be compared with others.
    std::int64_t compared() const { return all_.compared; }

    // The beliefs between which the evidence decides.
    static constexpr std::array kShares{0.0, 0.25, 0.5, 0.75, 1.0};
    using ByShare = std::array<double, kShares.size()>;

    // Squares and products of what jobs differ by from others that ask for the same.
    struct Evidence {
        Program program = 0;
        std::int64_t compared = 0;
        double starts = 0;
        ByShare work{}, both{};

        void add(double weight, double start, const ByShare& work);
        // How likely it makes each of kShares, up to a factor; the greatest is 1.
        ByShare likelihood() const;
    };

    // The state file's: it keeps the evidence, not whom the next jobs are compared with.
    template <class F>
    friend void fields(F&, Experience&);

  private:
    // Of jobs that ask for the same.
    struct Group {
        double jobs = 0;
        double start = 0;  // mean
        ByShare work{};    // likewise
    };

    void make_room_for(Program);

    std::unordered_map<std::uint64_t, Group> groups_;
    std::map<Program, Evidence> programs_;
    Evidence all_;
};

}  // namespace elastic::core
