#!/usr/bin/env python3
"""The workflows under .github/workflows as far as they can be checked offline: YAML, structure, scripts, schedule, inputs.
Usage: workflow_test.py SOURCE_DIR"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    print("SKIPPED: python3-yaml is not installed for", sys.executable)
    sys.exit(77)

SOURCE = pathlib.Path(sys.argv[1])
FILES = sorted((SOURCE / ".github/workflows").glob("*.y*ml"))
EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.S)
# What somebody else can write: a title, a branch name, a comment. In a script it would be run.
FOREIGN = re.compile(r"\$\{\{[^}]*github\.(event|head_ref|ref_name|base_ref)|\$\{\{[^}]*inputs\.")


def load(path):
    return yaml.safe_load(path.read_text())


def triggers(workflow):
    return workflow[True]  # YAML 1.1 reads the key `on` as true


def steps():
    for path in FILES:
        for name, job in load(path)["jobs"].items():
            for step in job["steps"]:
                yield f"{path.name} {name}: {step.get('name', step.get('uses', '?'))}", step


class Workflows(unittest.TestCase):
    def test_there_are_some_and_each_has_what_a_workflow_needs(self):
        self.assertEqual([path.name for path in FILES], ["performance.yml", "test.yml"])
        for path in FILES:
            workflow = load(path)
            self.assertTrue(workflow["name"] and triggers(workflow) and workflow["jobs"], path)
            self.assertEqual(workflow["permissions"], {"contents": "read"}, path)
            for name, job in workflow["jobs"].items():
                self.assertIn("runs-on", job, name)
                self.assertIn("timeout-minutes", job, name)
                self.assertTrue(job["steps"], name)
                for needed in [job.get("needs", [])] if isinstance(job.get("needs"), str) else job.get("needs", []):
                    self.assertIn(needed, workflow["jobs"])

    def test_every_step_runs_or_uses_something_pinned(self):
        for where, step in steps():
            self.assertNotEqual("uses" in step, "run" in step, where)
            if "uses" in step:
                self.assertRegex(step["uses"], r"^actions/[a-z-]+@v\d+$", where)

    def test_scripts_are_sound_and_hold_no_foreign_text(self):
        for where, step in steps():
            if "run" not in step:
                continue
            self.assertIsNone(FOREIGN.search(step["run"]), where + ": comes through env instead")
            script = EXPRESSION.sub("expression", step["run"])
            checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, where + ": " + checked.stderr)

    def test_artifacts_are_kept_for_90_days(self):
        uploads = [(where, step) for where, step in steps() if step.get("uses", "").startswith("actions/upload-artifact@")]
        self.assertGreaterEqual(len(uploads), 2)
        for where, step in uploads:
            self.assertEqual(step["with"]["retention-days"], 90, where)

    def test_triggers_schedule_and_inputs(self):
        on = triggers(load(SOURCE / ".github/workflows/performance.yml"))
        self.assertEqual(set(on), {"push", "pull_request", "schedule", "workflow_dispatch"})
        self.assertEqual(on["schedule"], [{"cron": "0 4 * * *"}])
        inputs = on["workflow_dispatch"]["inputs"]
        self.assertEqual(set(inputs), {"update_baselines", "platform_filter"})
        self.assertEqual(inputs["update_baselines"]["type"], "boolean")
        self.assertEqual((inputs["platform_filter"]["type"], inputs["platform_filter"]["options"]),
                         ("choice", ["all", "linux", "macos"]))
        for path in FILES:
            self.assertLessEqual({"push", "pull_request"}, set(triggers(load(path))), path)

    def test_secrets_come_from_the_environment_only(self):
        for where, step in steps():
            self.assertNotIn("github.token", step.get("run", ""), where)
            self.assertNotIn("secrets.", step.get("run", ""), where)

    def test_the_options_of_ci_that_are_used_exist(self):
        known = (SOURCE / "src/cli/ci.cpp").read_text()
        used = set()
        for _, step in steps():
            for command in re.findall(r"trilobite ci (.*?)(?:\n\S|\n\n|\Z)", step.get("run", ""), re.S):
                used |= set(re.findall(r"--[a-z-]+", command))
        self.assertIn("--base", used)
        for option in used:
            self.assertIn(f'"{option}"', known)

    def test_actionlint_agrees(self):
        if not shutil.which("actionlint"):
            self.skipTest("actionlint is not installed")
        checked = subprocess.run(["actionlint", *map(str, FILES)], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--verbose"])
