#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A Dask program whose cluster is its job: it begins on one node, takes more while there is much to do, and gives them
back when there is little.

    sbatch --elastic=malleable+evolving,min=1,max=4 -N1 elastic_dask.py [TASKS]
"""

import sys
import time

import distributed
import elastic.dask


def square(number):
    time.sleep(0.2)  # stands for work
    return number * number


def main():
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    with elastic.dask.Cluster(["--nthreads", "1", "--no-nanny"]) as cluster:
        cluster.adapt(minimum=1, maximum=4, interval="500ms", target_duration="2s")
        with distributed.Client(cluster) as client:
            squares = client.map(square, range(tasks))
            client.wait_for_workers(3)
            print("dask: works on more nodes", flush=True)
            total = sum(client.gather(squares))
            print(f"dask: the sum of {tasks} squares is {total}", flush=True)
            del squares
            while len(cluster.plan) > 1:  # nothing is left to do
                time.sleep(0.1)
            print("dask: has given them back", flush=True)


if __name__ == "__main__":
    main()
