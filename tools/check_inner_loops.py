#!/usr/bin/env python3
"""Fails when the inner loops that decide about speed keep sums in memory: no loop full of products stores a vector on the stack.

A compiler may come to do that after a change somewhere else, which costs up to half the speed and fails no other test.
Usage: check_inner_loops.py PROGRAM
"""
import re
import subprocess
import sys
from dataclasses import dataclass

# Loops with fewer products than this are not the ones that time is spent in.
FEWEST_PRODUCTS = 8
PRODUCT = re.compile(r"^(vpmaddubsw|vpdpbusd|vfmadd\w+ps)\b")
STORE_ON_STACK = re.compile(r"^vmov\w+\s+%[xyz]mm\d+,-?(0x[0-9a-f]+)?\(%r[sb]p\b")
FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(.*)$")
JUMP = re.compile(r"^j\w+\s+([0-9a-f]+)\b")
TARGETS = ("AVX2", "AVX3", "AVX3_DL")
# Not among them because they do store vectors: 6 and 8 bits on AVX2, 8 bits on AVX3, and two to four tokens of most formats.
IN_REGISTERS = {
    "ternary, many tokens": r"Product<.*TwoBits.*::many_tokens",
    "ternary, one token": r"Product<.*TwoBits.*::few_tokens<1ul>",
    "ternary, where it lies in the file": r"multiply_ternary(_rows)?<.*Tq2Chunks",
    "4 bits, many tokens": r"Panel<.*ScaledGroups<.*FourBits.*::many_tokens",
    "4 bits, one token": r"Panel<.*ScaledGroups<.*FourBits.*::few_tokens<1ul>",
    "f32": r"::multiply_for_target\(.*PanelProduct",
}


@dataclass
class Loop:
    products: int
    stores: int


def kernel_of(function):
    """(target, kernel) of a function that is looked at, or None."""
    for target in TARGETS:
        if f"kernels::N_{target}::" in function:
            return next(((target, kernel) for kernel, pattern in IN_REGISTERS.items() if re.search(pattern, function)), None)
    return None


def functions(program):
    """The kernels, each with (address, text) of its instructions."""
    command = ["objdump", "-d", "-C", "--no-show-raw-insn", "--section=.text", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as objdump:
        kernel, body = None, []
        for line in objdump.stdout:
            if start := FUNCTION.match(line):
                if kernel:
                    yield kernel, body
                kernel, body = kernel_of(start[2]), []
            elif kernel and (found := INSTRUCTION.match(line)):
                body.append((int(found[1], 16), found[2].strip()))
        if kernel:
            yield kernel, body
    if objdump.returncode != 0:
        sys.exit(f"objdump cannot read {program}")


def innermost_loops(body):
    """From the target of a jump backwards to the jump, when no other such loop lies between."""
    index_of = {address: index for index, (address, _) in enumerate(body)}
    last_begin = -1
    for end, (_, text) in enumerate(body):
        jump = JUMP.match(text)
        begin = index_of.get(int(jump[1], 16)) if jump else None
        if begin is None or not last_begin < begin <= end:
            continue
        last_begin = begin
        inside = [instruction for _, instruction in body[begin:end]]
        yield Loop(sum(bool(PRODUCT.match(i)) for i in inside), sum(bool(STORE_ON_STACK.match(i)) for i in inside))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = []
    unseen = {(target, kernel) for target in TARGETS for kernel in IN_REGISTERS}
    for kernel, body in functions(sys.argv[1]):
        for loop in innermost_loops(body):
            if loop.products < FEWEST_PRODUCTS:
                continue
            unseen.discard(kernel)
            if loop.stores:
                wrong.append(f"{kernel[0]}, {kernel[1]}: {loop.stores} stores on the stack beside {loop.products} products")
    wrong += [f"{target}, {kernel}: no loop was found; were functions renamed?" for target, kernel in sorted(unseen)]
    print("\n".join(wrong) or f"{len(TARGETS) * len(IN_REGISTERS)} kernels keep their sums in registers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
