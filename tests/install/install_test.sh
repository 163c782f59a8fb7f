#!/usr/bin/env bash
# Installs the package into an empty prefix, builds the consumer against it, runs it and looks at the record.
# Usage: install_test.sh BUILD_DIR SOURCE_DIR CXX
set -euo pipefail
build=$1 source=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$source/tests/install/consumer" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
cmake --build "$work/build"
cd "$work"
"$work/build/my_bench" accumulate --measurement-time 20ms --warm-up-time 5ms --no-limits --output "$work/record.json"
"$work/prefix/bin/trilobite" inspect "$work/record.json" | tee "$work/inspected"
grep -q "benchmarks 3, 3 ok" "$work/inspected"
