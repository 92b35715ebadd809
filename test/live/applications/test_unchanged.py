# SPDX-License-Identifier: MIT
"""Programs that know nothing of resizes, as Debian has them: GROMACS, LAMMPS, torchrun and Dask under selastic-run.

Each shows that it goes on where it was: GROMACS and LAMMPS by what they write of their steps and energies, the others
by an exact result.
"""

import importlib.metadata
import importlib.util
import re
import subprocess

import pytest
from unchanged_programs import Run, skip_without


@pytest.fixture
def water(folder):
    """A box of water for GROMACS."""
    skip_without("gmx", "gromacs")
    skip_without("gmx_mpi", "gromacs for MPI")

    def gmx(*arguments):
        done = subprocess.run(["gmx", "-quiet", *arguments], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    (folder / "topol.top").write_text('#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spce.itp"\n'
                                      "[ system ]\nwater\n[ molecules ]\n")
    gmx("solvate", "-cs", "spc216", "-box", "2.2", "2.2", "2.2", "-o", "conf.gro", "-p", "topol.top")
    gmx("grompp", "-f", "water.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "topol.tpr", "-maxwarn", "1")


@pytest.mark.usefixtures("water")
def test_gromacs(cluster, folder):
    run = Run(cluster, folder, 2, "selastic-run --as gromacs --srun=--mpi=pmix gmx_mpi -quiet mdrun -ntomp 1 "
              "-deffnm md -s topol.tpr -cpo state.cpt")

    def computes(processes, starts):
        begun = re.findall(r"^Using (\d+) MPI process", run.output(), re.M)
        return len(begun) == starts and begun[-1] == str(processes) and \
            run.read("md.log").count("Started mdrun") == starts
    for starts, nodes in enumerate((2, 4, 1), 1):
        if starts > 1:
            run.resize(nodes)
        run.wait(lambda: computes(nodes, starts), f"it computes on {nodes} nodes")
    output = run.finish()
    seams = [int(step) for step in re.findall(r"continuing from step (\d+)", output)]
    assert len(seams) == 2 and 0 < seams[0] < seams[1] < 20000, output
    assert "Writing checkpoint, step 20000" in run.read("md.log") or "Finished mdrun" in run.read("md.log")
    conserved = [float(line) for line in re.findall(r"Conserved En\.[^\n]*\n\s+(\S+)", run.read("md.log"))]
    assert max(conserved) - min(conserved) < 0.1 * abs(conserved[0]), conserved


def test_lammps(cluster, folder):
    skip_without("lmp", "lammps")
    run = Run(cluster, folder, 2, "selastic-run --as lammps --srun=--mpi=pmix lmp -in melt.in -var steps 30000")

    def grids():
        return re.findall(r"^  (\d+) by (\d+) by (\d+) MPI processor grid", run.read("melt.log"), re.M)

    def computes(processes, starts):
        sizes = [int(x) * int(y) * int(z) for x, y, z in grids()]
        latest = run.read("melt.log").split("processor grid")[-1]
        return len(sizes) == starts and sizes[-1] == processes and "Step" in latest

    for starts, nodes in enumerate((2, 4, 1), 1):
        if starts > 1:
            run.resize(nodes)
        run.wait(lambda: computes(nodes, starts), f"it computes on {nodes} nodes")
    run.finish()
    output = run.read("melt.log")
    rows = [(int(row[0]), float(row[4])) for row in map(str.split, output.splitlines())
            if len(row) == 6 and row[0].isdigit()]
    steps, energies = zip(*rows)
    seams = [i for i in range(1, len(rows)) if steps[i] == steps[i - 1]]
    assert steps[-1] == 30000 and list(steps) == sorted(steps) and len(seams) >= 2, output
    assert all(abs(energies[i] - energies[i - 1]) < 1e-9 for i in seams), [rows[i - 1:i + 1] for i in seams]
    assert max(energies) - min(energies) < 0.1 * abs(energies[0]), (min(energies), max(energies))


def skip_without_stores():
    """The default way of torchrun and of its workers to meet, which none of them can be told to do without."""
    store = "from torch.distributed import TCPStore; TCPStore('127.0.0.1', 0, is_master=True, wait_for_workers=False)"
    done = subprocess.run(["/usr/bin/python3", "-c", store], capture_output=True, text=True, check=False)
    if "without libuv" in done.stderr:
        version = importlib.metadata.version("torch")
        pytest.skip(f"Debian's PyTorch {version} is built without libuv, which torchrun wants since 2.4")
    assert done.returncode == 0, done.stderr


def test_torchrun(cluster, folder):
    skip_without("torchrun", "python3-torch")
    skip_without_stores()
    run = Run(cluster, folder, 1, "selastic-run --workers torchrun -r 1 -t 1 --nnodes=1:4 --nproc_per_node=1 "
              "--rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d --rdzv_endpoint=127.0.0.1:$((20000 + SLURM_JOB_ID % 9000)) "
              "--max_restarts=20 train.py")
    run.wait(lambda: "100 of 1" in run.read("steps"), "it has learned 100 steps")
    run.resize(3)
    run.wait(lambda: re.search("^200 of 3$", run.read("steps"), re.M), "it has learned 200 steps, the last on 3 nodes")
    run.resize(2)
    run.finish()
    assert run.read("steps").splitlines()[-1] == "300 of 2", run.output()
    weights = [0] * 4
    for step in range(300):
        gradient = [sum((row * 4 + i) % 7 for row in range(64)) * (step % 5 + 1) for i in range(4)]
        weights = [(w * 3 + g) % 100003 for w, g in zip(weights, gradient)]
    assert run.read("result") == repr([float(w) for w in weights])


def test_dask(cluster, folder):
    if not importlib.util.find_spec("distributed"):
        pytest.skip("there is no python3-distributed: contribs/install-deps --applications")
    run = Run(cluster, folder, 1, """
dask scheduler --host 127.0.0.1 --port 0 --scheduler-file scheduler.json --no-dashboard >scheduler.log 2>&1 &
until [ -s scheduler.json ]; do sleep 0.1; done
selastic-run --workers dask worker --host 127.0.0.1 --scheduler-file scheduler.json --nthreads 1 --no-nanny \\
    --no-dashboard >workers.log 2>&1 &
/usr/bin/python3 squares.py
wait $!""")

    def registered():
        return run.read("scheduler.log").count("Register worker") - run.read("scheduler.log").count("Remove worker")
    run.wait(lambda: registered() == 1, "one worker works")
    run.resize(4)
    run.wait(lambda: registered() == 4, "four workers work")
    run.resize(2)
    run.wait(lambda: registered() == 2, "two workers work")
    (folder / "go").touch()
    assert f"sum {sum(i * i for i in range(80))}" in run.finish(), run.output()
