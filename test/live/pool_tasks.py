# SPDX-License-Identifier: MIT
"""Tasks of elastic.pool that a test holds: each says that it begins, and ends when there is a file.

    pool_tasks.py FOLDER TASKS
"""

import os
import pathlib
import sys
import time

import elastic.pool


def square(folder, number):
    with open(folder / "begun", "a", encoding="ascii") as file:
        file.write(f"{number} {os.environ['SLURMD_NODENAME']}\n")
    while not (folder / "go").exists():
        time.sleep(0.02)
    return number * number


def main():
    folder, tasks = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    with elastic.pool.Pool() as pool:
        results = [pool.submit(square, folder, number) for number in range(tasks)]
        squares = [result.result() for result in results]
        print("nodes at the end", *pool.nodes)
    print("correct" if squares == [number * number for number in range(tasks)] else f"WRONG: {squares}")


if __name__ == "__main__":
    main()
