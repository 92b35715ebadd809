#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A batch script in Python that takes part: rounds of work on all nodes of the job, each with a step of its own.  What
is offered is taken between two rounds, when nothing runs anywhere.

    sbatch --elastic=malleable,min=1,max=8 -N 4 elastic_rounds.py [ROUNDS]
"""

import os
import subprocess
import sys

import elastic


def answer(job):
    """Takes whatever the controller offers now, and goes on when it is carried out."""
    event = job.poll()
    while event:
        if event.type in (elastic.EventType.OFFER_SHRINK, elastic.EventType.OFFER_EXPAND):
            job.accept(event.op)
        elif event.type is elastic.EventType.ACCEPTED and event.kind is elastic.Kind.SHRINK:
            job.done(event.op)  # nothing runs on event.node_list
        elif event.type is elastic.EventType.RESIZED and event.kind is elastic.Kind.EXPAND and event.op:
            job.done(event.op)  # the next round uses them
        over = event.type in (elastic.EventType.RESIZED, elastic.EventType.ENDED, elastic.EventType.CLOSED)
        event = job.poll(0 if over else 30)


def work(job):
    """A round: the names of the nodes that took part."""
    done = subprocess.run(["srun", "-Q", f"--nodelist={job.node_list}", f"--nodes={job.nodes}", "--ntasks-per-node=1",
                           "sh", "-c", "sleep 1; echo $SLURMD_NODENAME"],
                          env=environment(), stdout=subprocess.PIPE, text=True, check=True)
    return sorted(done.stdout.split())


def environment():
    """Without what the job's environment says of the size that it began with."""
    old = ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TASKS_PER_NODE", "SLURM_JOB_NODELIST", "SLURM_NODELIST",
           "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_CPUS_PER_NODE")
    return {name: value for name, value in os.environ.items() if name not in old}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with elastic.Job() as job:
        for number in range(1, rounds + 1):
            answer(job)
            nodes = work(job)
            if nodes != sorted(elastic.node_names(job.node_list)):
                sys.exit(f"elastic_rounds: WRONG: {nodes} worked, not {job.node_list}")
            print(f"elastic_rounds: round {number} on {len(nodes)} node(s)", flush=True)
            job.progress(rounds - number)
    print(f"elastic_rounds: {rounds} rounds, correct")


if __name__ == "__main__":
    main()
