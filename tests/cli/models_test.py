#!/usr/bin/env python3
"""Commands that run a model, as a user meets them. Usage: models_test.py TRILOBITE SOURCE_DIR"""
import json
import math
import os
import pathlib
import struct
import sys
import unittest

from program import SOURCE, Program

DATA = pathlib.Path(os.environ.get("TRILOBITE_TEST_DATA", SOURCE / ".." / "shared" / "data"))
STORY = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park."


class Model(Program):
    def make(self, arch="llama", *words):
        self.run_program("fixtures", "--size", "tiny", "--arch", arch, "--output", ".", *words)
        return max(self.path.glob("*.gguf"), key=lambda path: path.stat().st_mtime)


class Generate(Model):
    def test_the_text_goes_to_standard_output_and_nothing_else(self):
        model = self.make()
        done = self.run_program("generate", "-m", model, "-p", "Hello", "-n", "8", "--greedy")
        self.assertTrue(done.stdout.startswith("Hello"))
        self.assertEqual(done.stderr, "")

    def test_every_causal_architecture_generates(self):
        for arch in ["llama", "bitnet", "bitnet-b1.58", "gpt2"]:
            answer = json.loads(self.run_program("generate", "-m", self.make(arch), "-p", "a b", "-n", "5", "--greedy",
                                                 "--ignore-end", "--json").stdout)
            self.assertEqual(len(answer["tokens"]), 5, arch)
            self.assertEqual(answer["stop_reason"], "length")
            self.assertGreater(answer["decode_tokens_per_second"], 0)

    def test_the_seed_and_not_the_threads_decide_the_text(self):
        model = self.make()
        def text(*words):
            return self.run_program("generate", "-m", model, "-p", "x", "-n", "12", "--temperature", "1", *words).stdout
        self.assertEqual(text("--seed", "5", "--threads", "1"), text("--seed", "5", "--threads", "3"))
        self.assertNotEqual(text("--seed", "5"), text("--seed", "6"))

    def test_ids_serve_as_a_prompt(self):
        answer = self.run_program("generate", "-m", self.make(), "--ids", "5,6,7", "-n", "3", "--greedy", "--json")
        self.assertEqual(json.loads(answer.stdout)["prompt_tokens"], 3)

    def test_stop_texts_end_the_text_before_them_even_across_tokens(self):
        model = self.make()
        def generate(*words):
            return self.run_program("generate", "-m", model, "-p", "x", "-n", "24", "--greedy", "--ignore-end", *words)
        whole = json.loads(generate("--json").stdout)
        text, tokens = whole["text"], whole["tokens"]
        stop = text[5:11]  # a token of this model is one letter
        begin = text.index(stop)
        answer = json.loads(generate("--json", "--stop", "nowhere in it", "--stop", stop).stdout)
        self.assertEqual(answer["text"], text[:begin])
        self.assertEqual(answer["stop_reason"], "stop_text")
        self.assertLess(len(answer["tokens"]), len(tokens))
        self.assertEqual(generate("--stop", stop).stdout, "x" + text[:begin] + "\n")
        # What only begins like a stop text is shown in the end.
        self.assertEqual(generate("--stop", text[-2:] + "and more").stdout, "x" + text + "\n")
        answer = json.loads(generate("--json", "--stop-id", "0", "--stop-id", tokens[3]).stdout)
        self.assertEqual(answer["tokens"], tokens[:tokens.index(tokens[3])])
        self.assertEqual(answer["stop_reason"], "stop_token")

    def test_times_of_a_text_without_a_token(self):
        model = self.make()
        first = json.loads(self.run_program("generate", "-m", model, "-p", "x", "-n", "1", "--greedy", "--ignore-end",
                                            "--json").stdout)
        self.assertIsNone(first["decode_tokens_per_second"])
        words = ["generate", "-m", model, "-p", "x", "--greedy", "--stop-id", first["tokens"][0]]
        answer = json.loads(self.run_program(*words, "--json").stdout)
        self.assertEqual((answer["tokens"], answer["stop_reason"], answer["text"]), ([], "stop_token", ""))
        self.assertIsNone(answer["first_token_ms"])
        self.assertGreater(answer["prefill_tokens_per_second"], 0)
        answer = json.loads(self.run_program(*words, "--json", "-n", "0").stdout)
        self.assertIsNone(answer["first_token_ms"])
        self.assertIsNone(answer["prefill_tokens_per_second"])  # nothing was read
        self.assertEqual(self.run_program(*words).stdout, "x\n")

    def test_a_full_context_is_said(self):
        model = self.make()
        done = self.run_program("generate", "-m", model, "-p", "x", "-n", "50", "--greedy", "--ignore-end", "--context", "8")
        self.assertIn("context of 8 tokens is full", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_wrong_requests_are_one_sentence(self):
        model = self.make()
        for flag in ["--top-k", "--context", "--seed", "--repetition-window", "--stop-id", "--batch-tokens", "-n"]:
            for number in ["-1", "99999999999999999999"]:
                self.assert_one_sentence(self.run_program("generate", "-m", model, "-p", "a", flag, number, code=2), number)
        self.assert_one_sentence(self.run_program("generate", "-m", model, "-p", "a", "--stop", "", code=2), "--stop")
        self.assert_one_sentence(self.run_program("generate", "-m", model, "-p", "a", "--stop-id", "999999", code=2), "999999")
        for words, part in [(["--ids", "1,x"], "--ids"), (["--ids", "1,99999999"], "no token 99999999"),
                            (["-p", "a", "--temperature", "-1"], "temperature"), (["-p", "a", "--top-p", "0"], "top-p"),
                            (["-p", "a", "--kv", "f64"], "--kv"), (["-p", "a", "--context", "99999999"], "context"),
                            (["-p", "a", "--isa", "abacus"], "abacus"), (["-p", "a", "--context", "-5"], "--context")]:
            self.assert_one_sentence(self.run_program("generate", "-m", model, *words, code=2), part)
        self.assert_one_sentence(self.run_program("generate", "-m", "none.gguf", "-p", "a", code=2), "none.gguf")
        bert = self.make("bert")
        self.assert_one_sentence(self.run_program("generate", "-m", bert, "--ids", "1", code=2), "bert")

    def test_a_damaged_model_is_one_sentence(self):
        model = self.make()
        whole = model.read_bytes()
        for length in [10, 3000, len(whole) - 40]:
            model.write_bytes(whole[:length])
            self.assert_one_sentence(self.run_program("generate", "-m", model, "-p", "a", code=2), model.name)
        model.write_bytes(whole.replace(b"\x05\x00\x00\x00\x00\x00\x00\x00llama", b"\x05\x00\x00\x00\x00\x00\x00\x00lemma", 1))
        self.assert_one_sentence(self.run_program("generate", "-m", model, "-p", "a", code=2), "lemma")


class Logits(Model):
    def test_devices_agree_and_rows_are_in_the_order_asked_for(self):
        model = self.make("llama", "--type", "F32", "--head", "F32")
        rows = {}
        for device in ["reference", "cpu"]:
            self.run_program("logits", "-m", model, "--ids", "1,2,3", "--positions", "all", "--device", device,
                             "--output", "l.bin")
            data = (self.path / "l.bin").read_bytes()
            rows[device] = struct.unpack(f"<{len(data) // 4}f", data)
        self.assertEqual(len(rows["cpu"]) % 3, 0)
        for one, other in zip(rows["cpu"], rows["reference"]):
            self.assertAlmostEqual(one, other, delta=1e-4)
        vocabulary = len(rows["cpu"]) // 3
        self.run_program("logits", "-m", model, "--ids", "1,2,3", "--positions", "2,0", "--output", "l.json")
        answer = json.loads((self.path / "l.json").read_text())
        self.assertEqual(answer["shape"], [2, vocabulary])
        self.assertAlmostEqual(answer["rows"][1][0], rows["cpu"][0], places=5)
        self.assertAlmostEqual(answer["rows"][0][0], rows["cpu"][2 * vocabulary], places=5)

    def test_values_that_are_no_numbers_are_written_with_a_warning(self):
        model = self.make("llama", "--type", "F32", "--head", "F32")
        data = bytearray(model.read_bytes())
        data[-64:-60] = struct.pack("<f", float("nan"))
        model.write_bytes(data)
        for device in ["reference", "cpu"]:
            done = self.run_program("logits", "-m", model, "--ids", "1,2", "--device", device, "--output", "l.bin")
            self.assertIn("values are not finite", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertTrue(math.isnan(struct.unpack("<f", (self.path / "l.bin").read_bytes()[:4])[0]))
        self.assert_one_sentence(self.run_program("generate", "-m", model, "--ids", "1", code=2), "finite")
        self.assert_one_sentence(self.run_program("perplexity", "-m", model, "some text here", code=2), "finite")

    def test_both_devices_read_i2s_in_the_layout_that_is_named(self):
        model = self.make("bitnet-b1.58", "--type", "I2_S", "--head", "I2_S")
        rows = {}
        for layout in ["guess", "x86-128", "arm-64"]:
            for device in ["reference", "cpu"]:
                done = self.run_program("logits", "-m", model, "--ids", "1,2", "--i2s-layout", layout, "--device", device,
                                        "--output", "l.bin")
                self.assertEqual(done.stderr, "")
                rows[layout, device] = (self.path / "l.bin").read_bytes()
        for device in ["reference", "cpu"]:
            self.assertEqual(rows["guess", device], rows["x86-128", device])
            self.assertNotEqual(rows["guess", device], rows["arm-64", device])

    def test_a_layout_that_cannot_be_told_is_warned_about(self):
        model = self.make("bitnet-b1.58", "--type", "I2_S")
        model.write_bytes(model.read_bytes().replace(b"trilobite.i2s_layout", b"trilobite.i2s_nothin", 1))
        done = self.run_program("logits", "-m", model, "--ids", "1", "--output", "l.bin")
        self.assertIn("--i2s-layout", done.stderr)
        done = self.run_program("logits", "-m", model, "--ids", "1", "--i2s-layout", "x86-128", "--output", "l.bin")
        self.assertEqual(done.stderr, "")
        self.assertIn("--i2s-layout", self.run_program("quantize", model, "o.gguf", "--type", "TQ2_0").stderr)
        arm = self.run_program("quantize", model, "o.gguf", "--type", "F32", "--i2s-layout", "arm-64")
        self.assertEqual(arm.stderr, "")

    def test_wrong_requests_are_one_sentence(self):
        model = self.make()
        for words, part in [(["--ids", "1", "--output", "l.txt"], ".bin or .json"),
                            (["--ids", "1", "--positions", "4", "--output", "l.bin"], "position 4"),
                            (["--ids", "", "--output", "l.bin"], "--ids"),
                            (["--ids", "1", "--output", "/proc/nowhere/l.bin"], "/proc/nowhere")]:
            self.assert_one_sentence(self.run_program("logits", "-m", model, *words, code=2), part)
        self.assertEqual([name for name in self.files() if name.startswith("l.")], [])


class Quantize(Model):
    def test_a_plan_gives_each_tensor_its_type(self):
        model = self.make("llama", "--type", "F32")
        plan = self.path / "plan.json"
        plan.write_text('{"default": "q4_0", "layers": [{"pattern": "*ffn_down*", "scheme": "q8_0"},'
                        ' {"pattern": "token_embd.*", "scheme": "fp16"}]}')
        self.run_program("quantize", model, "out.gguf", "--plan", plan)
        tensors = json.loads(self.run_program("inspect", "out.gguf", "--tensors", "--json").stdout)["tensors"]
        types = {tensor["name"]: tensor["type"] for tensor in tensors}
        self.assertEqual(types["blk.1.ffn_down.weight"], "Q8_0")
        self.assertEqual(types["token_embd.weight"], "F16")
        self.assertEqual(types["blk.0.attn_q.weight"], "Q4_0")
        self.assertEqual(types["blk.0.attn_norm.weight"], "F32")
        for text, part in [('{"default": "int4-g32"}', "int4-g32"), ('{"default": "q9"}', "q9"), ("{", "plan.json")]:
            plan.write_text(text)
            self.assert_one_sentence(self.run_program("quantize", model, "o.gguf", "--plan", plan, code=2), part)
        self.assert_one_sentence(self.run_program("quantize", model, "o.gguf", code=2), "--plan")
        self.assert_one_sentence(self.run_program("quantize", model, "o.gguf", "--plan", plan, "--type", "q4_0", code=2))


class Perplexity(Model):
    def test_the_answer_says_what_was_read(self):
        model = self.make()
        (self.path / "story.txt").write_text(STORY)
        read = self.run_program("perplexity", "-m", model, "story.txt").stdout
        self.assertIn("file story.txt", read)
        self.assertIn("text of the argument", self.run_program("perplexity", "-m", model, STORY).stdout)
        answers = [json.loads(self.run_program("perplexity", "-m", model, text, "--json").stdout) for text in ["story.txt", STORY]]
        self.assertEqual(answers[0]["source"], "file story.txt")
        self.assertEqual(answers[0]["perplexity"], answers[1]["perplexity"])

    def test_wrong_requests_are_one_sentence(self):
        model = self.make()
        for name in ["/nonexistent/file", "story.txt", "story/of"]:
            self.assert_one_sentence(self.run_program("perplexity", "-m", model, name, code=2), name)
        self.assert_one_sentence(self.run_program("perplexity", "-m", model, ".", code=2), "folder")
        self.assert_one_sentence(self.run_program("perplexity", "-m", model, STORY, "--max-tokens", "-1", code=2), "-1")

    def test_a_result_that_is_no_number_is_an_error(self):
        model = self.make("llama", "--type", "F32", "--head", "F32")
        whole = bytearray(model.read_bytes())
        whole[-64 * 4:] = struct.pack("<f", 1e38) * 64
        model.write_bytes(whole)
        for words in [[], ["--json"]]:
            self.assert_one_sentence(self.run_program("perplexity", "-m", model, STORY, *words, code=2), "not")


class Embed(Model):
    def test_texts_become_vectors(self):
        model = self.make("bert")
        answer = json.loads(self.run_program("embed", "-m", model, "a b c", "d", "--pooling", "mean", "--normalize").stdout)
        self.assertEqual(answer["shape"][0], 2)
        for row in answer["rows"]:
            self.assertAlmostEqual(sum(value * value for value in row), 1, places=5)

    def test_devices_agree_for_every_pooling(self):
        model = self.make("bert", "--type", "F32", "--embedding", "F32")
        for pooling in ["none", "mean", "cls"]:
            rows = []
            for device in ["reference", "cpu"]:
                answer = self.run_program("embed", "-m", model, "--ids", "2,5,9", "--pooling", pooling, "--device", device)
                rows.append(json.loads(answer.stdout)["rows"])
            self.assertEqual(len(rows[0]), 3 if pooling == "none" else 1)
            for one, other in zip(sum(rows[0], []), sum(rows[1], [])):
                self.assertAlmostEqual(one, other, delta=1e-4)

    def test_rows_of_several_texts_are_told_apart(self):
        model = self.make("bert")
        answer = json.loads(self.run_program("embed", "-m", model, "a", "a b c", "--pooling", "none").stdout)
        self.assertEqual(len(answer["rows_per_text"]), 2)
        self.assertEqual(sum(answer["rows_per_text"]), answer["shape"][0])
        self.assertLess(*answer["rows_per_text"])
        answer = json.loads(self.run_program("embed", "-m", model, "a", "a b c", "--pooling", "mean").stdout)
        self.assertEqual(answer["rows_per_text"], [1, 1])

    def test_a_name_that_is_not_utf8_does_no_harm(self):
        strange = os.fsencode(self.path) + b"/m\xff.gguf"
        os.rename(self.make("bert"), strange)
        answer = json.loads(self.run_program("embed", "-m", os.fsdecode(strange), "a").stdout)
        self.assertIn("\ufffd", answer["model"])
        os.rename(self.make("llama"), strange)
        self.run_program("logits", "-m", os.fsdecode(strange), "--ids", "1,2", "--output", "o.json")
        self.assertIn("\ufffd", json.loads((self.path / "o.json").read_text())["model"])

    def test_wrong_requests_are_one_sentence(self):
        model = self.make("bert")
        self.assert_one_sentence(self.run_program("embed", "-m", model, code=2), "nothing to embed")
        self.assert_one_sentence(self.run_program("embed", "-m", model, "a", "--ids", "1", code=2), "not both")
        llama = self.make("llama")
        self.assert_one_sentence(self.run_program("embed", "-m", llama, "--ids", "1", code=2), "llama")


@unittest.skipUnless((DATA / "weights").is_dir(), f"no real weights in {DATA}; TRILOBITE_TEST_DATA names their folder")
class RealWeights(Program):
    MODEL = DATA / "weights" / "stories260K" / "stories260K.f32.gguf"
    FORMS = DATA / "golden" / "models"

    def test_the_blank_between_the_prompt_and_the_first_word_stays(self):
        words = ["generate", "-m", DATA / "golden/models/stories260K.F32.gguf", "-p", "Once upon a", "-n", "4", "--greedy"]
        self.assertTrue(self.run_program(*words).stdout.startswith("Once upon a time"))
        self.assertTrue(json.loads(self.run_program(*words, "--json").stdout)["text"].startswith(" time"))

    def test_stories260k_tells_its_story(self):
        done = self.run_program("generate", "-m", self.MODEL, "-p", "", "-n", "40", "--greedy")
        self.assertTrue(done.stdout.strip().startswith(STORY), done.stdout)

    def test_a_continuation_begins_with_its_blank(self):
        words = ["generate", "-m", self.MODEL, "-p", "Once upon a", "-n", "3", "--greedy"]
        self.assertEqual(self.run_program(*words).stdout, "Once upon a time, there\n")
        self.assertEqual(json.loads(self.run_program(*words, "--json").stdout)["text"], " time, there")

    def test_perplexity_hardly_changes_when_weights_are_quantized(self):
        text = STORY + " One day, she saw a big, red ball. She wanted to play with it, but it was too high."
        def perplexity(model):
            return json.loads(self.run_program("perplexity", "-m", model, text, "--json").stdout)
        exact = perplexity(self.MODEL)
        for form in ["F32", "F16", "BF16", "Q8_0", "Q4_0"]:
            other = perplexity(self.FORMS / f"stories260K.{form}.gguf")
            self.assertLess(other["low"], exact["perplexity"], form)
            self.assertGreater(other["high"], exact["perplexity"], form)
            if form.startswith("F"):
                self.assertAlmostEqual(other["perplexity"], exact["perplexity"], delta=0.01)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
