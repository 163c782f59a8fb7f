#!/usr/bin/env python3
"""Commands that measure models, as a user meets them. Usage: inference_test.py TRILOBITE SOURCE_DIR"""
import json
import struct
import sys
import unittest

from program import Program

QUICK = ["--measurement-time", "5ms", "--warm-up-time", "1ms", "--rounds", "2", "--sample-size", "4", "--no-limits"]
# Stands in for llama.cpp's tools: it says what it is told to say.
OTHER_ENGINE = """#!/usr/bin/env python3
import json, os, pathlib, struct, sys
words = sys.argv[1:]
value = lambda flag: words[words.index(flag) + 1]
name = pathlib.Path(sys.argv[0]).name
if "--help" in words:
    print("--model --prompt --temp --no-display-prompt --ignore-eos --special")
elif name == "llama-bench":
    print(json.dumps([{"n_prompt": int(value("-p")), "n_gen": 0, "avg_ts": 1000.0},
                      {"n_prompt": 0, "n_gen": int(value("-n")), "avg_ts": 10.0}]))
elif name == "llama-debug":
    model = pathlib.Path(value("-m")).stem
    folder = pathlib.Path(value("--logits-output-dir"))
    for kind in ["", "-tokens"]:
        (folder / f"llamacpp-{model}{kind}.bin").write_bytes(pathlib.Path(os.environ["OTHER" + kind[1:].upper()]).read_bytes())
else:
    sys.stdout.write(pathlib.Path(os.environ["OTHER_TEXT"]).read_text())
"""


class Inference(Program):
    def make(self, *words):
        return self.path / self.run_program("fixtures", *words).stdout.split(":")[0]

    def measure(self, model, *words, iterations=3):
        return self.run_program("inference", "-m", model, "--tokens", 5, "--prompt-tokens", 12, "--iterations", iterations,
                                "--batch", "1,3", *words)

    def test_every_file_is_written_and_the_figures_belong_together(self):
        model = self.make()
        report = json.loads(self.measure(model, "--json").stdout)
        folder = self.path / "benchmark-results"
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["comparison-results.json", "performance-report.json", "performance-report.md", "results.json",
                          "system-info.json"])
        self.assertEqual(report, json.loads((folder / "performance-report.json").read_text()))
        metrics = report["rust_implementation"]
        for name in ["decode_tokens_per_second", "prefill_tokens_per_second", "generation_tokens_per_second",
                     "first_token_latency_ms", "model_load_warm_ms", "load_to_first_token_warm_ms", "memory_usage_mb",
                     "cpu_utilization_percent", "roofline_share", "average_inference_time_ms", "accuracy_score"]:
            self.assertGreater(metrics[name], 0, name)
        self.assertLessEqual(metrics["latency_p50_ms"], metrics["latency_p95_ms"])
        self.assertLessEqual(metrics["latency_p95_ms"], metrics["latency_p99_ms"])
        self.assertEqual([batch["sequences"] for batch in report["batches"]], [1, 3])
        self.assertTrue(report["correctness"]["passed"])
        self.assertIn("decode\\_tokens\\_per\\_second", (folder / "performance-report.md").read_text())
        self.assertIn("platform", json.loads((folder / "system-info.json").read_text()))
        record = json.loads((folder / "results.json").read_text())
        decode = next(b for b in record["benchmarks"] if b["operation"] == "decode")
        self.assertEqual(len(decode["samples_ns"]), 3 * 4)
        self.assertIn("valid", self.run_program("inspect", folder / "results.json").stdout)

    def test_every_architecture_is_measured_and_right(self):
        for architecture in ["bitnet", "llama", "gpt2", "bert"]:
            report = json.loads(self.measure(self.make("--arch", architecture), "--json").stdout)
            self.assertTrue(report["correctness"]["passed"], architecture)
            self.assertEqual(report["correctness"]["reference"], "the reference model in double precision")
        self.assertIsNone(report["rust_implementation"]["decode_tokens_per_second"])  # bert generates nothing
        self.assertGreater(report["rust_implementation"]["throughput_tokens_per_second"], 0)

    def test_lengths_up_to_the_models_context_are_measured_whole(self):
        for architecture, prompt, tokens in [("bert", 200, 64), ("llama", 1, 255), ("llama", 254, 2)]:
            report = json.loads(self.run_program("inference", "-m", self.make("--arch", architecture), "--prompt-tokens", prompt,
                                                 "--tokens", tokens, "--iterations", 2, "--batch", "1,2", "--json").stdout)
            self.assertEqual(len(report["batches"]), 2)
            self.assertTrue(all(batch["tokens_per_second"] > 0 for batch in report["batches"]), report["batches"])
        self.measure(self.make("--arch", "llama"), "--context", 17)

    def test_time_limits_are_kept_and_said(self):
        report = json.loads(self.measure(self.make(), "--timeout", "1s", "--json", iterations=100000).stdout)
        self.assertTrue(report["settings"]["timed_out"])
        self.assertGreaterEqual(report["settings"]["iterations"], 1)

    def test_impossible_wishes_are_one_sentence(self):
        model = self.make()
        self.assert_one_sentence(self.run_program("inference", "-m", "none.gguf", code=2), "none.gguf")
        self.assert_one_sentence(self.run_program("inference", "-m", model, "--prompt-tokens", 9999, code=2), "context")
        self.assert_one_sentence(self.run_program("inference", "-m", model, "--batch", "1,x", code=2), "--batch")
        self.assert_one_sentence(self.run_program("inference", "-m", model, "--tokens", 0, code=2))
        self.assert_one_sentence(self.run_program("inference", "-m", model, "--output", "/proc/none", code=2))

    def other_engine(self, model, prompt, text, tools=("llama-cli", "llama-bench", "llama-debug")):
        for name in tools:
            tool = self.path / "other" / name
            tool.parent.mkdir(exist_ok=True)
            tool.write_text(OTHER_ENGINE)
            tool.chmod(0o755)
        (self.path / "text").write_text(text)
        ids = json.loads(self.run_program("tokenize", "--model", model, prompt, "--format", "json").stdout)["ids"]
        (self.path / "tokens").write_bytes(struct.pack(f"<{len(ids)}i", *ids))
        self.run_program("logits", "-m", model, "--ids", ",".join(map(str, ids)), "--positions", "last", "--output",
                         "logits.bin")
        return {"OTHER_TEXT": str(self.path / "text"), "OTHER": str(self.path / "logits.bin"),
                "OTHERTOKENS": str(self.path / "tokens")}

    def test_crossval_compares_texts_logits_speed_and_memory(self):
        model = self.make("--arch", "llama")
        prompt = "the sea floor"
        ours = json.loads(self.run_program("generate", "-m", model, "-p", prompt, "-n", 6, "--greedy", "--ignore-end",
                                           "--special", "--json").stdout)
        words = ["crossval", "-m", model, "--engine", "other", "-p", prompt, "-n", 6, "--prompt-tokens", 8,
                 "--iterations", 2, "--json"]
        env = self.other_engine(model, prompt, ours["text"] + "\n")
        done = json.loads(self.run_program(*words, "--least-agreement", 1, "--least-cosine", 0.9999, env=env).stdout)
        self.assertEqual(done["output"]["agreeing_tokens"], 6)
        self.assertIsNone(done["output"]["first_divergence"])
        self.assertGreater(done["logits"]["cosine"], 0.9999)
        self.assertTrue(done["logits"]["same_prompt_ids"])
        self.assertEqual(done["cpp_implementation"]["decode_tokens_per_second"]["values"], [10, 10])
        self.assertEqual(len(done["ratio_ours_to_theirs"]["decode_tokens_per_second"]["values"]), 2)
        self.assertGreater(done["rust_implementation"]["peak_resident_mb"]["median"], 1)
        self.assertEqual(json.loads((self.path / "benchmark-results/comparison-results.json").read_text()), done)
        # All of our processes run the model in the way that the flags say.
        done = json.loads(self.run_program(*words, "--kv", "int8", "--weights", "packed", "--context", 40, "--isa", "scalar",
                                           "--batch-tokens", 3, env=env).stdout)
        self.assertEqual(done["output"]["agreeing_tokens"], 6)
        for flag in [["--isa", "abacus"], ["--context", "3"]]:
            self.assert_one_sentence(self.run_program(*words, *flag, env=env, code=2), flag[1])
        env = self.other_engine(model, prompt, "something else")
        done = json.loads(self.run_program(*words, "--least-agreement", 0.5, env=env, code=1).stdout)
        self.assertEqual(done["output"]["first_divergence"], 0)
        self.assertFalse(done["output"]["other_text_ended"])
        # An output that was cut short does not differ; it agrees no further either.
        env = self.other_engine(model, prompt, "")
        done = json.loads(self.run_program(*words, "--least-agreement", 0.5, env=env, code=1).stdout)
        self.assertIsNone(done["output"]["first_divergence"])
        self.assertTrue(done["output"]["other_text_ended"])

    def test_crossval_says_what_the_other_side_cannot_give(self):
        model = self.make("--arch", "llama")
        env = self.other_engine(model, "a", "b", tools=["main"])
        text = self.run_program("crossval", "-m", model, "--engine", "other/main", "-p", "a", "-n", 2, "--iterations", 1,
                                "--prompt-tokens", 4, env=env).stdout
        self.assertIn("logits: unavailable", text)
        self.assertIn("their speed: unavailable", text)
        self.assert_one_sentence(self.run_program("crossval", "-m", model, "--engine", "nowhere", code=2), "nowhere")
        self.assert_one_sentence(self.run_program("crossval", "-m", model, "--engine", "/bin/true", code=2), "--model")

    def crossval_with(self, *tools, code, timeout="20s"):
        """Beside an engine whose tools are shell scripts: (name, script)..."""
        folder = self.path / "scripts"
        folder.mkdir(exist_ok=True)
        for name, script in tools:
            (folder / name).write_text("#!/bin/sh\n" + script + "\n")
            (folder / name).chmod(0o755)
        return self.run_program("crossval", "-m", self.make("--arch", "llama"), "--engine", "scripts", "-p", "a", "-n", 2,
                                "--iterations", 1, "--prompt-tokens", 4, "--timeout", timeout, code=code)

    def test_crossval_says_how_the_other_engine_failed(self):
        helpful = 'case "$*" in *--help*) echo --model --prompt --temp; exit;; esac\n'
        for script, part in [("kill -ABRT $$", "status 134 and printed nothing"),
                             ("echo first >&2; echo no such tensor >&2; exit 3", "status 3 and said: no such tensor"),
                             ("exec sleep 60", "1s")]:
            done = self.crossval_with(("llama-cli", helpful + script), code=1, timeout="1s" if "sleep" in script else "20s")
            self.assert_one_sentence(done, part)
            comparison = json.loads((self.path / "benchmark-results/comparison-results.json").read_text())
            self.assertIn(part, comparison["engine_failed"])
            self.assertIn("unavailable", comparison["logits"])
        self.assert_one_sentence(self.crossval_with(("llama-cli", "exec sleep 60"), code=1, timeout="1s"), "1s")

    def test_crossval_survives_speeds_and_logits_of_any_shape(self):
        generates = ("llama-cli", 'case "$*" in *--help*) echo --model --prompt --temp; exit;; esac\necho b')
        for answer in ["[1,2]", '{"a":1}', '"str"', '[{"avg_ts":"fast","n_gen":"2"}]', "[null]", "", "garbage"]:
            text = self.crossval_with(generates, ("llama-bench", f"echo '{answer}'"), code=0).stdout
            self.assertIn("their speed: unavailable", text)
        debug = """while [ "$1" != --logits-output-dir ]; do shift; done
printf 12345678 > "$2/llamacpp-llama-tiny.Q8_0.bin"
printf '\\1\\0\\0\\0' > "$2/llamacpp-llama-tiny.Q8_0-tokens.bin"
"""
        self.assertIn("wrote 2 logits", self.crossval_with(generates, ("llama-debug", debug), code=0).stdout)

    def test_crossval_finds_an_engine_in_the_current_folder(self):
        model = self.make("--arch", "llama")
        self.other_engine(model, "a", "b", tools=["llama-cli"])
        (self.path / "other/llama-cli").rename(self.path / "llama-cli")
        self.run_program("crossval", "-m", model, "--engine", "llama-cli", "-p", "a", "-n", 2, "--iterations", 1,
                         "--prompt-tokens", 4, env={"OTHER_TEXT": str(self.path / "text")})

    def test_the_suite_runs_small_models(self):
        self.run_program("bench", "--suite", "model_inference", *QUICK, "--output", "r.json",
                         env={"TRILOBITE_SMALL": "1", "TRILOBITE_MODELS": str(self.path / "models")})
        record = json.loads((self.path / "r.json").read_text())
        self.assertEqual({b["status"] for b in record["benchmarks"]}, {"ok"})
        self.assertEqual({b["operation"] for b in record["benchmarks"]},
                         {"prefill", "decode", "decode-batch", "embed", "generate"})
        self.assertTrue(all(b["check"]["passed"] for b in record["benchmarks"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
