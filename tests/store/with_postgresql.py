#!/usr/bin/env python3
"""Runs a command with its own PostgreSQL server, whose URL is in TRILOBITE_TEST_POSTGRESQL. Usage: with_postgresql.py COMMAND...

The server listens on a free port of the loopback interface, keeps its data in a temporary folder and is stopped
afterwards. It refuses to run as root, so root hands it to the user nobody. Exit code 77: its programs are missing."""
import glob
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time


def find_programs():
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True):
        if pathlib.Path(folder, "initdb").exists() and pathlib.Path(folder, "postgres").exists():
            return pathlib.Path(folder)
    found = shutil.which("initdb")
    return pathlib.Path(found).parent if found and shutil.which("postgres") else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(server, port):
    for _ in range(300):
        if server.poll() is not None:
            raise SystemExit("the PostgreSQL server ended before it was ready")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the PostgreSQL server was not ready within 30 s")


def main(command):
    programs = find_programs()
    if programs is None:
        print("skipped: no PostgreSQL server here (Debian: apt-get install postgresql)")
        return 77
    with tempfile.TemporaryDirectory(prefix="trilobite-pg-") as folder:
        user = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        data = os.path.join(folder, "data")
        options = {"cwd": folder, "stdout": subprocess.DEVNULL, **user}
        subprocess.run([programs / "initdb", "-D", data, "-U", "trilobite", "-A", "trust", "-E", "UTF8", "--no-sync",
                        "--locale=C"], check=True, **options)
        port = free_port()
        server = subprocess.Popen([programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", folder,
                                   "-c", "fsync=off"], stderr=subprocess.DEVNULL, **options)
        try:
            wait_until_ready(server, port)
            url = f"postgresql://trilobite@127.0.0.1:{port}/postgres"
            return subprocess.run(command, env={**os.environ, "TRILOBITE_TEST_POSTGRESQL": url}).returncode
        finally:
            server.terminate()
            server.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
