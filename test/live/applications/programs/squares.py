# SPDX-License-Identifier: MIT
"""A Dask client: squares 80 numbers, the last 40 once the file go is there, and ends the scheduler and its workers."""

import os
import time

from distributed import Client


def square(number):
    while number >= 40 and not os.path.exists("go"):
        time.sleep(0.05)
    return number * number


client = Client(scheduler_file="scheduler.json")
print("sum", sum(client.gather(client.map(square, range(80)))), flush=True)
client.shutdown()
