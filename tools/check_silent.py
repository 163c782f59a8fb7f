#!/usr/bin/env python3
"""Fails when a library prints or exits: only programs may. Usage: check_silent.py LIBRARY..."""
import re
import subprocess
import sys

# TRILOBITE_CHECK aborts by design; logging goes through spdlog, which is not our code.
FORBIDDEN = re.compile(r"^(exit|_exit|quick_exit|printf|puts|putchar|fprintf|vprintf|std::cout|std::cerr|fmt::v\d+::vprint\(.*)$")
# The child of an isolated run must leave without running the parent's destructors.
ALLOWED = {("child_process.cpp.o", "_exit"), ("step_server.cpp.o", "_exit")}


def main(libraries: list[str]) -> int:
    wrong = []
    for library in libraries:
        listing = subprocess.run(["nm", "-C", "-A", "--undefined-only", library], capture_output=True, text=True, check=True)
        for line in listing.stdout.splitlines():
            found = re.match(r"^\S*?:?([^:\s]+\.o):\s+U (.+)$", line)
            if not found:
                continue
            symbol = found[2].split("@")[0]
            if FORBIDDEN.match(symbol) and (found[1], symbol) not in ALLOWED:
                wrong.append(f"{library}: {found[1]} uses {symbol}")
    print("\n".join(wrong) or f"{len(libraries)} libraries neither print nor exit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
