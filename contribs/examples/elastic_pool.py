#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A bag of tasks in Python on all nodes of the job, however many these are: counts primes, a thousand numbers a task.

    sbatch --elastic=malleable,min=1,max=4 -N2 --ntasks-per-node=1 elastic_pool.py [TASKS]
"""

import sys
import time

import elastic.pool

STEP = 1000


def primes(first):
    """How many there are from first on."""
    time.sleep(0.5)  # stands for more work
    return sum(n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1)) for n in range(first, first + STEP))


def main():
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    total = nodes = 0
    with elastic.pool.Pool() as pool:
        for done, count in enumerate(pool.map(primes, range(0, tasks * STEP, STEP)), 1):
            total += count
            if len(pool.nodes) != nodes:
                nodes = len(pool.nodes)
                print(f"pool: task {done}, {nodes} nodes", flush=True)
    print(f"pool: {total} primes below {tasks * STEP}")


if __name__ == "__main__":
    main()
