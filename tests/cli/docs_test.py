#!/usr/bin/env python3
"""Every command and option of ours that docs/coming-from.md and docs/continuous-integration.md name exists.
Usage: docs_test.py TRILOBITE SOURCE_DIR"""
import re
import unittest

from program import SOURCE, Program


def named_commands():
    """(command, options) of every `trilobite ...` in the right column, or in any code of the other page."""
    table = "\n".join(line.split(" | ", 1)[1] for line in (SOURCE / "docs/coming-from.md").read_text().splitlines()
                      if line.startswith("|") and " | " in line)
    page = (SOURCE / "docs/continuous-integration.md").read_text()
    for text in re.findall(r"`trilobite ([^`]+)`", table + page) + re.findall(r"^trilobite ([^#\n]+)", page, re.M):
        words = text.split()
        if words[0] == "baseline" and len(words) > 1:
            words[:2] = ["baseline " + words[1]]
        yield words[0], re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(words[1:]))


class Documents(Program):
    def test_what_they_name_exists(self):
        helps = {}
        for command, options in named_commands():
            if command not in helps:
                helps[command] = self.run_program(*command.split(), "--help").stdout
            for option in options:
                self.assertRegex(helps[command], rf"(?<![\w-]){option}(?![\w-])", command)
        self.assertGreater(len(helps), 12)

    def test_suites_of_other_tools_are_known(self):
        text = (SOURCE / "docs/coming-from.md").read_text()
        suites = set(re.findall(r"--suite ([a-z_]+)`", text)) - {"all"}
        self.assertIn("comprehensive_performance_comparison", suites)
        for suite in suites:
            self.assertTrue(self.run_program("bench", "--suite", suite, "--list").stdout, suite)


if __name__ == "__main__":
    unittest.main(argv=["docs_test.py", "--verbose"])
