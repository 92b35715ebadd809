# SPDX-License-Identifier: MIT
"""Codes that sites have, as Debian has them, by the profiles of selastic-run: each is resized once in its midst.

What they compute is small, and is compared with the same without a resize, which one process has computed: a molecule
of hydrogen or of water, so that each step takes a moment.
"""

import re
import shutil
import subprocess

import pytest
from unchanged_programs import Run, has_signal, skip_without


@pytest.fixture
def alone(folder):
    """What a command prints that is run without Slurm in a folder of its own, beside the other."""
    place = folder / "alone"
    shutil.copytree(folder / "codes", place)

    def run(*command):
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, timeout=1800)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr
        return done.stdout
    return run


def started(cluster, folder, nodes, profile, program, before=":"):
    # Debian's NWChem does not start on two nodes with Open MPI's default for one-sided communication.
    return Run(cluster, folder, nodes, f"""
cd codes
export OMPI_MCA_osc=^rdma OMPI_MCA_mpi_yield_when_idle=1
{before}
selastic-run --as {profile} --srun=--mpi=pmix {program}""")


def is_there(path):
    """For codes that a file stops."""
    return lambda process: path.exists()


def resized_lines(output):
    return re.findall(r"^selastic-run: resize 1: (\d -> \d) nodes", output, re.M)


def test_quantum_espresso(cluster, folder, alone):
    skip_without("pw.x", "quantum-espresso")
    codes = folder / "codes"
    first = (codes / "pw.in").read_text()
    (codes / "restart.in").write_text(first.replace("from_scratch", "restart"))

    def energies(output):
        return [float(energy) for energy in re.findall(r"^!\s+total energy\s+=\s+(\S+) Ry", output, re.M)]
    run = started(cluster, folder, 2, "quantum-espresso", "pw.x -in pw.in")
    run.wait(lambda: len(energies(run.output())) >= 2, "it has computed two steps")
    run.held("pw.x").resize(1, is_there(codes / "pwscf.EXIT"))
    output = run.finish()
    assert resized_lines(output) == ["2 -> 1"], output
    start, again = (energies(part) for part in output.split("Program PWSCF")[1:])
    expected = energies(alone("pw.x", "-in", "pw.in"))
    # Each start does as many steps as the input says, and the second may repeat the last that has not moved the atoms.
    if again[0] == pytest.approx(start[-1], abs=1e-6):
        del start[-1]
    assert 0 < len(start) < len(expected) == len(again) == 24
    assert (start + again)[:24] == pytest.approx(expected, abs=1e-5)


def test_abinit(cluster, folder, alone):
    skip_without("abinit", "abinit")

    def energies(text):
        return [float(energy) for energy in re.findall(r"Total energy \(etotal\) \[Ha\]=\s+(\S+)", text)]

    run = started(cluster, folder, 1, "abinit", "abinit run.abi")
    run.wait(lambda: len(energies(run.output())) >= 2, "it has computed two steps")
    run.held("abinit").resize(2, has_signal)
    output = run.finish()
    assert resized_lines(output) == ["1 -> 2"], output
    expected = energies(alone("abinit", "run.abi"))
    # The second start repeats the history, and does as many steps as the input says.
    again = energies(run.read("codes/run.abo"))
    assert len(expected) == 12 and again[:12] == pytest.approx(expected, abs=1e-5)
    assert len(again) > 12


def test_nwchem(cluster, folder, alone):
    skip_without("nwchem", "nwchem")
    codes = folder / "codes"
    first = (codes / "water.nw").read_text()
    (codes / "restart.nw").write_text("restart water\n" + first[first.index("driver"):])

    def energies(output):
        return [float(energy) for energy in re.findall(r"^@ +\d+ +(-\d+\.\d+) ", output, re.M)]
    run = started(cluster, folder, 1, "nwchem", "nwchem water.nw")
    run.wait(lambda: len(energies(run.output())) >= 2, "it has computed two steps")
    run.held("nwchem").resize(2, has_signal)
    output = run.finish()
    assert resized_lines(output) == ["1 -> 2"], output
    start, again = (energies(part) for part in output.split("argument  1 = restart.nw", 1))
    assert again[0] < start[0], (start, again)  # it goes on at a later geometry
    assert again[-1] == pytest.approx(energies(alone("nwchem", "water.nw"))[-1], abs=1e-6)


def test_hpcc(cluster, folder, alone):
    skip_without("hpcc", "hpcc")

    def residuals(place):
        return re.findall(r"^\|\|Ax-b\|\|.*= +(\S+) \.+ (PASSED|FAILED)", (place / "hpccoutf.txt").read_text(), re.M)
    run = started(cluster, folder, 2, "hpcc", "hpcc")
    run.wait(lambda: "Begin of" in run.read("codes/hpccoutf.txt"), "it computes")
    run.held("hpcc").resize(1, has_signal)
    output = run.finish()
    assert resized_lines(output) == ["2 -> 1"], output
    alone("hpcc")
    found = residuals(folder / "codes")
    assert found and found == residuals(folder / "alone"), found


def test_cp2k(cluster, folder, alone):
    skip_without("cp2k.psmp", "cp2k")

    def energies(text):
        return {int(row[0]): float(row[4]) for row in map(str.split, text.splitlines()) if row[0] != "#"}
    run = started(cluster, folder, 2, "cp2k --checkpoint-file h2-1.restart", "cp2k.psmp -i h2.inp")
    run.wait(lambda: "\n         2 " in run.read("codes/h2-1.ener"), "it has computed two steps")
    before = max(energies(run.read("codes/h2-1.ener")))
    run.held("cp2k.psmp").resize(1, is_there(folder / "codes/EXIT"))
    output = run.finish()
    assert resized_lines(output) == ["2 -> 1"], output
    alone("cp2k.psmp", "-i", "h2.inp")
    expected = energies(run.read("alone/h2-1.ener"))
    assert before < max(expected) and energies(run.read("codes/h2-1.ener")) == pytest.approx(expected, abs=1e-5)


def test_openfoam(cluster, folder, alone):
    skip_without("icoFoam", "openfoam")

    def courant_numbers(output):
        return dict(re.findall(r"^Time = (\S+)\n\nCourant Number mean: (\S+)", output, re.M))
    run = started(cluster, folder, 1, "openfoam --srun=--kill-on-bad-exit", "sh solve.sh icoFoam",
                  "cd cavity; export WM_PROJECT_DIR=/usr/share/openfoam; blockMesh")
    run.wait(lambda: len(courant_numbers(run.output())) >= 20, "it has computed some steps")
    before = len(courant_numbers(run.output()))
    run.held("icoFoam").resize(2, has_signal)
    output = run.finish()
    assert resized_lines(output) == ["1 -> 2"] and "nProcs : 2" in output, output
    expected = courant_numbers(alone("sh", "-c", "cd cavity; export WM_PROJECT_DIR=/usr/share/openfoam; "
                                     "blockMesh && icoFoam"))
    found = courant_numbers(output)
    assert before < len(expected) == 1000 and found.keys() == expected.keys()
    assert all(abs(float(found[time]) - float(expected[time])) < 1e-6 for time in found)
