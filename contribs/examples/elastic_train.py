#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program as torchrun has them, which learns the coefficients of a polynomial in any number of processes: it begins
with its last checkpoint, and saves one after each epoch.

    python3 -m elastic.torch elastic_train.py [EPOCHS]
"""

import os
import sys
import time

import torch
import torch.distributed as dist

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
CHECKPOINT = "train.pt"
TRUTH = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    x = torch.linspace(-1, 1, 1200, dtype=torch.float64)[rank::size]  # the part of the data that is this process's
    powers = torch.stack([x ** i for i in range(4)], dim=1)
    weights, epoch = torch.zeros(4, dtype=torch.float64), 0
    if os.path.exists(CHECKPOINT):
        weights, epoch = torch.load(CHECKPOINT)
    if rank == 0:
        print(f"train: from epoch {epoch}, {size} processes", flush=True)
    while epoch < EPOCHS:
        error = powers @ weights - powers @ TRUTH
        gradient = powers.T @ error
        dist.all_reduce(gradient)
        weights, epoch = weights - gradient / 1200, epoch + 1
        time.sleep(0.1)  # stands for more work
        if rank == 0:
            torch.save((weights, epoch), CHECKPOINT + ".new")
            os.replace(CHECKPOINT + ".new", CHECKPOINT)
    if rank == 0:
        print(f"train: {EPOCHS} epochs: " + " ".join(f"{weight:.4f}" for weight in weights.tolist()), flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
