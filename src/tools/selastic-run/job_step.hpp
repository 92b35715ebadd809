// SPDX-License-Identifier: MIT
// Job steps as selastic-run starts them: a process of srun each.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/time.hpp"
#include "selastic-run/options.hpp"

namespace elastic::tools {

// The nodes of a step.
struct StepPlace {
    std::string node_list;  // "": as srun finds the job
    int nodes = 1;
};

Time steady_now();

// Without the folders that it is in.
std::string program_name(const RunOptions& options);

// The number of tasks a node that the job began with.
int tasks_per_node(const RunOptions& options);

// The options with the --mpi that the program is linked with, unless one is said already: under
// another, MPI programs are worlds of one process each, or do not start.
RunOptions mpi_options(const RunOptions& options);

// Has the PMIx fences of steps wait for all their processes, unless the user has said how they are
// to be made: Slurm 22.05.8 makes those without data over a tree, of which there is none where
// TreeWidth is more than the step's nodes (reverse_tree_info()), so that no node waits for another
// and Open MPI may crash in MPI_Init().  Those over a ring do not look at TreeWidth.
void wait_in_fences(const RunOptions& options);

// srun and its arguments for a command.
Words srun_words(const RunOptions& options, const Words& command, const StepPlace& place);

// Makes the environment, which is as old as the job, say what a step is to have.
void set_environment(const RunOptions& options, const StepPlace& place);

// What srun is to pass on (--export, SLURM_EXPORT_ENV) with one variable more.
std::string with_export(const std::string& list, const std::string& variable);

// A process without the signal mask of this one; throws std::system_error.
pid_t start_process(const Words& words);

// Replaces this process; throws std::system_error.
[[noreturn]] void become(const Words& words);

// Runs the words to the end and gives what they print; nothing if they fail.  Of their errors
// nothing is printed: users can mend none of them.
std::optional<std::string> output_of(const Words& words);

// Whether Slurm still runs the job that we are in, so that it may have steps.
bool job_goes_on();

// The exit status as a shell has it, of what waitpid() gave.
int shell_status(int wait_status);

// A step that goes on, as long as srun does.
class JobStep {
  public:
    // `after`: the number of the job's last step known; this one's is higher.
    JobStep(const RunOptions& options, const Words& command, StepPlace place, std::int64_t after);

    pid_t pid() const { return pid_; }
    const StepPlace& place() const { return place_; }
    Time began() const { return began_; }
    std::int64_t number() const { return number_; }  // after_ while it has not been seen

    // Looks whether Slurm has the step: since when, kNever before.
    Time seen();
    // To its tasks, by Slurm (srun itself would take SIGTERM for the wish to kill them).
    bool signal(const std::string& name);
    // Once: a slurmstepd that is told to end while it ends may take its tasks for unkillable and
    // drain its node.
    void end();

  private:
    pid_t pid_;
    StepPlace place_;
    std::string name_;
    std::string id_;  // "12.3"; "": not known yet
    std::int64_t after_, number_ = after_;
    Time began_, seen_ = kNever;
    bool told_to_end_ = false;
};

}  // namespace elastic::tools
