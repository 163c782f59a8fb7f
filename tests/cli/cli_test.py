#!/usr/bin/env python3
"""The program as a user meets it: exit codes, messages, files. Usage: cli_test.py TRILOBITE SOURCE_DIR"""
import csv
import io
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from program import PROGRAM, SOURCE, Program

QUICK = ["--measurement-time", "5ms", "--warm-up-time", "1ms", "--rounds", "2", "--sample-size", "4", "--no-limits"]
# The configuration that the first seed document prints, word for word.
SEED_CONFIG = """{
  "tensor_sizes": [[64, 64], [128, 128], [256, 256], [512, 512], [1024, 1024], [2048, 2048]],
  "warmup_iterations": 5,
  "measurement_iterations": 10,
  "operations": ["matmul", "add", "multiply", "quantize", "bitlinear"],
  "devices": ["cpu", "metal", "mlx"],
  "data_types": ["f32", "f16"],
  "timeout": "30s"
}"""


class Usage(Program):
    def test_help_and_version_are_answers(self):
        self.assertIn("compare", self.run_program("--help").stdout)
        self.assertRegex(self.run_program("--version").stdout, r"^trilobite \d+\.\d+\.\d+\n$")
        for command in ["bench", "compare", "devices", "env", "fixtures", "inspect", "quantize", "report"]:
            self.assertIn("--help", self.run_program(command, "--help").stdout)

    def test_unknown_words_are_errors(self):
        self.assert_one_sentence(self.run_program("benhc", code=2), "benhc", "--help")
        self.assert_one_sentence(self.run_program("bench", "--no-such-flag", code=2), "--no-such-flag")
        self.run_program(code=2)

    def test_bad_values_of_flags_are_one_sentence(self):
        for words in [["--sample-size", "0"], ["--sample-size", "many"], ["--timeout", "5 parsecs"], ["--threads", "-1"],
                      ["--threads", "99999999"], ["--output-format", "xml"], ["--isa", "avx9"], ["--seed", "-3"],
                      ["--log-level", "loud"], ["--measurement-time", "-1s"]]:
            self.assert_one_sentence(self.run_program("bench", "harness/empty", "--no-limits", *words, code=2))
        self.assertEqual(self.files(), [])

    def test_bad_environment_variables_are_named(self):
        for name, value in [("BITNET_SEED", "x"), ("TRILOBITE_LOG", "loud"), ("RAYON_NUM_THREADS", "0"),
                            ("TRILOBITE_ISA", "avx9")]:
            self.run_program("bench", "harness/empty", "--no-limits", code=2, env={name: value})


class Bench(Program):
    def test_list_shows_every_id_once_and_every_suite_file(self):
        ids = self.run_program("bench", "--list").stdout.splitlines()
        self.assertEqual(len(ids), len(set(ids)))
        suites = {id.split("/")[0] for id in ids}
        files = {path.stem for path in (SOURCE / "benchmarks").glob("*.cpp")} - {"op_benchmark"}
        # A suite is one file of its name, or several whose names start with it (lowbit_group).
        owners = {file: {suite for suite in suites if file == suite or file.startswith(suite + "_")} for file in files}
        self.assertTrue(all(owners.values()), owners)
        self.assertEqual(suites, set().union(*owners.values()))
        self.assertTrue(all(len(id.split("/")) >= 5 for id in ids))

    def test_selection_by_regex_and_suite(self):
        ids = self.run_program("bench", "tensor.*matmul", "--list").stdout.splitlines()
        self.assertTrue(ids and all("tensor_ops/matmul/" in id for id in ids))
        ids = self.run_program("bench", "--suite", "harness", "--list").stdout.splitlines()
        self.assertTrue(ids and all(id.startswith("harness/") for id in ids))
        everything = self.run_program("bench", "--list").stdout
        self.assertEqual(self.run_program("bench", "--suite", "all", "--list").stdout, everything)

    def test_bad_selections_are_one_sentence(self):
        self.assert_one_sentence(self.run_program("bench", "((", code=2), "regular expression")
        self.assert_one_sentence(self.run_program("bench", "--suite", "nope", code=2), "nope", "tensor_ops")
        self.assert_one_sentence(self.run_program("bench", "no such benchmark", code=2), "--list")
        self.assertEqual(self.files(), [])

    def test_the_record_is_written_and_valid(self):
        done = self.run_program("bench", "tensor_ops/add/f32/.*/64x64", *QUICK, "--output", "r.json")
        self.assertIn("r.json", done.stdout)
        record = json.loads((self.path / "r.json").read_text())
        self.assertEqual(record["schema"], "trilobite.record/1")
        self.assertTrue(record["complete"])
        results = {result["device"]: result for result in record["benchmarks"]}
        self.assertEqual(results["cpu"]["status"], "ok", results["cpu"])
        self.assertEqual(len(results["cpu"]["samples_ns"]), 4)
        self.assertEqual(results["cpu"]["samples_per_round"], [2, 2])
        self.assertTrue(results["cpu"]["check"]["passed"])
        self.assertEqual(results["cpu"]["check"]["reference"], "reference device")
        self.assertTrue(results["cpu"]["kernels"], "the dispatcher counted nothing")
        self.assertIn("valid trilobite.record/1", self.run_program("inspect", "r.json").stdout)

    def test_without_output_the_record_goes_to_results(self):
        self.run_program("bench", "harness/empty", *QUICK)
        self.assertEqual(len(list((self.path / "results").glob("*.json"))), 1)

    def test_formats_on_standard_output_are_clean(self):
        words = ["bench", "harness/empty", *QUICK, "--output-format"]
        self.assertEqual(json.loads(self.run_program(*words, "json").stdout)["schema"], "trilobite.record/1")
        rows = list(csv.DictReader(io.StringIO(self.run_program(*words, "csv").stdout)))
        self.assertEqual(rows[0]["id"], "harness/empty/-/-/-")
        self.assertRegex(self.run_program(*words, "bencher").stdout, r"test \S+ \.\.\. bench: +[\d,.]+ ns/iter \(\+/- [\d,.]+\)")
        self.assertIn("benchmarks", json.loads(self.run_program(*words, "gbench").stdout))
        self.assertFalse((self.path / "results").exists())

    def test_report_writes_the_same_numbers_in_every_format(self):
        self.run_program("bench", "harness/empty", *QUICK, "--output", "r.json")
        median = json.loads((self.path / "r.json").read_text())["benchmarks"][0]["statistics_ns"]["median"]
        self.run_program("report", "--input", "r.json", "--format", "csv", "--output", "r.csv")
        row = next(csv.DictReader(io.StringIO((self.path / "r.csv").read_text())))
        self.assertEqual(float(row["median_ns"]), median)
        gbench = json.loads(self.run_program("report", "--input", "r.json", "--format", "gbench").stdout)
        medians = [entry["real_time"] for entry in gbench["benchmarks"] if entry.get("aggregate_name") == "median"]
        self.assertEqual(medians, [median])

    def test_unwritable_output_is_refused_before_anything_runs(self):
        start = time.monotonic()
        self.assert_one_sentence(self.run_program("bench", *QUICK, "--output", "/proc/x/r.json", code=2), "/proc/x/r.json")
        self.assertLess(time.monotonic() - start, 10)

    def test_deterministic_runs_say_so_and_use_one_thread(self):
        words = ["bench", "harness/empty", *QUICK, "--output-format", "json"]
        for extra, env in [(["--deterministic"], None), ([], {"BITNET_DETERMINISTIC": "1", "BITNET_SEED": "7"})]:
            record = json.loads(self.run_program(*words, *extra, env=env).stdout)
            self.assertTrue(record["deterministic"])
            self.assertEqual(record["threads"], 1)
            self.assertEqual(record["seed"], 7 if env else 42)

    def test_unsupported_pairs_are_skipped_with_the_reason(self):
        record = json.loads(self.run_program("bench", "tensor_ops/softmax/f32/openblas/64x64", *QUICK, "--output-format",
                                             "json").stdout)
        result = record["benchmarks"][0]
        self.assertEqual(result["status"], "skipped")
        self.assertIn("OpenBLAS", result["reason"])

    def test_an_instruction_set_can_be_chosen(self):
        record = json.loads(self.run_program("bench", "tensor_ops/add/f32/cpu/64x64", *QUICK, "--isa", "scalar",
                                             "--output-format", "json").stdout)
        self.assertEqual(record["isa"], "scalar")
        self.assertTrue(all("scalar" in kernel for kernel in record["benchmarks"][0]["kernels"]))

    def test_an_interrupted_run_keeps_what_it_measured(self):
        process = subprocess.Popen([PROGRAM, "bench", "tensor_ops", "--measurement-time", "50ms", "--no-limits", "--output",
                                    "r.json"], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (self.path / "r.json").exists():
            time.sleep(0.2)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        record = json.loads((self.path / "r.json").read_text())
        self.assertFalse(record["complete"])
        self.assertTrue(any(result["samples_ns"] for result in record["benchmarks"]))
        self.run_program("inspect", "r.json")

    def test_a_terminal_gets_a_progress_line_and_a_pipe_does_not(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen([PROGRAM, "bench", "harness/empty", *QUICK], cwd=self.path, stdout=subprocess.PIPE,
                                   stderr=follower)
        process.communicate(timeout=60)
        os.close(follower)
        self.assertIn(b"harness/empty", os.read(leader, 65536))
        os.close(leader)
        self.assertEqual(self.run_program("bench", "harness/empty", *QUICK).stderr, "")


class Compare(Program):
    def config(self, text):
        (self.path / "c.json").write_text(text)
        return "c.json"

    def test_the_printed_configuration_of_the_seed_loads(self):
        # Smaller sizes, so that the test is quick; the keys and forms are those of the document.
        config = json.loads(SEED_CONFIG)
        config["tensor_sizes"] = [[64, 64], [128, 128]]
        done = self.run_program("compare", "--config", self.config(json.dumps(config)), "--output", "r.json", "--no-limits",
                                "--measurement-time", "10ms", "--warm-up-time", "1ms")
        record = json.loads((self.path / "r.json").read_text())
        self.assertEqual(record["plan"]["samples"], 10)
        self.assertEqual(record["plan"]["timeout_ns"], 30_000_000_000)
        results = {result["id"]: result for result in record["benchmarks"]}
        self.assertEqual(len(results), 5 * 3 * 2 * 2)
        self.assertEqual(results["compare/matmul/f16/cpu/64x64"]["status"], "ok")
        for operation in ["quantize", "bitlinear"]:
            self.assertEqual(results[f"compare/{operation}/f32/cpu/64x64"]["status"], "ok")
        for id, part in [("compare/quantize/f16/cpu/64x64", "quantize"), ("compare/add/f32/metal/64x64", "macOS")]:
            self.assertEqual(results[id]["status"], "skipped")
            self.assertIn(part, results[id]["reason"])
        self.assertIn("matmul", done.stdout)

    def test_bad_configurations_are_one_sentence(self):
        for text, part in [('{"tensor_sizes": 7}', "tensor_sizes"), ('{"tensor_sizes": [[0, 4]]}', "tensor_sizes[0]"),
                           ('{"tensor_sizes": [[99999999999, 99999999999]]}', "too large"),
                           ('{"tensor_sizes": [[64, "x"]]}', "tensor_sizes[0]"), ('{"timeout": "soon"}', "timeout"),
                           ('{"colour": 1}', "colour"), ('{"operations": ["dance"]}', "dance"),
                           ('{"devices": ["gpu9"]}', "gpu9"), ('{"data_types": ["f8"]}', "f8"), ("{", "JSON"),
                           ('{"measurement_iterations": 0}', "measurement_iterations"), ("[]", "object"),
                           ('{"operations": []}', "empty"), ('{"devices": ["cpu", "cpu"]}', "twice")]:
            self.assert_one_sentence(self.run_program("compare", "--config", self.config(text), code=2), "c.json", part)
        self.assert_one_sentence(self.run_program("compare", "--config", "none.json", code=2), "none.json")
        self.assertEqual(self.files(), ["c.json"])

    def test_more_memory_than_the_machine_has_fails_that_benchmark_only(self):
        config = {"tensor_sizes": [[16, 16], [4_000_000, 4_000_000]], "operations": ["add"], "devices": ["cpu"],
                  "data_types": ["f32"]}
        self.run_program("compare", "--config", self.config(json.dumps(config)), "--output", "r.json", *QUICK, code=1)
        results = json.loads((self.path / "r.json").read_text())["benchmarks"]
        self.assertEqual([result["status"] for result in results], ["ok", "failed"])
        self.assertIn("this machine has", results[1]["reason"])


class Machine(Program):
    def test_devices_lists_all_that_the_design_names(self):
        devices = {entry["name"]: entry for entry in json.loads(self.run_program("devices", "--format", "json").stdout)}
        self.assertEqual(set(devices), {"reference", "cpu", "openblas", "onednn", "eigen", "opencl", "vulkan", "cuda", "rocm",
                                        "metal", "mlx"})
        self.assertTrue(devices["reference"]["usable"] and devices["cpu"]["usable"])
        for device in devices.values():
            self.assertTrue(device["description"], device)
        self.assertIn("reference", self.run_program("devices").stdout)

    def test_env_prints_facts_and_doubts(self):
        text = self.run_program("env", "--no-limits").stdout
        for word in ["platform", "processor", "governor", "fingerprint"]:
            self.assertIn(word, text)
        facts = json.loads(self.run_program("env", "--no-limits", "--format", "json").stdout)
        self.assertIn("cpu", facts["environment"])

    def test_limits_are_measured_once_and_kept(self):
        self.run_program("bench", "tensor_ops/add/f32/cpu/64x64", *QUICK[:-1], "--threads", "1", "--output", "r.json")
        record = json.loads((self.path / "r.json").read_text())
        limits = record["limits"]["by_threads"][0]
        self.assertEqual(limits["threads"], 1)
        self.assertGreater(limits["operations_per_second"]["f32"], 1e8)
        self.assertGreater(limits["bandwidth_bytes_per_second"][-1]["read"], 1e8)
        self.assertIn("share", record["benchmarks"][0]["limit"])
        self.assertEqual(len(list((self.path / "cache" / "trilobite").glob("limits-*.json"))), 1)
        start = time.monotonic()
        self.run_program("bench", "tensor_ops/add/f32/cpu/64x64", *QUICK[:-1], "--threads", "1", "--output", "s.json")
        self.assertEqual(json.loads((self.path / "s.json").read_text())["limits"], record["limits"])


class ModelFiles(Program):
    def make(self, *words):
        return self.path / self.run_program("fixtures", *words).stdout.split(":")[0]

    def test_fixtures_of_every_architecture_are_sound(self):
        for architecture in ["bitnet", "bitnet-b1.58", "llama", "gpt2", "bert"]:
            model = self.make("--size", "tiny", "--arch", architecture, "--output", "models")
            self.assertLess(model.stat().st_size, 2_000_000)
            facts = json.loads(self.run_program("inspect", model, "--deep", "--json").stdout)
            self.assertTrue(facts["sound"])
            self.assertEqual(facts["problems"], [])
            self.assertEqual(facts["metadata"]["general.architecture"], architecture)
            self.assertEqual(facts["total"]["tensors"], len(facts["tensors"]))

    def test_the_seed_decides_every_byte(self):
        first = self.make("--seed", "7").read_bytes()
        self.assertEqual(self.make("--seed", "7").read_bytes(), first)
        self.assertNotEqual(self.make("--seed", "8").read_bytes(), first)

    def test_inspect_tells_what_is_in_a_model(self):
        model = self.make("--arch", "llama")
        text = self.run_program("inspect", model, "--tensors").stdout
        for part in ["llama.context_length", "512 of string", "blk.1.ffn_down.weight", "512x256", "Q8_0", "8.5", "sound"]:
            self.assertIn(part, text)
        self.assertNotIn("blk.1.ffn_down.weight", self.run_program("inspect", model).stdout)

    def test_inspect_says_no_to_a_model_that_lacks_something(self):
        model = self.make("--arch", "llama")
        model.write_bytes(model.read_bytes().replace(b"blk.1.ffn_down.weight", b"blk.1.ffn_dawn.weight"))
        done = self.run_program("inspect", model, code=1)
        self.assertIn("llama needs are missing: blk.1.ffn_down.weight", done.stdout)

    def test_a_truncated_model_is_one_sentence(self):
        model = self.make()
        whole = model.read_bytes()
        for length in [4, 30, 5000, len(whole) - 1]:
            model.write_bytes(whole[:length])
            self.assert_one_sentence(self.run_program("inspect", model, code=2), model.name)
            self.assert_one_sentence(self.run_program("quantize", model, "out.gguf", "--type", "f16", code=2))

    def test_inspect_calls_sound_only_what_runs(self):
        model = self.make("--arch", "llama")
        self.run_program("inspect", model)
        key = b"llama.attention.layer_norm_rms_epsilon\x06\x00\x00\x00"
        data = model.read_bytes()
        at = data.index(key) + len(key)
        model.write_bytes(data[:at] + b"\x00\x00\xc0\x7f" + data[at + 4:])
        done = self.run_program("inspect", model, code=1)
        self.assertIn("not sound", done.stdout)
        self.assertIn("epsilon", done.stdout)
        model.write_bytes(b"")
        self.assert_one_sentence(self.run_program("inspect", model, code=2), "empty", "GGUF")

    def test_quantize_writes_what_was_asked_for_and_tells_the_cost(self):
        model = self.make("--arch", "llama", "--type", "F16", "--head", "F16")
        for kind in ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K", "TQ1_0", "TQ2_0", "I2_S"]:
            report = json.loads(self.run_program("quantize", model, "out.gguf", "--type", kind, "--json").stdout)
            facts = json.loads(self.run_program("inspect", "out.gguf", "--deep", "--json").stdout)
            types = {tensor["name"]: tensor["type"] for tensor in facts["tensors"]}
            self.assertEqual(types["blk.0.attn_q.weight"], kind)
            self.assertEqual(types["blk.0.attn_norm.weight"], "F32")
            self.assertEqual(report["bytes_after"], (self.path / "out.gguf").stat().st_size)
            self.assertIn(kind, report["types"])
            if report["types"][kind]["converted"] and kind.startswith("Q"):
                self.assertGreater(report["types"][kind]["snr_db"], 15)
        self.assertIn("dB", self.run_program("quantize", model, "out.gguf", "--type", "q4_0").stdout)

    def test_ternary_weights_survive_every_ternary_type(self):
        model = self.make("--type", "F16")
        for kind in ["TQ1_0", "TQ2_0", "I2_S"]:
            report = json.loads(self.run_program("quantize", model, "out.gguf", "--type", kind, "--json").stdout)
            self.assertEqual(report["types"][kind]["max_abs_error"], 0)
            self.assertEqual(report["types"][kind]["cosine"], 1)

    def test_nonsense_is_refused_in_one_sentence(self):
        model = self.make()
        self.assert_one_sentence(self.run_program("quantize", model, model, "--type", "f16", code=2), "another name")
        self.assert_one_sentence(self.run_program("quantize", model, "o.gguf", "--type", "Q9", code=2), "Q9", "TQ2_0")
        self.assert_one_sentence(self.run_program("quantize", "none.gguf", "o.gguf", "--type", "f16", code=2), "none.gguf")
        self.assert_one_sentence(self.run_program("fixtures", "--size", "9t", code=2), "tiny, small, medium, 2b")
        self.assert_one_sentence(self.run_program("fixtures", "--arch", "abacus", code=2), "abacus", "llama")
        self.assert_one_sentence(self.run_program("fixtures", "--head", "F16", "--embedding", "Q8_0", code=2), "both")
        self.assert_one_sentence(self.run_program("fixtures", "--seed", "-1", code=2))
        self.assert_one_sentence(self.run_program("fixtures", "--output", "/proc/nowhere", code=2))


class Tokenize(Program):
    WORDS = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\n##s\n,\nworld\n"

    def setUp(self):
        super().setUp()
        (self.path / "vocab.txt").write_text(self.WORDS)

    def tokenize(self, *words, **more):
        return self.run_program("tokenize", "--vocab", "vocab.txt", *words, **more)

    def test_ids_pieces_json_and_offsets(self):
        self.assertEqual(self.tokenize("Hellos, world").stdout, "2 4 5 6 7 3\n")
        self.assertEqual(self.tokenize("--no-special", "hello [SEP]").stdout, "4 1 1 1\n")
        self.assertEqual(self.tokenize("hello [SEP]").stdout, "2 4 3 3\n")
        self.assertEqual(self.tokenize("--no-special", "--format", "pieces", "--offsets", "hellos").stdout,
                         "4\t0-5\thello\n5\t5-6\t##s\n")
        facts = json.loads(self.tokenize("--format", "json", "--offsets", "hello").stdout)
        self.assertEqual(facts["ids"], [2, 4, 3])
        self.assertEqual(facts["pieces"], ["[CLS]", "hello", "[SEP]"])
        self.assertEqual(facts["offsets"], [[0, 0], [0, 5], [5, 5]])
        self.assertEqual(self.tokenize("").stdout, "2 3\n")

    def test_standard_input_and_back(self):
        done = subprocess.run([PROGRAM, "tokenize", "--model", str(self.path / "vocab.txt"), "-"], input=b"hello\xff world",
                              capture_output=True, timeout=60)
        self.assertEqual(done.stdout, b"2 4 7 3\n")
        self.assertEqual(self.tokenize("--decode", "--no-special", "2 4 5, 6 7 3").stdout, "hellos, world")

    def test_nonsense_is_refused_in_one_sentence(self):
        self.assert_one_sentence(self.tokenize("--decode", "4 x", code=2), "'x'")
        self.assert_one_sentence(self.tokenize("--decode", "99", code=2), "99")
        self.assert_one_sentence(self.run_program("tokenize", "text", code=2), "--model")
        self.assert_one_sentence(self.run_program("tokenize", "--model", "none.gguf", "text", code=2), "none.gguf")
        for name, content in [("a.gguf", b"GGUF\x03"), ("b.json", b"{"), ("c.bin", b"\0" * 50), ("d.json", b'{"model": {"vocab": {}}}')]:
            (self.path / name).write_bytes(content)
            self.assert_one_sentence(self.run_program("tokenize", "--model", name, "text", code=2), name)


class Records(Program):
    def test_damaged_newer_and_foreign_files_are_one_sentence(self):
        self.run_program("bench", "harness/empty", *QUICK, "--output", "r.json")
        text = (self.path / "r.json").read_text()
        for name, content, part in [("cut.json", text[: len(text) // 2], "JSON"),
                                    ("new.json", text.replace("record/1", "record/2"), "newer"),
                                    ("foreign.json", '{"schema": "x/1"}', "not a Trilobite record"), ("empty.json", "", "JSON")]:
            (self.path / name).write_text(content)
            self.assert_one_sentence(self.run_program("inspect", name, code=2), name, part)
            self.assert_one_sentence(self.run_program("report", "--input", name, code=2), name, part)
        self.assert_one_sentence(self.run_program("inspect", "none.json", code=2), "none.json")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
