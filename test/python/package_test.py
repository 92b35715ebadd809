#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package outside a job; inside one it is what test/live's applications are made of."""

import doctest
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("srcdir", pathlib.Path(__file__).parent.parent.parent))
sys.path.insert(0, str(SOURCE / "src/runtime/python"))
sys.dont_write_bytecode = True
os.environ.pop("SLURM_JOB_ID", None)

import elastic  # noqa: E402


class OutsideAJob(unittest.TestCase):
    def test_everything_is_harmless(self):
        with elastic.Job() as job:
            self.assertFalse(job.is_elastic or job.malleable or job.evolving or job.connected)
            self.assertEqual((job.nodes, job.min, job.max, job.node_list), (1, 1, 1, ""))
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
