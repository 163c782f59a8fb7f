#!/usr/bin/env bash
# Opens reports in headless Chromium. Usage: run.sh TRILOBITE SOURCE_DIR WORK_DIR. Exit code 77: something is missing, and what.
set -euo pipefail
program=$1 source=$2/tests/browser work=$3
skip() {
  echo "skipped: $*"
  exit 77
}
command -v chromium >/dev/null || skip "there is no chromium (Debian package chromium)"
command -v node >/dev/null && command -v npm >/dev/null || skip "there is no node or npm (Debian packages nodejs and npm)"
mkdir -p "$work"
cp "$source/package.json" "$source/package-lock.json" "$work/"
if ! cmp -s "$work/package-lock.json" "$work/installed"; then
  (cd "$work" && npm ci --no-audit --no-fund >npm.log 2>&1) || skip "npm could not install the packages of tests/browser: $(tail -n 1 "$work/npm.log")"
  cp "$work/package-lock.json" "$work/installed"
fi
cp "$source"/*.mjs "$work/"
cd "$work"
TRILOBITE=$program exec node --test report_test.mjs
