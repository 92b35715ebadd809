#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package outside a job; inside one it is what test/live's applications are made of."""

import difflib
import doctest
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("srcdir", pathlib.Path(__file__).parent.parent.parent))
sys.path.insert(0, str(SOURCE / "src/runtime/python"))
sys.dont_write_bytecode = True
for variable in ("SLURM_JOB_ID", "SLURM_STEP_NUM_TASKS", "ELASTIC_RUN"):
    os.environ.pop(variable, None)

import elastic  # noqa: E402


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
        return "" if elastic.Session else ""
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


if __name__ == "__main__":
    unittest.main()
