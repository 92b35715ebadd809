#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package outside a job; inside one it is what test/live's applications are made of."""

import difflib
import doctest
import json
import os
import pathlib
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("srcdir", pathlib.Path(__file__).parent.parent.parent))
sys.path.insert(0, str(SOURCE / "src/runtime/python"))
sys.dont_write_bytecode = True
for variable in ("SLURM_JOB_ID", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_STEP_NUM_TASKS", "ELASTIC_RUN"):
    os.environ.pop(variable, None)

import elastic  # noqa: E402
import elastic.pool  # noqa: E402


class OutsideAJob(unittest.TestCase):
    def test_everything_is_harmless(self):
        with elastic.Job() as job:
            self.assertFalse(job.is_elastic or job.malleable or job.evolving or job.connected)
            self.assertEqual((job.nodes, job.min, job.max, job.node_list), (1, 1, 1, ""))
            self.assertEqual((job.sizes, job.allows(5)), ("", True))
            self.assertGreaterEqual(job.fileno(), 0)
            self.assertIsNone(job.poll())
            self.assertIsNone(job.poll(0.01))
            self.assertEqual(list(job.events()), [])
            job.accept(1)
            job.accept(1, 2)
            job.decline(1, "why")
            job.done(1)
            job.request(2, least=1)
            job.release(1)
            job.release("n1")
            job.cancel()
            job.step()
            job.progress(10)

    def test_waiting_for_ever_is_refused(self):
        with elastic.Job() as job, self.assertRaises(elastic.Error):
            job.poll(None)

    def test_a_closed_job_is_closed(self):
        job = elastic.Job()
        job.close()
        job.close()
        with self.assertRaises(elastic.Error):
            job.poll()


def without_session():
    """Why there is no elastic.Session here, or nothing."""
    try:
        elastic.Session().close()
        return ""
    except (ImportError, OSError) as why:
        return str(why)


class Sessions(unittest.TestCase):
    """As a world of one process; test/live resizes larger ones."""

    def setUp(self):
        if without_session():
            self.skipTest(without_session())
        import numpy
        self.numpy = numpy

    def test_arrays(self):
        with elastic.Session() as e:
            u = e.array("u", 1000)
            rows = e.array("rows", (10, 3), self.numpy.int32)
            self.assertEqual((u.lo, u.hi, u.shape, u.dtype), (0, 1000, (1000,), self.numpy.float64))
            self.assertEqual((rows.lo, rows.hi, rows.shape, rows.dtype), (0, 10, (10, 3), self.numpy.int32))
            self.assertEqual((u[1:].lo, (u + 1).hi), (None, None))
            self.assertFalse(u.any() or rows.any() or e.reborn or e.detail)
            u[999] = 7
            self.assertEqual(e.array("u", 1000)[999], 7)
        self.assertEqual(u.sum(), 7)  # is there still

    def test_values(self):
        with elastic.Session() as e:
            step, vector = e.value("step", 3), e.value("vector", self.numpy.zeros(2))
            step.value += 1
            vector.value = [1, 2]
            self.assertEqual((step.value, repr(step), vector.value.tolist()), (4, "Value(4)", [1, 2]))
            self.assertEqual(list(e.steps("other", 3)), [0, 1, 2])
            self.assertEqual(list(e.steps("other", 0)), [])

    def test_what_is_refused(self):
        with elastic.Session() as e:
            e.array("u", 10)
            for call in (lambda: e.array("u", 11), lambda: e.array("n", -7), lambda: e.array("n", 0),
                         lambda: e.array("", 1), lambda: e.array("o", 1, object), lambda: e.value("o", object()),
                         lambda: e.value("large", self.numpy.zeros(1 << 20))):
                with self.assertRaises(elastic.MpiError) as refused:
                    call()
                self.assertEqual(refused.exception.code, -1)
                self.assertTrue(str(refused.exception))
        with self.assertRaisesRegex(elastic.MpiError, "the session is closed"):
            e.sync()
        e.close()


class Examples(unittest.TestCase):
    def test_a_stencil_is_elastic_by_five_lines(self):
        plain, resized = ((SOURCE / "contribs/examples" / name).read_text().splitlines()
                          for name in ("heat.py", "elastic_heat.py"))
        more = [line for line in difflib.ndiff(plain, resized) if line.startswith("+")]
        self.assertTrue(0 < len(more) <= 5, more)


def square(number):
    return number * number


def fail(text):
    raise ValueError(text)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Unsendable(Exception):
    def __init__(self, one, two):
        super().__init__(one)


def fail_unsendably():
    raise Unsendable(1, 2)


class Pools(unittest.TestCase):
    """As outside a job, with workers on this machine; test/live has those of jobs."""

    def test_results_and_errors(self):
        with elastic.pool.Pool(2) as pool:
            self.assertEqual(list(pool.map(square, range(50))), [n * n for n in range(50)])
            with self.assertRaisesRegex(ValueError, "^why$") as raised:
                pool.submit(fail, "why").result()
            self.assertIn("in fail\n", str(raised.exception.__cause__))
            with self.assertRaisesRegex(RuntimeError, "Unsendable"):
                pool.submit(fail_unsendably).result()
            with self.assertRaises((pickle.PicklingError, AttributeError)):
                pool.submit(lambda: 1)
            self.assertEqual(pool.nodes, [""])
        with self.assertRaisesRegex(RuntimeError, "after shutdown"):
            pool.submit(square, 1)
        pool.shutdown()

    def test_a_task_that_ends_its_workers_is_given_up_and_others_are_not(self):
        with elastic.pool.Pool(1) as pool:
            deadly, other = pool.submit(die), pool.submit(square, 3)
            self.assertEqual(other.result(), 9)
            with self.assertRaisesRegex(elastic.pool.WorkerDied, "has ended 3 workers"):
                deadly.result()

    def test_what_has_not_begun_can_be_cancelled(self):
        pool = elastic.pool.Pool(1)
        held = [pool.submit(time.sleep, 0.05) for _ in range(20)]
        pool.shutdown(cancel_futures=True)
        self.assertTrue(held[-1].cancelled())
        self.assertTrue(all(one.done() for one in held))

    def test_strangers_do_not_matter(self):
        with elastic.pool.Pool(1) as pool:
            port = pool._listener.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port)) as silent, \
                    socket.create_connection(("127.0.0.1", port)) as loud:
                loud.sendall(b"GET / HTTP/1.0\r\n\r\n" + bytes(1000))
                self.assertEqual(pool.submit(square, 4).result(), 16)
                self.assertEqual(pool.workers, 1)
                silent.shutdown(socket.SHUT_RDWR)

    def test_a_program_that_does_not_look_whether_it_is_a_worker(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
            program.write("import elastic.pool\npool = elastic.pool.Pool(1)\npool.submit(len, '').result()\n")
            program.flush()
            done = subprocess.run([sys.executable, "-B", program.name], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": str(SOURCE / "src/runtime/python")})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("RuntimeError: the program makes a pool when a worker imports it", done.stderr)


class Helpers(unittest.TestCase):
    def test_node_names(self):
        self.assertEqual(elastic.node_names("n[08-10],login"), ["n08", "n09", "n10", "login"])
        self.assertEqual(elastic.node_names(""), [])
        with self.assertRaisesRegex(elastic.Error, r"not a node list: n\["):
            elastic.node_names("n[")

    def test_the_version(self):
        self.assertRegex(elastic.version(), r"^\d+\.\d+\.\d+$")

    def test_docstrings(self):
        self.assertEqual(doctest.testmod(elastic).failed, 0)

    def test_all_names_are_shown_and_none_of_others(self):
        self.assertEqual(dir(elastic), sorted(elastic.__all__))
        self.assertIn("Session", elastic.__all__)
        names = {}
        exec("from elastic import *", names)  # which starts no MPI
        self.assertEqual(set(names) - {"__builtins__"}, set(elastic.__all__))
        self.assertNotIn("mpi4py", sys.modules)

    def test_everything_is_described(self):
        for owner in (elastic.Job, elastic.Session, elastic.pool.Pool, elastic):
            for name in dir(owner):
                if not name.startswith("_"):
                    self.assertTrue(getattr(owner, name).__doc__, f"{owner.__name__}.{name}")


class WhatIsSeen(unittest.TestCase):
    """python3 -m elastic, with what a selastic prints that is made up; test/live has a real one."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_with(self, *arguments, job="7", selastic=None):
        if selastic:
            path = pathlib.Path(self.folder.name, "selastic")
            path.write_text(f"#!/bin/sh\n{selastic}\n")
            path.chmod(0o755)
        env = {**os.environ, "PATH": self.folder.name, "PYTHONPATH": str(SOURCE / "src/runtime/python"),
               "SLURM_JOB_ID": job, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, "-m", "elastic", *arguments], env=env, capture_output=True, text=True,
                              check=False)

    def test_outside_a_job(self):
        done = self.run_with(job="")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^libelastic   \d.*\njob          none: ")
        self.assertEqual(json.loads(self.run_with("--json", job="").stdout),
                         {"version": elastic.version(), "elastic": False})

    def test_without_a_controller(self):
        done = self.run_with()
        self.assertEqual(done.returncode, 1)
        self.assertIn("controller   does not answer: there is no selastic in PATH\n", done.stdout)
        done = self.run_with(selastic="echo 'selastic: error: job 7 is not known' >&2; exit 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("controller   answers: job 7 is not known\n", done.stdout)

    def test_what_was_asked_last(self):
        job = {"job": 7, "class": "malleable", "state": "RUNNING", "nodes": 2, "node_list": "n[1-2]", "min": 1,
               "max": 4, "connected": True, "resizes": 1, "history": [
                   {"time": 1.0, "event": "offer", "op": 3, "kind": "shrink", "count": 2, "reason": "job 8"},
                   {"time": 2.0, "event": "accept", "op": 3}, {"time": 3.0, "event": "resize", "op": 3},
                   {"time": 4.0, "event": "request", "op": 4, "want": 5}, {"time": 5.0, "event": "deny", "op": 4}]}
        said = f"echo '{json.dumps({'job': job})}'"
        seen = json.loads(self.run_with("--json", selastic=said).stdout)
        self.assertEqual((seen["nodes"], seen["min"], seen["max"], seen["reachable"], seen["connected"]),
                         (2, 1, 4, True, True))
        self.assertEqual(seen["asked"], {"time": 4.0, "who": "job", "kind": "expand", "count": 5, "reason": "",
                                         "answer": "deny"})
        del job["history"][3:]
        done = self.run_with(selastic=f"echo '{json.dumps({'job': job})}'")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("size         2 n[1-2]\nmin, max     1, 4\ntakes part   yes\n", done.stdout)
        self.assertIn("the controller asked it to give up 2 node(s) (job 8): resize\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
