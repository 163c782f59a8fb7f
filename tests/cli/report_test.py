#!/usr/bin/env python3
"""`trilobite report` as a user meets it. Usage: report_test.py TRILOBITE SOURCE_DIR"""
import csv
import io
import json
import sys
import unittest
import xml.etree.ElementTree

from program import Program

QUICK = ["--measurement-time", "5ms", "--warm-up-time", "1ms", "--rounds", "2", "--sample-size", "8", "--no-limits"]


class Report(Program):
    def setUp(self):
        super().setUp()
        self.run_program("bench", "harness/(empty|clock)", *QUICK, "--output", "r.json")

    def report(self, *words, **more):
        return self.run_program("report", "--input", "r.json", *words, **more)

    def test_the_ending_of_the_file_says_the_format(self):
        medians = [b["statistics_ns"]["median"] for b in json.loads((self.path / "r.json").read_text())["benchmarks"]]
        for name in ["r.html", "r.md", "r.csv", "r.xml", "r.prom", "copy.json", "r.txt"]:
            self.report("--output", name)
        html = (self.path / "r.html").read_text()
        self.assertTrue(html.startswith("<!DOCTYPE html>"))
        for median in medians:
            self.assertIn(f'data-v="{median!r}"', html)
        rows = list(csv.DictReader(io.StringIO((self.path / "r.csv").read_text())))
        self.assertEqual([float(row["median_ns"]) for row in rows], medians)
        cases = xml.etree.ElementTree.parse(self.path / "r.xml").findall(".//testcase")
        self.assertEqual([float(case.get("time")) for case in cases], [median / 1e9 for median in medians])
        gauges = [line for line in (self.path / "r.prom").read_text().splitlines()
                  if line.startswith("trilobite_benchmark_time_seconds{")]
        self.assertEqual([float(line.split()[-1]) for line in gauges], [median / 1e9 for median in medians])
        self.assertIn("| harness/empty", (self.path / "r.md").read_text())
        self.assertEqual(json.loads((self.path / "copy.json").read_text())["schema"], "trilobite.record/1")
        self.assertIn("median", (self.path / "r.txt").read_text())

    def test_charts_are_pictures(self):
        self.report("--chart", "times", "--output", "t.svg")
        self.assertIn("harness/empty", (self.path / "t.svg").read_text())
        xml.etree.ElementTree.parse(self.path / "t.svg")
        self.report("--chart", "times", "--output", "t.png")
        self.assertTrue((self.path / "t.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("<svg", self.report("--chart", "samples").stdout)

    def test_several_runs_stand_side_by_side(self):
        self.run_program("bench", "harness/empty", *QUICK, "--output", "s.json")
        self.run_program("report", "--input", "r.json,s.json", "--output", "both.html", "--sections", "comparison,environment")
        html = (self.path / "both.html").read_text()
        self.assertIn("- @r", html)
        self.assertIn("- @s", html)
        self.assertNotIn('id="summary"', html)
        self.assert_one_sentence(self.run_program("report", "--input", "r.json,s.json", "--format", "json", code=2), "one run")

    def test_baseline_and_store_add_verdicts_and_history(self):
        store = {"TRILOBITE_STORE": "h.sqlite"}
        for _ in range(3):
            self.run_program("bench", "harness/empty", *QUICK, "--output", "new.json", env=store)
        self.run_program("report", "--input", "new.json", "--baseline", "r.json", "--store", "h.sqlite", "--output", "all.html")
        html = (self.path / "all.html").read_text()
        self.assertIn('id="regression"', html)
        self.assertIn('id="history"', html)
        self.run_program("report", "--input", "new.json", "--store", "h.sqlite", "--chart", "trend", "--output", "t.svg")
        for flag, value in [("--baseline", "r.json"), ("--store", "h.sqlite")]:
            refused = self.run_program("report", "--input", "new.json", flag, value, "--format", "csv", code=2)
            self.assert_one_sentence(refused, flag, "not for csv")

    def changed(self, change, name="changed.json"):
        record = json.loads((self.path / "r.json").read_text())
        change(record)
        (self.path / name).write_text(json.dumps(record))
        return name

    def test_poor_records_make_a_page_in_every_format(self):
        def without_samples(record):
            for result in record["benchmarks"]:
                result.update(samples_ns=[], samples_per_round=[], iterations_per_sample=0)

        def without_time(record):
            without_samples(record)
            for result in record["benchmarks"]:
                result.update(statistics_ns=None, throughput={})

        def only_failures(record):
            without_time(record)
            for result in record["benchmarks"]:
                result.update(status="failed", reason="wrong output")

        def one_long_name(record):
            record["benchmarks"] = record["benchmarks"][:1]
            result = record["benchmarks"][0]
            result.update(operation="\u05e9\u202e<u>\"'" + "x" * 10000)
            result["id"] = "/".join(result[part] for part in ["suite", "operation", "dtype", "device", "shape"])

        for change, says in [(without_samples, "A summary without its samples"), (without_time, "no samples"),
                             (only_failures, "failed or timed out"), (one_long_name, "x" * 10000),
                             (lambda record: record.update(benchmarks=[]), "holds no benchmarks")]:
            name = self.changed(change)
            for output in ["p.html", "p.md", "p.csv", "p.json", "p.xml", "p.prom", "p.txt"]:
                self.run_program("report", "--input", name, "--output", output)
                text = (self.path / output).read_text()
                self.assertNotRegex(text.split("<script>")[0].lower(), r"(?<![a-z])(nan|inf)(?![a-z])", (says, output))
                self.assertFalse("<u>" in text and output in ["p.html", "p.md", "p.xml"], (says, output))
            self.assertIn(says, (self.path / "p.html").read_text())
            self.assertIn(says, (self.path / "p.md").read_text())

    def test_a_record_without_samples_is_never_stable(self):
        name = self.changed(lambda record: [result.update(samples_ns=[], samples_per_round=[]) for result in record["benchmarks"]])
        for baseline, current in [("r.json", name), (name, "r.json"), (name, name)]:
            done = self.run_program("regression-check", "--baseline", baseline, "--current", current, "--format", "json")
            answer = json.loads(done.stdout)
            self.assertEqual((answer["status"], answer["verdicts"]), ("Incomplete", []))
            self.assertEqual(len(answer["problems"]), 2)

    def test_mistakes_are_one_sentence(self):
        (self.path / "bad.json").write_text('{"schema": "something else"}')
        (self.path / "cut.json").write_text((self.path / "r.json").read_text()[:500])
        for words, parts in [(["--chart", "tims"], ["tims", "times"]), (["--sections", "sumary", "--format", "html"], ["sumary", "summary"]),
                             (["--output", "x.png"], ["--chart"]), (["--chart", "times", "--output", "x.jpg"], [".svg or .png"]),
                             (["--chart", "roofline"], ["nothing"]), (["--chart", "times:nope"], ["nope", "harness/empty"]),
                             (["--format", "html", "--baseline", "none.json"], ["none.json"]), (["--chart", "trend", "--store", "none.sqlite"], ["none.sqlite"]),
                             (["--baseline-device", "tpu"], ["tpu", "measured devices"]), (["--sections", "summary", "--format", "csv"], ["html"]),
                             (["--format", "pdf"], ["pdf"]), (["--format", "html", "--targets", "none.json"], ["none.json"]),
                             (["--format", "html", "--targets", "r.json"], ["not targets"]),
                             (["--format", "csv", "--targets", "none.json"], ["html and markdown"])]:
            done = self.run_program("report", "--input", "r.json", *words, code=2)
            self.assert_one_sentence(done, *parts)
        for name in ["bad.json", "cut.json", "absent.json", "r.json,absent.json"]:
            self.assert_one_sentence(self.run_program("report", "--input", name, "--output", "x.html", code=2))
        self.assertFalse((self.path / "x.html").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
