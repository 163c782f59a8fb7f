#!/usr/bin/env python3
"""Fails when a module under src/ (or benchmarks/) includes a module that it must not know (docs/architecture.md), or writes
JSON by itself: what is not UTF-8 throws unless base/json.hpp does it."""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "base": "",
    "tensor": "base",
    "quant": "base",
    "gguf": "base",
    "tokenizer": "base gguf",
    "modelfile": "base quant gguf",
    "fixtures": "base quant gguf modelfile",
    "kernels": "base tensor quant",
    "device": "base tensor quant kernels",
    "model": "base tensor quant gguf modelfile tokenizer kernels",
    "stats": "base",
    "record": "base",
    "measure": "base record",
    "harness": "base stats record measure",
    "notify": "base",
    "store": "base record",
    "verdict": "base stats record",
    "report": "base stats record verdict",
}
MAY_INCLUDE["cli"] = " ".join(MAY_INCLUDE)
PUBLIC = {"trilobite"}  # include/trilobite: everybody may use the installed headers


def main(root: pathlib.Path) -> int:
    wrong = []
    for module, allowed in MAY_INCLUDE.items():
        for path in sorted((root / "src" / module).rglob("*.[ch]pp")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = re.match(r'\s*#include "([a-z_]+)/', line)
                if found and found[1] not in {module, *allowed.split(), *PUBLIC} and (root / "src" / found[1]).is_dir():
                    wrong.append(f"{path.relative_to(root)}:{number}: {module} must not know {found[1]}")
    for path in sorted([*(root / "src").rglob("*.cpp"), *(root / "benchmarks").rglob("*.cpp")]):
        # The tokenizer quotes what it has parsed, which is UTF-8.
        if path == root / "src/base/json.cpp" or path.stem.endswith("_test") or path.parent.name == "tokenizer":
            continue
        wrong += [f"{path.relative_to(root)}:{number}: JSON becomes text by json_line or json_document (base/json.hpp)"
                  for number, line in enumerate(path.read_text().splitlines(), 1) if re.search(r"\.dump\(", line)]
    modules = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    wrong += [f"src/{module}: is missing from the table in tools/check_layers.py" for module in modules - set(MAY_INCLUDE)]
    for path in sorted((root / "include" / "trilobite").glob("*.hpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r'\s*#include "(?!trilobite/)|\s*#include <[a-z]+/', line):
                wrong.append(f"{path.relative_to(root)}:{number}: installed headers include std and each other only")
    print("\n".join(wrong) or f"{len(modules)} modules include only what they may")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parent.parent))
