# Sourced by ./run and ./test: says what it does, installs what is missing, configures and builds.
# shellcheck shell=bash

# Compilations are shared between checkouts: ccache sees paths relative to this one.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() {
  printf 'trilobite: %s\n' "$*" >&2
  exit 3
}

# install_packages build [test]: the groups of tools/packages.txt that must be present.
install_packages() {
  local wanted missing=() package
  wanted=$(awk -v groups=" $* " '!/^#/ && NF == 2 && index(groups, " " $1 " ") { print $2 }' tools/packages.txt)
  command -v dpkg-query >/dev/null || {
    say "this is no Debian system: taking for granted that these are installed:" $wanted
    return
  }
  for package in $wanted; do
    # OpenBLAS has several builds that stand in for each other.
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "installing from Debian: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing and need root to install: ${missing[*]}"
    as_root=(sudo)
  fi
  export DEBIAN_FRONTEND=noninteractive
  if ! "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/tmp/trilobite-apt.log 2>&1; then
    # The package lists may be missing or old.
    "${as_root[@]}" apt-get update -qq >>/tmp/trilobite-apt.log 2>&1 || true
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >>/tmp/trilobite-apt.log 2>&1 ||
      die "apt-get could not install ${missing[*]}; its output is in /tmp/trilobite-apt.log"
  fi
}

# build PRESET [cmake options...]: configures and builds with ccache, quietly; the log is shown on failure.
build() {
  local preset=$1 log=build/$1.log
  shift
  mkdir -p build
  say "building ($preset)"
  if ! { cmake --preset "$preset" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@" &&
         cmake --build --preset "$preset" --parallel "$(nproc)"; } >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "the build '$preset' failed; the whole log is in $log"
  fi
}
