#!/usr/bin/env bash
# Sets up missing parts: packages, sources, NCCL, ns-3, Drydock itself. See --help.
# run_pipeline.sh and run_tests.sh source it and call set_up. A step is skipped if its inputs did not change; an
# interrupted step continues where it stopped.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

setup_options=(--nccl-archive --ns3-archive --jobs)
declare -A own_archive=([NCCL]='' [NS3]='')
jobs=''
# Every command of README.md.
tool_targets=(drydock workload-gen simccl compute-sim exec-engine report collective-perf nccl-record drydock-sweep drydock-search
  drydock-goodput drydock-capture hackcuda_libraries drydock_commit)

setup_options_help() {
  cat <<'TEXT'
Set-up, which runs when something is missing (log files in .deps/log):
  --nccl-archive FILE      use this copy of NCCL's source instead of fetching it (checked by hash)
  --ns3-archive FILE       the same for ns-3
  --jobs N                 compilers that run in parallel (default: one per core, as far as memory allows)
TEXT
}

# take_setup_option NAME VALUE: records one of setup_options.
take_setup_option() {
  case $1 in
    --nccl-archive) own_archive[NCCL]=$2 ;;
    --ns3-archive) own_archive[NS3]=$2 ;;
    --jobs)
      [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "--jobs needs a number from 1, not '$2'"
      jobs=$2
      ;;
  esac
}

# Returns the number of cores, or less if memory is short: one compiler needs up to 1.5 GB.
default_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1500000)}' /proc/meminfo)
  ((memory < 1)) && memory=1
  echo $((cores < memory ? cores : memory))
}

# The lists of packages to install, and the file that tells when they were.
package_lists=("$root/scripts/packages.txt")
packages_stamp=$deps/stamp/packages

packages_up_to_date() { up_to_date "$packages_stamp" "${package_lists[@]}" /var/lib/dpkg/status; }

set_up_packages() {
  local missing
  packages_up_to_date && return
  missing=$("$root/scripts/install_packages.sh" --missing "${package_lists[@]}") || fail "cannot list the installed packages; see above"
  if [[ -n $missing ]]; then
    # A step has no terminal, so sudo asks for a password here.
    if ((EUID != 0)) && [[ -t 0 ]] && command -v sudo >/dev/null; then sudo -v || true; fi
    step packages "installing $(wc -l <<<"$missing") packages" "$root/scripts/install_packages.sh" "${package_lists[@]}"
  fi
  touch "$packages_stamp"
}

# The pinned sources: product in .deps and what it is built from, besides third_party/NAME.
declare -A product_of=([nccl]=nccl/libhacknccl.so [ns3]=ns3/lib/cmake/ns3/ns3Config.cmake)
nccl_inputs=("$root/patches/nccl" "$root/simccl/hacknccl" "$root"/core/nccl/hacknccl*.h
  "$root/core/nccl/recording.h" "$root/core/nccl/rank_schedule.h" "$root/core/containers/hash.h")
ns3_inputs=()

# source_up_to_date FOLDER
source_up_to_date() {
  declare -n inputs_of=$1_inputs
  [[ -e $deps/${product_of[$1]} ]] &&
    up_to_date "$deps/stamp/$1" "$root/third_party/versions.sh" "$root/third_party/$1" "${inputs_of[@]}"
}

# set_up_source KEY FOLDER TITLE: fetches a pinned source, builds it with third_party/FOLDER/build.sh.
set_up_source() {
  local key=$1 name=$2 title=$3 product=$deps/${product_of[$2]} stamp=$deps/stamp/$2
  if [[ -z ${own_archive[$key]} ]] && source_up_to_date "$name"; then return; fi
  declare -n pin=$key
  step "fetch-$name" "source of $title" "$root/scripts/fetch_source.sh" "$key" "${own_archive[$key]}"
  step "build-$name" "building $title" \
    "$root/third_party/$name/build.sh" "$deps/downloads/${pin[file]}" "$deps/$name" "$jobs"
  [[ -e $product ]] || fail "third_party/$name/build.sh succeeded but made no $product"
  touch "$stamp"
}

# configured_here TREE: true if TREE was configured from this tree, by whatever path.
configured_here() {
  local home
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$1/CMakeCache.txt" 2>/dev/null) || return 1
  [[ -n $home && $home -ef $root && -f $1/build.ninja ]]
}

# build_up_to_date PRESET TARGET...
build_up_to_date() {
  local tree=$root/build/$1
  shift
  configured_here "$tree" && [[ $(ninja -C "$tree" -n "$@" 2>&1 | tail -n 1) == "ninja: no work to do." ]]
}

# set_up_build PRESET TARGET...: configures and builds targets that are out of date.
set_up_build() {
  local tree=$root/build/$1 options=() preset=$1
  if ! configured_here "$tree"; then
    rm -rf "$tree" # never configured, interrupted, or the folder was moved
    command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    step "configure-$preset" "configuring Drydock ($preset)" cmake -S "$root" --preset "$preset" "${options[@]}"
  fi
  build_up_to_date "$@" && return
  shift
  step "build-$preset" "building Drydock ($preset)" ninja -C "$tree" -j "$jobs" "$@"
}

# is_set_up PRESET TARGET...: true if nothing is missing. It writes nothing, so a tree that cannot be written can be used.
is_set_up() {
  [[ -z ${own_archive[NCCL]}${own_archive[NS3]} ]] || return 1
  packages_up_to_date || [[ -z $("$root/scripts/install_packages.sh" --missing "${package_lists[@]}" 2>&1) ]] || return 1
  source_up_to_date nccl && source_up_to_date ns3 && build_up_to_date "$@"
}

# set_up PRESET TARGET...: runs all steps. A second set-up in the same folder waits for the first.
set_up() {
  local folder
  [[ -n $jobs ]] || jobs=$(default_jobs)
  ! is_set_up "$@" || return 0
  for folder in "$root" "$deps" "$root/build" "$root/build/$1"; do
    [[ ! -e $folder || -w $folder ]] || fail "something is missing or out of date, but $folder cannot be written"
  done
  # shellcheck source=third_party/versions.sh
  source "$root/third_party/versions.sh"
  mkdir -p "$deps/stamp"
  exec 9>"$deps/lock"
  flock -n 9 || { say "another set-up is running in $root; waiting for it"; flock 9; }
  set_up_packages
  set_up_source NCCL nccl "NCCL ${NCCL[version]%-*}"
  set_up_source NS3 ns3 "ns-3 ${NS3[version]%-*}"
  set_up_build "$@"
  exec 9>&-
}

print_help() {
  cat <<TEXT
setup.sh: installs and builds what Drydock needs, then Drydock itself; skips steps that are up to date

Usage:
  scripts/setup.sh [options]

$(setup_options_help)
  --help                   this text

Exit status:
  0 ready, 1 a part cannot be fetched or built (the message names it), 2 wrong usage, 130 interrupted

Example:
  scripts/setup.sh --nccl-archive ~/nccl-2.29.7-1.tar.gz
TEXT
}

main() {
  while (($# > 0)); do
    case $1 in
      --help | -h)
        print_help
        exit 0
        ;;
      --nccl-archive | --ns3-archive | --jobs)
        (($# > 1)) || usage_error "$1 needs a value"
        take_setup_option "$1" "$2"
        shift
        ;;
      *) usage_error "unknown argument '$1'$(did_you_mean "$1" "${setup_options[@]}" --help)" ;;
    esac
    shift
  done
  set_up release "${tool_targets[@]}"
  say "Drydock is ready."
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || main "$@"
