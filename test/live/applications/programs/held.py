#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a program with elastic.Session.steps so that a test can resize it as it likes: after half of the steps it waits,
resized all the same, until there is a file.

    held.py PROGRAM ARGUMENTS... FILE
"""

import os
import runpy
import sys
import time

import elastic
from mpi4py import MPI

path = sys.argv.pop()
steps = elastic.Session.steps


def held_steps(session, name, count):
    begins = True
    for step in steps(session, name, count):
        if begins and MPI.COMM_WORLD.Get_rank() == 0:
            print(f"heat: step {step}, {MPI.COMM_WORLD.Get_size()} processes", flush=True)
        begins = False
        while step == count // 2 and not MPI.COMM_WORLD.bcast(os.path.exists(path)):
            time.sleep(0.001)
            session.sync()
        yield step


elastic.Session.steps = held_steps
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
