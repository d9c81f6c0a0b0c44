#!/usr/bin/env bash
# Predicts everything published that the product is checked against, and writes docs/explanation/validation.md. See --help.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

print_help() {
  cat <<TEXT
run_validation.sh: predicts published training runs, collectives and kernels, and writes docs/explanation/validation.md

Usage:
  ./run_validation.sh [SOURCE...] [options]
  ./run_validation.sh --list [--network KIND]

SOURCE is a file of tests/validation/training/ without suffix; without one, training runs of all of them are run.

Options:
  --most-gpus N            run no training runs on more GPUs, which take hours
  --minutes N              begin nothing after N minutes; what is running then ends first
  --network KIND           of the training runs: analytical (default) or another one that run_pipeline.sh takes
  --list                   which training runs are known and what they took; runs nothing
$(setup_options_help | sed '1d')
  --help                   this text

Files:
  Records: tests/validation/training/, collectives.csv, kernels-*.csv there. What was predicted is kept in
  runs/validation/kept and not predicted again from the same tools and configs: the page can be made piece by piece, and has
  all that is known. Training runs that are not say so on the page.

Exit status:
  0 nothing is worse than its limit, 1 something is, or the build failed, 2 wrong usage, 130 interrupted

Example:
  ./run_validation.sh --most-gpus 256 --minutes 30
TEXT
}

network=analytical
words=()

take_option() {
  case $1 in
    --network) network=$2 ;;
    --most-gpus | --minutes)
      [[ $2 =~ ^[0-9]{1,7}$ && ($1 == --minutes || $2 != 0) ]] || usage_error "$1 needs a number, not '$2'"
      words+=("$1" "$2")
      ;;
    *) take_setup_option "$1" "$2" ;;
  esac
}

while (($# > 0)); do
  case $1 in
    --help | -h)
      print_help
      exit 0
      ;;
    --list) words+=(--list) ;;
    --network | --most-gpus | --minutes | --nccl-archive | --ns3-archive | --jobs)
      (($# > 1)) || usage_error "$1 needs a value"
      take_option "$1" "$2"
      shift
      ;;
    -*)
      usage_error "unknown option '$1'$(
        did_you_mean "$1" --network --most-gpus --minutes --list "${setup_options[@]}" --help
      )"
      ;;
    *)
      sources=("$root"/tests/validation/training/*.csv)
      sources=("${sources[@]##*/}")
      sources=("${sources[@]%.csv}")
      [[ " ${sources[*]} " == *" $1 "* ]] ||
        usage_error "no source is called '$1'$(did_you_mean "$1" "${sources[@]}"); there are ${sources[*]}"
      words+=("$1")
      ;;
  esac
  shift
done
set_up release
run_group python3 "$root/tests/validation/scoreboard.py" --bin "$root/build/release/bin" \
  --out "$root/runs/validation" --docs "$root/docs" --network "$network" --jobs "${jobs:-$(default_jobs)}" "${words[@]}"
