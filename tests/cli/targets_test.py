#!/usr/bin/env python3
"""`trilobite targets` and the suites it takes figures from. Usage: targets_test.py TRILOBITE SOURCE_DIR"""
import html
import json
import sys
import unittest

from program import Program

QUICK = ["--measurement-time", "5ms", "--warm-up-time", "1ms", "--rounds", "1", "--sample-size", "3", "--no-limits"]


class Targets(Program):
    def test_every_target_is_met_missed_or_unavailable_with_a_reason(self):
        (self.path / "report.json").write_text(json.dumps({"rust_implementation": {
            "decode_tokens_per_second": 124.9, "latency_p50_ms": 89.9, "memory_usage_mb": 900.0}}))
        (self.path / "comparison.json").write_text(json.dumps({"ratio_ours_to_theirs": {
            "decode_tokens_per_second": {"median": 1.2}, "peak_resident_mb": {"median": 0.95}}}))
        words = ["targets", "--report", "report.json", "--comparison", "comparison.json", "--output", "targets.json", *QUICK]
        self.run_program(*words, "--strict", code=1)  # one below is missed
        targets = {t["name"]: t for t in json.loads((self.path / "targets.json").read_text())["targets"]}
        for target in targets.values():
            self.assertIn(target["outcome"], ["met", "missed", "unavailable"])
            self.assertEqual(target["measured"] is None, target["outcome"] == "unavailable", target)
            self.assertEqual("reason" in target, target["outcome"] == "unavailable", target)
        self.assertEqual(targets["decode"]["outcome"], "missed")
        self.assertEqual(targets["latency per token, P50"]["outcome"], "met")
        self.assertAlmostEqual(targets["peak memory"]["measured"], 0.9)  # both are powers of ten
        self.assertEqual(targets["accuracy (cosine to the reference)"]["outcome"], "unavailable")
        self.assertEqual(targets["throughput against another engine"]["outcome"], "met")
        self.assertAlmostEqual(targets["memory below another engine"]["measured"], 5.0)
        for name in ["matmul 1024x1024, f32", "sum, large arrays", "fragmentation after long use",
                     "allocation of a 4 MB tensor, of filling it"]:
            self.assertIsNotNone(targets[name]["measured"], targets[name])
        self.assert_the_report_shows(targets.values())

    def assert_the_report_shows(self, targets):
        record, = (self.path / "results").glob("*.json")
        for name in ["r.html", "r.md"]:
            self.run_program("report", "--input", record, "--targets", "targets.json", "--output", name)
            text = html.unescape((self.path / name).read_text())
            for target in targets:
                self.assertIn(target["outcome"], text)
                if target["measured"] is not None:
                    self.assertIn(f"{target['measured']:.3g} {target['unit']}", text.replace("\\", ""))
            self.assertIn("accuracy_score", text.replace("\\", ""))  # of a reason
        count = [sum(t["outcome"] == outcome for t in targets) for outcome in ["met", "missed", "unavailable"]]
        self.assertIn("Of 16 targets: {} met, {} missed, {} unavailable.".format(*count), text)

    def test_a_report_that_is_none_is_refused_before_anything_is_measured(self):
        self.assert_one_sentence(self.run_program("targets", "--report", "absent.json", code=2), "absent.json")
        (self.path / "list.json").write_text("[1]")
        self.assert_one_sentence(self.run_program("targets", "--report", "list.json", code=2), "list.json")

    def test_workloads_and_memory_give_right_answers(self):
        self.run_program("bench", "workloads/.*/1x32x768|workloads/.*/2x32x768|memory/(load|long)", *QUICK,
                         "--output", "record.json", "--output-format", "json")
        results = json.loads((self.path / "record.json").read_text())["benchmarks"]
        self.assertGreaterEqual(len(results), 6)
        for result in results:
            self.assertIn(result["status"], ["ok", "skipped"], result.get("reason"))
        self.assertTrue(any(r["suite"] == "workloads" and r["device"] == "cpu" and r["status"] == "ok" for r in results))

    def test_the_names_of_sets_stand_for_suites(self):
        listed = self.run_program("bench", "--list", "--suite", "comprehensive_performance_comparison").stdout.split()
        self.assertEqual({line.split("/")[0] for line in listed}, {
            "matmul", "tensor_ops", "quantization", "bitlinear", "activations", "memory", "workloads"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
