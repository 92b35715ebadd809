# SPDX-License-Identifier: MIT
"""A worker of elastic.dask: Dask's own, named as its node.

    python3 -m elastic._dask_worker PORT [OPTIONS of dask worker]...

The scheduler is where srun was called, which Slurm says to each task.
"""

import os
import sys

from distributed.cli.dask_worker import main

if __name__ == "__main__":
    port, *options = sys.argv[1:]
    host = os.environ["SLURM_LAUNCH_NODE_IPADDR"]
    address = f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"
    sys.argv[1:] = [address, "--name", os.environ["SLURMD_NODENAME"], *options]
    sys.exit(main())
