"""What all tests of the command line share: running the program in a folder of its own, and judging what it said."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])


class Program(unittest.TestCase):
    variables = {"TRILOBITE_STORE": "none"}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def environment(self, more=None):
        return {**os.environ, "XDG_CACHE_HOME": str(self.path / "cache"), **self.variables, **(more or {})}

    def run_program(self, *words, code=0, env=None):
        done = subprocess.run([PROGRAM, *map(str, words)], cwd=self.path, env=self.environment(env), capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def start_program(self, *words):
        process = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.path, env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        return process

    def write(self, name, text):
        (self.path / name).write_text(text, newline="")
        return name

    def assert_one_sentence(self, done, *parts):
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("trilobite: "), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def files(self):
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file())
