# SPDX-License-Identifier: MIT
"""An ordinary torchrun script: it loads its checkpoint if there is one, and saves one after each step.

What it learns is exact in any number of processes, since all numbers are whole.  It goes beyond step 100 in three
processes only, and beyond step 200 in two.
"""

import os
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
data = torch.arange(256, dtype=torch.float64).reshape(64, 4) % 7
weights, step = torch.zeros(4, dtype=torch.float64), 0
if os.path.exists("checkpoint"):
    loaded = torch.load("checkpoint")
    weights, step = loaded["weights"], loaded["step"]
while step < 300:
    gradient = (data[rank::size] * (step % 5 + 1)).sum(0)
    dist.all_reduce(gradient)
    weights, step = (weights * 3 + gradient) % 100003, step + 1
    if rank == 0:
        torch.save({"weights": weights, "step": step}, "checkpoint.new")
        os.rename("checkpoint.new", "checkpoint")
        with open("steps", "a", encoding="ascii") as file:
            file.write(f"{step} of {size}\n")
    dist.barrier()
    while (step, size) in ((100, 1), (200, 3)):
        dist.barrier()  # which fails when one of them leaves
        time.sleep(0.05)
if rank == 0:
    with open("result", "w", encoding="ascii") as file:
        file.write(repr(weights.tolist()))
dist.barrier()
