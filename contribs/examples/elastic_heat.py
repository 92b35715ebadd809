#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A square plate that is heated at one edge, relaxed by mpi4py and numpy: each point becomes the mean of itself and its
four neighbours, the border stays. A row belongs to one process; the field does not depend on how many there are.

    srun --mpi=pmix heat.py [SIZE [STEPS]]
    selastic-run --srun=--mpi=pmix elastic_heat.py [SIZE [STEPS]]

The second is the same program, resized with its job; `diff heat.py elastic_heat.py` shows what that takes.
"""

import hashlib
import sys

import elastic
import numpy
from mpi4py import MPI

SIZE, STEPS = (int(given or default) for given, default in zip((sys.argv[1:] + ["", ""])[:2], (512, 200)))

comm = MPI.COMM_WORLD
rank, processes = comm.Get_rank(), comm.Get_size()
e = elastic.Session(comm)
up = rank - 1 if rank > 0 else MPI.PROC_NULL
down = rank + 1 if rank + 1 < processes else MPI.PROC_NULL


def relax(u):
    """One step."""
    near = numpy.zeros((len(u) + 2, SIZE))  # the block with a row of each neighbour around it
    near[1:-1] = u
    comm.Sendrecv(u[0], up, recvbuf=near[-1], source=down)
    comm.Sendrecv(u[-1], down, recvbuf=near[0], source=up)
    inner = slice(0 if rank > 0 else 1, len(u) if rank + 1 < processes else -1)
    mean = 0.2 * (u[:, 1:-1] + u[:, :-2] + u[:, 2:] + near[:-2, 1:-1] + near[2:, 1:-1])
    u[inner, 1:-1] = mean[inner]


u = e.array("u", (SIZE, SIZE))
if rank == 0:
    u[0] = numpy.arange(SIZE) / SIZE  # the hot edge
for step in e.steps("step", STEPS):
    relax(u)

rows = comm.gather(u.tobytes())
if rank == 0:
    print(f"heat: {STEPS} steps: field {hashlib.sha1(b''.join(rows)).hexdigest()}")
e.close()
