#!/usr/bin/env python3
"""trend, regression-check, baseline, ab, self-test and monitor as a user meets them.
Usage: verdict_test.py TRILOBITE SOURCE_DIR STEP_EXAMPLE"""
import http.server
import json
import os
import random
import sqlite3
import sys
import threading
import time
import unittest
import xml.etree.ElementTree

import program

STEP_EXAMPLE = sys.argv[3]
QUICK = ["--measurement-time", "5ms", "--warm-up-time", "1ms", "--rounds", "2", "--sample-size", "12", "--no-limits"]
SEED_REGRESSION_CONFIG = """{
  "baseline_file": "performance_baselines.json",
  "regression_threshold": 0.05,
  "minimum_samples": 10,
  "confidence_level": 0.95,
  "alert_thresholds": {
    "warning": 0.05,
    "critical": 0.15
  },
  "auto_update_baseline": false
}"""
SEED_BASELINES = """{
  "baselines": {
    "linux-x86_64": {
      "rust_implementation": {
        "throughput_tokens_per_second": 125.3,
        "latency_p50_ms": 89.2,
        "memory_usage_mb": 1024.5,
        "accuracy_score": 0.9987
      }
    }
  },
  "thresholds": {
    "critical": {"throughput_decrease_percent": 15.0, "latency_increase_percent": 25.0},
    "warning": {"throughput_decrease_percent": 8.0, "latency_increase_percent": 15.0}
  }
}"""


class Program(program.Program):
    variables = {}

    def record(self, name, factor=1.0, machine=None, count=3, run_id=None):
        """A record of `count` benchmarks whose times are `factor` times those of a quiet run; made from a real one."""
        if not hasattr(Program, "template"):
            self.run_program("bench", "tensor_ops/add/f32/cpu/64x64", *QUICK, "--output", "template.json", "--store", "none")
            Program.template = (self.path / "template.json").read_text()
        record = json.loads(Program.template)
        chance = random.Random(name)
        record["id"] = run_id or name
        if machine:
            record["environment"]["fingerprint"] = machine
        original = record["benchmarks"][0]
        record["benchmarks"] = []
        for number in range(count):
            result = json.loads(json.dumps(original))
            result["shape"] = f"{number}x1"
            result["id"] = f"tensor_ops/add/f32/cpu/{number}x1"
            level = 1000 * factor * chance.gauss(1, 0.003)
            samples = [level * chance.gauss(1, 0.004) for _ in range(24)]
            result["samples_ns"], result["samples_per_round"] = samples, [24]
            middle = sorted(samples)[12]
            result["statistics_ns"].update(median=middle, mean=middle, p50=middle, min=min(samples), max=max(samples),
                                        p95=max(samples), p99=max(samples))
            record["benchmarks"].append(result)
        return self.write(name, json.dumps(record))


class Trend(Program):
    def series(self, name="s.csv", n=120, at=70, factor=1.2, line_end="\n"):
        chance = random.Random(4)
        rows = [f"{i},2026-01-{i % 28 + 1:02},{100 * (factor if i >= at else 1) * chance.gauss(1, 0.01)}" for i in range(n)]
        return self.write(name, line_end.join(["index,time,value", *rows, ""]))

    def test_a_step_is_found_in_every_format(self):
        answer = json.loads(self.run_program("trend", "--input", self.series(), "--format", "json").stdout)
        self.assertEqual([point["index"] for point in answer["change_points"]], [70])
        self.assertAlmostEqual(answer["change_points"][0]["change"], 0.2, delta=0.02)
        self.assertIn("+2", self.run_program("trend", "--input", "s.csv").stdout)
        self.assertEqual(self.run_program("trend", "--input", "s.csv", "--format", "csv").stdout.count("\n"), 2)
        self.run_program("trend", "--input", "s.csv", "--format", "svg", "--output", "t.svg")
        self.assertTrue(xml.etree.ElementTree.parse(self.path / "t.svg"))

    def test_crlf_quotes_and_gaps_are_read(self):
        self.series(line_end="\r\n")
        text = (self.path / "s.csv").read_text()
        self.write("q.csv", text.replace("index,time,value", '"index","time","value"') + "120,x,NaN\r\n121,x,\r\n")
        answer = json.loads(self.run_program("trend", "--input", "q.csv", "--format", "json").stdout)
        self.assertEqual([point["index"] for point in answer["change_points"]], [70])
        self.assertEqual(answer["gaps"], 2)

    def test_bad_files_are_one_sentence(self):
        for text, part in [("", "empty"), ("value\n", "no row"), ("a,b\n1,2\n", "'value'"), ("value\nx\n", "line 2"),
                           ("value\ninf\n", "line 2"), ("value\n\"1\n", "never closed")]:
            self.assert_one_sentence(self.run_program("trend", "--input", self.write("b.csv", text), code=2), part)
        self.assert_one_sentence(self.run_program("trend", "--input", "none.csv", code=2), "none.csv")
        self.assert_one_sentence(self.run_program("trend", "--store", "none.sqlite", code=2), "no store")

    def test_one_row_is_no_change(self):
        answer = json.loads(self.run_program("trend", "--input", self.write("o.csv", "value\n1\n"), "--format", "json").stdout)
        self.assertEqual(answer["change_points"], [])
        self.assertIn("1 point", answer["note"])

    def test_the_history_of_a_store(self):
        for number in range(2):
            self.run_program("bench", "harness/empty", *QUICK, "--store", "h.sqlite", "--output", f"r{number}.json")
        answer = json.loads(self.run_program("trend", "empty", "--store", "h.sqlite", "--format", "json").stdout)
        self.assertEqual(answer["series"][0]["points"], 2)
        self.assert_one_sentence(self.run_program("trend", "no such", "--store", "h.sqlite", code=2), "no such")
        self.assert_one_sentence(self.run_program("trend", "((", "--store", "h.sqlite", code=2), "regular expression")
        self.assert_one_sentence(self.run_program("trend", "--store", "h.sqlite", "--control", "x", code=2), "--control")


class Store(Program):
    def test_every_run_is_kept_by_default(self):
        self.run_program("bench", "harness/empty", *QUICK, "--output", "r.json")
        rows = sqlite3.connect(self.path / "results" / "history.sqlite").execute("SELECT id FROM runs").fetchall()
        self.assertEqual(rows, [(json.loads((self.path / "r.json").read_text())["id"],)])

    def test_a_default_store_that_cannot_be_written_is_a_warning(self):
        self.write("results", "a file where the folder should be")
        done = self.run_program("bench", "harness/empty", *QUICK, "--output", "r.json")
        self.assertIn("not kept in the history", done.stderr)
        self.assertTrue((self.path / "r.json").exists())

    def test_a_store_that_cannot_be_used_is_told_before_measuring(self):
        self.write("text.sqlite", "x" * 3000)
        self.assert_one_sentence(self.run_program("bench", "harness/empty", *QUICK, "--store", "text.sqlite", code=2),
                                 "not a store")
        self.assert_one_sentence(self.run_program("bench", "harness/empty", *QUICK, "--store", "mysql://x/y", code=2), "mysql")
        self.assert_one_sentence(
            self.run_program("bench", "harness/empty", *QUICK, "--store", "postgresql://127.0.0.1:1/x", code=3), "cannot open")
        connection = sqlite3.connect(self.path / "new.sqlite")
        connection.execute("CREATE TABLE trilobite_store (key TEXT, value TEXT)")
        connection.execute("INSERT INTO trilobite_store VALUES ('version', '99')")
        connection.commit()
        connection.close()
        self.assert_one_sentence(self.run_program("bench", "harness/empty", *QUICK, "--store", "new.sqlite", code=2), "newer")


class Baseline(Program):
    def test_the_whole_life_of_a_baseline(self):
        store = ["--store", "h.sqlite"]
        runs = [self.record(f"r{number}.json") for number in range(3)]
        self.run_program("baseline", "create", "v1", "--run", runs[0], "--run", runs[1], "--description", "first",
                         "--tags", "a,b", *store)
        self.assert_one_sentence(self.run_program("baseline", "create", "v1", "--run", runs[0], *store, code=2), "already")
        self.run_program("baseline", "update", "v1", "--run", runs[2], *store)
        self.assert_one_sentence(self.run_program("baseline", "update", "v1", "--run", runs[2], *store, code=2), "twice")
        listed = json.loads(self.run_program("baseline", "list", "--format", "json", *store).stdout)
        self.assertEqual([(entry["id"], entry["runs"], entry["tags"]) for entry in listed], [("v1", 3, ["a", "b"])])
        self.assertIn("first", self.run_program("baseline", "show", "v1", *store).stdout)
        self.run_program("baseline", "export", "v1", "--output", "v1.json", *store)
        self.run_program("baseline", "delete", "v1", *store)
        self.assert_one_sentence(self.run_program("baseline", "delete", "v1", *store, code=2), "v1")
        self.run_program("baseline", "import", "v1.json", "--id", "v2", *store)
        self.assertIn("v2", self.run_program("baseline", "list", *store).stdout)

    def test_bad_names_files_and_machines_are_one_sentence(self):
        store = ["--store", "h.sqlite"]
        self.assert_one_sentence(self.run_program("baseline", "create", "a/b", "--run", self.record("r.json"), *store, code=2),
                                 "a/b")
        self.assert_one_sentence(self.run_program("baseline", "create", "v", "--run", "gone.json", *store, code=2), "gone.json")
        self.record("other.json", machine="another")
        self.assert_one_sentence(
            self.run_program("baseline", "create", "v", "--run", "r.json", "--run", "other.json", *store, code=2),
            "another machine")
        self.write("half.json", (self.path / "r.json").read_text()[:500])
        self.assert_one_sentence(self.run_program("baseline", "import", "half.json", *store, code=2), "half.json")
        self.run_program("baseline", code=2)

    def test_bench_saves_and_compares(self):
        store = ["--store", "h.sqlite", "--output", "r.json"]
        self.run_program("bench", "harness/empty", *QUICK, *store, "--save-baseline", "main")
        done = self.run_program("bench", "harness/empty", *QUICK, *store, "--baseline", "main")
        self.assertIn("against main", done.stdout)
        self.assert_one_sentence(self.run_program("bench", "harness/empty", *QUICK, *store, "--baseline", "none", code=2),
                                 "none")


class RegressionCheck(Program):
    def pool(self):
        runs = [word for number in range(5) for word in ("--run", self.record(f"r{number}.json"))]
        self.run_program("baseline", "create", "v1", *runs, "--store", "h.sqlite")
        return ["regression-check", "--baseline", "v1", "--store", "h.sqlite"]

    def test_a_regression_is_told_in_every_format_and_gates(self):
        check = [*self.pool(), "--current", self.record("slow.json", 1.1)]
        answer = json.loads(self.run_program(*check, "--format", "json").stdout)
        self.assertEqual(answer["status"], "HasRegressions")
        times = [verdict for verdict in answer["verdicts"] if verdict["metric"] == "time"]
        self.assertEqual({verdict["answer"] for verdict in times}, {"regressed"})
        self.run_program(*check, "--fail-on-regression", code=1)
        self.run_program(*check, "--fail-on-regression", "--threshold", "0.5")
        self.assertIn("WARNING", self.run_program(*check).stdout)
        self.assertIn("| WARNING |", self.run_program(*check, "--format", "markdown").stdout)
        self.run_program(*check, "--format", "junit", "--output", "j.xml")
        suite = xml.etree.ElementTree.parse(self.path / "j.xml").getroot()[0]
        self.assertGreaterEqual(int(suite.get("failures")), 3)

    def test_an_unchanged_run_passes(self):
        check = [*self.pool(), "--current", self.record("same.json")]
        self.assertEqual(json.loads(self.run_program(*check, "--format", "json", "--fail-on-regression").stdout)["status"],
                         "AllPass")

    def test_missing_benchmarks_and_failures_are_never_stable(self):
        check = self.pool()
        self.record("few.json", count=2)
        self.assertIn("Incomplete", self.run_program(*check, "--current", "few.json", "--fail-on-regression", code=1).stdout)
        record = json.loads((self.path / "few.json").read_text())
        record["benchmarks"][0].update(status="failed", reason="wrong output", samples_ns=[], samples_per_round=[])
        record["benchmarks"][0]["statistics_ns"] = None
        self.write("failed.json", json.dumps(record))
        self.assertIn("HasFailures", self.run_program(*check, "--current", "failed.json", "--fail-on-regression", code=1).stdout)
        record["benchmarks"] = []
        self.write("empty.json", json.dumps(record))
        self.assert_one_sentence(self.run_program(*check, "--current", "empty.json", code=2), "empty")

    def test_other_machines_and_bad_files_are_refused(self):
        check = self.pool()
        self.record("other.json", machine="another")
        self.assert_one_sentence(self.run_program(*check, "--current", "other.json", code=2), "another machine")
        self.run_program(*check, "--current", "other.json", "--other-machine")
        text = (self.path / "r0.json").read_text()
        self.write("cut.json", text[:len(text) // 2])
        self.write("newer.json", text.replace("trilobite.record/1", "trilobite.record/9"))
        self.write("nan.json", text.replace('"samples_ns": [', '"samples_ns": [-5, ', 1))
        for name in ["cut.json", "newer.json", "nan.json", "none.json"]:
            self.assert_one_sentence(self.run_program(*check, "--current", name, code=2))
        self.assert_one_sentence(
            self.run_program("regression-check", "--baseline", "v9", "--store", "h.sqlite", "--current", "r0.json", code=2), "v9")
        self.assert_one_sentence(self.run_program(*check, "--current", "r0.json", "--platform", "wasm32", code=2), "wasm32")

    def test_the_seed_configuration_and_its_baseline_file(self):
        self.pool()
        self.run_program("baseline", "export", "v1", "--output", "performance_baselines.json", "--store", "h.sqlite")
        self.write("regression.json", SEED_REGRESSION_CONFIG)
        done = self.run_program("regression-check", "--current", self.record("slow.json", 1.3), "--config", "regression.json",
                                "--fail-on-regression", code=1)
        self.assertIn("CRITICAL", done.stdout)
        self.write("bad.json", '{"regresion_threshold": 1}')
        self.assert_one_sentence(self.run_program("regression-check", "--current", "slow.json", "--config", "bad.json", code=2),
                                 "regresion_threshold")

    def test_baselines_update_themselves_only_when_asked(self):
        check = [*self.pool(), "--current", self.record("same.json")]
        self.run_program(*check)
        self.write("auto.json", '{"auto_update_baseline": true}')
        for runs, flags in [(5, []), (6, ["--config", "auto.json"])]:
            self.run_program(*check, *flags)
            listed = json.loads(self.run_program("baseline", "list", "--format", "json", "--store", "h.sqlite").stdout)
            self.assertEqual(listed[0]["runs"], runs)

    def test_the_baselines_of_single_figures(self):
        self.write("baselines.json", SEED_BASELINES)
        self.write("now.json", json.dumps({"rust_implementation": {
            "throughput_tokens_per_second": 100, "latency_p50_ms": 90, "memory_usage_mb": 1024.5, "accuracy_score": 0.9987}}))
        check = ["regression-check", "--baseline", "baselines.json", "--current", "now.json"]
        answer = json.loads(self.run_program(*check, "--platform", "linux-x86_64", "--format", "json").stdout)
        self.assertEqual(answer["status"], "HasCriticalRegressions")
        self.write("less.json", '{"rust_implementation": {"latency_p50_ms": 90}}')
        check[4] = "less.json"
        self.assertIn("Incomplete", self.run_program(*check, "--platform", "linux-x86_64").stdout)
        self.assert_one_sentence(self.run_program(*check, "--platform", "wasm32", code=2), "linux-x86_64")


class Ab(Program):
    def ab(self, base, candidate, *words, code=0):
        return self.run_program("ab", "--base", base, "--candidate", candidate, "--time", "1500ms", *words, code=code)

    def test_extra_work_is_a_regression(self):
        done = self.ab(STEP_EXAMPLE, f"{STEP_EXAMPLE} 20", "--format", "json", "--fail-on-regression", code=1)
        verdict = json.loads(done.stdout)["verdicts"][0]
        self.assertEqual((verdict["benchmark"], verdict["answer"]), ("example/sum", "regressed"))
        self.assertGreaterEqual(verdict["generations"], 2)  # the programs were started more than once
        self.assertAlmostEqual(verdict["change"], 0.2, delta=0.06)

    def test_a_program_against_itself_is_no_regression(self):
        done = self.ab(STEP_EXAMPLE, STEP_EXAMPLE, "--format", "json", "--fail-on-regression")
        self.assertNotEqual(json.loads(done.stdout)["verdicts"][0]["answer"], "regressed")

    def test_our_own_program_speaks_the_protocol(self):
        done = self.ab(program.PROGRAM, program.PROGRAM, "harness/clock", "--format", "json")
        self.assertEqual(json.loads(done.stdout)["verdicts"][0]["benchmark"].split("/")[:2], ["harness", "clock"])

    def test_programs_that_misbehave_are_told(self):
        for script, part in [("echo hello", "hello"), ("exit 3", "status 3"), ("kill -SEGV $$", "signal 11")]:
            self.assert_one_sentence(self.ab(STEP_EXAMPLE, f"/bin/sh -c '{script}'", code=2), part)
        self.assert_one_sentence(self.ab("/no/such", STEP_EXAMPLE, code=2), "/no/such")
        self.assert_one_sentence(self.ab(STEP_EXAMPLE, STEP_EXAMPLE, "no such", code=2), "no such")
        self.assert_one_sentence(self.ab(STEP_EXAMPLE, "/bin/sleep 60", "--timeout", "200ms", code=2), "did not answer")
        # Fine at first, dead in the middle: a problem of that benchmark.
        self.write("dies.sh", "i=0; while read r; do i=$((i+1)); [ $i -gt 20 ] && exit 9; case $r in list) echo ok; "
                              "echo '- example/sum'; echo .;; step*) echo ok 1000 1000;; *) echo ok;; esac; done")
        done = self.ab(STEP_EXAMPLE, f"/bin/sh {self.path}/dies.sh", code=1)
        self.assertIn("status 9", done.stdout)


class SelfTest(Program):
    def test_a_short_one_counts_its_trials_and_keeps_them(self):
        done = self.run_program("self-test", "--time", "3s", "--format", "json", "--store", "h.sqlite")
        answer = json.loads(done.stdout)
        self.assertEqual([entry["effect"] for entry in answer["effects"]], [0, 0.005, 0.01, 0.02, 0.05, 0.1])
        self.assertGreaterEqual(answer["effects"][0]["methods"]["ab"]["trials"], 1)
        rows = sqlite3.connect(self.path / "h.sqlite").execute("SELECT body FROM self_tests").fetchall()
        self.assertEqual(json.loads(rows[0][0])["schema"], "trilobite.self-test/1")


class Hook(http.server.BaseHTTPRequestHandler):
    received = []

    def do_POST(self):
        Hook.received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass


class Monitor(Program):
    def test_a_limit_is_told_once_and_the_run_is_kept(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.write("monitor.json", json.dumps({
            "bench": ["harness/clock", *QUICK], "store": "h.sqlite", "limits": {"harness/clock": "1ns"},
            "alerts": {"log": "alerts.log", "command": "cat > told.json", "webhook": f"http://127.0.0.1:{server.server_port}/",
                       "rate_limit": "1h"}}))
        first = self.run_program("monitor", "--once", "--config", "monitor.json", code=1)
        self.assertIn("(1 told)", first.stdout)
        self.assertIn("(0 told)", self.run_program("monitor", "--once", "--config", "monitor.json", code=1).stdout)
        self.assertEqual(len(Hook.received), 1)
        self.assertIn("harness/clock", Hook.received[0]["text"])
        self.assertEqual(json.loads((self.path / "alerts.log").read_text())["critical"], True)
        self.assertIn("above its limit", json.loads((self.path / "told.json").read_text())["title"])
        runs = sqlite3.connect(self.path / "h.sqlite").execute("SELECT count(*) FROM runs").fetchone()
        self.assertEqual(runs, (2,))

    def test_quiet_when_nothing_is_wrong_and_loud_when_nothing_runs(self):
        self.write("fine.json", json.dumps({"bench": ["harness/clock", *QUICK], "store": "none"}))
        self.run_program("monitor", "--once", "--config", "fine.json")
        self.write("broken.json", json.dumps({"bench": ["no such benchmark"], "store": "none", "alerts": {"log": "a.log"}}))
        self.assertIn("left no record", self.run_program("monitor", "--once", "--config", "broken.json", code=1).stdout)
        self.assertIn("could not run", (self.path / "a.log").read_text())

    def test_failures_and_limits_of_nothing_are_told_without_a_baseline(self):
        self.write("m.json", json.dumps({"bench": ["harness/clock", *QUICK], "store": "none", "limits": {"harness/clok": "1s"},
                                         "alerts": {"log": "a.log"}}))
        self.run_program("monitor", "--once", "--config", "m.json", code=1)
        self.assertIn("no benchmark matches", (self.path / "a.log").read_text())
        self.write("t.json", json.dumps({"bench": ["tensor_ops/matmul/f32/reference/1024x1024$", "--timeout", "50ms", *QUICK],
                                         "store": "none", "alerts": {"log": "b.log"}}))
        self.run_program("monitor", "--once", "--config", "t.json", code=1)
        self.assertIn("benchmarks failed", (self.path / "b.log").read_text())

    def test_a_stop_is_no_alert(self):
        self.write("m.json", json.dumps({"bench": ["tensor_ops/matmul"], "store": "none", "alerts": {"log": "a.log"}}))
        process = self.start_program("monitor", "--config", "m.json")
        time.sleep(1)
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 130)
        self.assertFalse((self.path / "a.log").exists())

    def test_bad_configurations_are_one_sentence(self):
        for text in ['{"regression": {"auto_update_baseline": true}}', "{", "[]", '{"benhc": []}', '{"limits": {"x": 5}}', '{"limits": {"(": "1s"}}', '{"alerts": {"webhook": "x"}}']:
            self.assert_one_sentence(self.run_program("monitor", "--once", "--config", self.write("c.json", text), code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=1)
