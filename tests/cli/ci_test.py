#!/usr/bin/env python3
"""`trilobite ci` on a small git repository whose benchmark program is the example of the step protocol, and a server that
speaks as much of GitHub's API as it needs. Usage: ci_test.py TRILOBITE SOURCE_DIR"""
import http.server
import json
import os
import re
import subprocess
import threading
import time
import unittest
import xml.etree.ElementTree

from program import PROGRAM, SOURCE, Program

TOKEN = "ghp_s3cret0123456789"
BUILD = {"--build-command": "cc -O1 -o bench bench.c && cc --version", "--program": "bench"}


class GitHubServer:
    """Keeps comments and issues; `status` other than 200 refuses everything."""

    def __init__(self):
        self.comments, self.issues, self.requests, self.status = {}, [], [], 200
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                server.requests.append((self.command, self.path, self.headers.get("Authorization"), body))
                reply = json.dumps(server.reply(self.command, self.path.split("?")[0], body)).encode()
                self.send_response(server.status)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()

    def reply(self, method, path, body):
        if self.status != 200:
            return {"message": "Bad credentials: " + TOKEN if self.status == 401 else "Resource not accessible"}
        path = path.removeprefix("/repos/owner/name/")
        if method == "GET":
            return self.issues if path == "issues" else [{"id": key, **value} for key, value in self.comments.items()]
        if method == "PATCH":
            self.comments[int(path.split("/")[-1])] = body
        elif path == "issues":
            self.issues.append({"number": 70 + len(self.issues), **body})
        else:
            self.comments[500 + len(self.comments)] = body
        return {}

    def environment(self):
        return {"GITHUB_API_URL": f"http://127.0.0.1:{self.http.server_address[1]}", "GITHUB_TOKEN": TOKEN,
                "GITHUB_REPOSITORY": "owner/name", "no_proxy": "127.0.0.1"}

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


class Ci(Program):
    """The repository has the tags plain, slow (60 % more work) and broken (does not compile)."""

    def setUp(self):
        super().setUp()
        source = (SOURCE / "examples/step_protocol/step_example.c").read_text()
        slow = re.sub(r"const double extra_percent = [^;]*;", "const double extra_percent = 60;", source)
        self.assertNotEqual(source, slow)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "test")
        self.git("config", "user.email", "test@example.org")
        for tag, text in [("slow", slow), ("broken", "this is not C\n"), ("plain", source)]:
            (self.path / "bench.c").write_text(text)
            self.git("add", "bench.c")
            self.git("commit", "--quiet", "-m", f"the {tag} <b>one</b>")
            self.git("tag", tag)

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.path, check=True, capture_output=True, text=True).stdout

    def ci(self, *words, code=0, env=None):
        # Temporary folders inside of ours, so that we see what is left behind.
        (self.path / "tmp").mkdir(exist_ok=True)
        how = [word for flag, value in BUILD.items() if flag not in words for word in (flag, value)]
        done = self.run_program("ci", "--time", "20s", *how, *words, code=code,
                                env={"TMPDIR": str(self.path / "tmp"), "GITHUB_TOKEN": "", **(env or {})})
        self.assertNotIn(TOKEN, done.stdout + done.stderr)
        self.assertEqual(self.git("worktree", "list").count("\n"), 1)
        self.assertEqual(list((self.path / "tmp").iterdir()), [])
        return done

    def failed(self, *words, code=2, env=None):
        """The last line is the one sentence; the lines before say what was being done."""
        done = self.ci(*words, code=code, env=env)
        lines = [line for line in done.stderr.splitlines() if not line.startswith(("building ", "comparing"))]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("trilobite: "), done.stderr)
        return lines[0]

    def answer(self, folder="results/ci"):
        return json.loads((self.path / folder / "ci.json").read_text())


class Comparison(Ci):
    def test_a_slower_head_fails_and_every_file_says_so(self):
        done = self.ci("--base", "plain", "--head", "slow", "--output", "out", code=1)
        answer = self.answer("out")
        self.assertEqual((answer["schema"], answer["status"]), ("trilobite.ci/1", "critical"))
        self.assertEqual(answer["base"]["commit"], self.git("rev-parse", "plain").strip())
        self.assertEqual(answer["ab"]["verdicts"][0]["benchmark"], "example/sum")
        self.assertEqual(answer["ab"]["verdicts"][0]["answer"], "regressed")
        self.assertGreater(answer["ab"]["verdicts"][0]["change"], 0.3)
        markdown = (self.path / "out/ci.md").read_text()
        self.assertEqual(markdown, done.stdout)
        self.assertIn("| example/sum | **critical** |", markdown)
        self.assertIn("&lt;b>one", markdown)
        suite = xml.etree.ElementTree.parse(self.path / "out/ci.xml").getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        self.assertEqual(suite[0][0].get("type"), "critical")
        self.assertTrue((self.path / "out/base-build.log").read_text())

    def test_a_faster_head_passes_and_the_work_folder_is_left_clean(self):
        self.ci("--base", "slow", "--work", "work", "--filter", "sum")
        self.assertEqual(self.answer()["ab"]["verdicts"][0]["answer"], "improved")
        self.assertFalse((self.path / "work/base").exists() or (self.path / "work/head").exists())


class DefaultBuild(Ci):
    """Without --build-command: CMake into build/run, by the preset of that name where the project has one."""

    def commit(self, files):
        for name, text in files.items():
            (self.path / name).write_text(text)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "built with CMake")
        self.git("tag", "cmake")

    def build(self, log_says):
        listing = "cmake_minimum_required(VERSION 3.25)\nproject(tiny C)\nadd_executable(tiny_bench bench.c)\n"
        self.commit({"CMakeLists.txt": listing, **self.presets, ".gitignore": "build/\ntmp/\n"})
        (self.path / "tmp").mkdir()
        done = self.run_program("ci", "--base", "cmake", "--program", "build/run/tiny_bench", "--time", "1s", "--threshold", "0.5", "--output",
                                "build/out",
                                env={"TMPDIR": str(self.path / "tmp"), "CCACHE_DIR": str(self.path / "build/ccache")})
        verdicts = self.answer("build/out")["ab"]["verdicts"]
        self.assertEqual([one["benchmark"] for one in verdicts], ["example/sum"], done.stdout)
        self.assertEqual(self.git("worktree", "list").count("\n"), 1)
        for side in ["base", "head"]:
            self.assertIn(log_says, (self.path / f"build/out/{side}-build.log").read_text())

    def test_a_project_without_presets(self):
        self.presets = {}
        self.build("build/run")

    def test_a_project_with_the_preset(self):
        self.presets = {"CMakePresets.json": json.dumps({"version": 6, "configurePresets": [
            {"name": "run", "binaryDir": "${sourceDir}/build/run", "cacheVariables": {"FROM_THE_PRESET": "ON"}}]})}
        self.build("FROM_THE_PRESET")


class Mistakes(Ci):
    def test_revisions_and_paths(self):
        self.assertIn("--base: 'nothing' is no revision", self.failed("--base", "nothing"))
        self.assertIn("--head: '--all' is no revision", self.failed("--base", "plain", "--head=--all"))
        self.assertIn("inside the tree", self.failed("--base", "plain", "--program", "../bench"))
        self.assertIn("inside the tree", self.failed("--base", "plain", "--program", "/bin/true"))
        (self.path / "work/base").mkdir(parents=True)
        self.assertIn("exists already", self.failed("--base", "plain", "--work", "work"))

    def test_uncommitted_changes_are_not_left_out_silently(self):
        (self.path / "bench.c").write_text("changed\n")
        self.assertIn("not committed", self.failed("--base", "plain"))

    def test_outside_of_a_repository(self):
        done = self.run_program("ci", "--base", "plain", code=2,
                                env={"GIT_CEILING_DIRECTORIES": "/", "GIT_DIR": str(self.path / "none")})
        self.assert_one_sentence(done, "not in the working tree of a git repository")

    def test_a_build_that_fails_names_its_log(self):
        sentence = self.failed("--base", "broken", "--output", "out")
        self.assertIn("base", sentence)
        self.assertIn("out/base-build.log", sentence)
        self.assertIn("error", (self.path / "out/base-build.log").read_text())
        self.assertIn("head", self.failed("--base", "plain", "--head", "broken"))
        self.assertIn("left no program nowhere", self.failed("--base", "plain", "--program", "nowhere"))
        self.assertIn("too long", self.failed("--base", "plain", "--build-command", "sleep 60", "--build-timeout", "200ms"))

    def test_an_interrupted_build_leaves_nothing_behind(self):
        running = subprocess.Popen([PROGRAM, "ci", "--base", "plain", "--work", "work", "--program", "bench", "--build-command",
                                    "touch ../started; sleep 60"], cwd=self.path, stderr=subprocess.PIPE, text=True)
        for _ in range(1000):
            if (self.path / "work/started").exists():
                break
            time.sleep(0.01)
        running.terminate()
        _, errors = running.communicate(timeout=20)
        self.assertEqual(running.returncode, 130, errors)
        self.assertFalse((self.path / "work/base").exists())
        self.assertEqual(self.git("worktree", "list").count("\n"), 1)

    def test_no_benchmark_matches(self):
        self.assertIn("no benchmark", self.failed("--base", "plain", "--filter", "nothing like it"))


class GitHub(Ci):
    def setUp(self):
        super().setUp()
        self.server = GitHubServer()
        self.addCleanup(self.server.close)

    def test_the_comment_is_renewed_and_the_issue_raised_once(self):
        words = ["--base", "plain", "--head", "slow", "--comment", "7", "--issue-on-critical",
                 "--build-command", 'test -z "$GITHUB_TOKEN" && cc -O1 -o bench bench.c']
        for _ in range(2):
            self.ci(*words, code=1, env=self.server.environment())
        self.assertEqual({request[2] for request in self.server.requests}, {"Bearer " + TOKEN})
        self.assertIn("/repos/owner/name/issues/7/comments", [request[1] for request in self.server.requests])
        self.assertEqual(len(self.server.issues), 1)
        self.assertEqual(self.server.issues[0]["labels"], ["performance-regression"])
        self.assertIn("1 regressed (worst +", self.server.issues[0]["title"])
        texts = [comment["body"] for comment in self.server.comments.values()]
        self.assertEqual(sum(text.startswith("<!-- trilobite ci -->\n## Performance: critical") for text in texts), 1)
        self.assertEqual(len(texts), 2)  # the second critical run comments on the issue
        self.assertEqual([request[0] for request in self.server.requests].count("PATCH"), 1)

    def test_a_refusal_is_told_without_the_token(self):
        words = ["--base", "slow", "--head", "plain", "--comment", "7"]
        self.server.status = 401
        self.assertIn("the server answered 401", self.failed(*words, code=3, env=self.server.environment()))
        environment = {**self.server.environment(), "GITHUB_REPOSITORY": ""}
        self.assertIn("GITHUB_REPOSITORY", self.failed(*words, code=3, env=environment))
        self.assertIn("GITHUB_TOKEN", self.failed(*words, code=3, env={"GITHUB_REPOSITORY": "owner/name"}))


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    unittest.main(argv=["ci_test.py", "--verbose"])
