#!/usr/bin/env bash
# Predicts the published results that validate Drydock, and writes docs/explanation/validation.md. See --help.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

print_help() {
  cat <<TEXT
run_validation.sh: predicts published training runs, collectives and kernels, and writes docs/explanation/validation.md

Usage:
  ./run_validation.sh [SOURCE...] [options]
  ./run_validation.sh --list [--network KIND]

SOURCE is a file of tests/validation/training/ without suffix. Without SOURCE, the training runs of all files are predicted.

Options:
  --most-gpus N            skips training runs on more GPUs, which take minutes each
  --minutes N              starts no prediction after N minutes; those in progress are completed
  --network KIND           network of the training runs: analytical (default) or another that run_pipeline.sh accepts
  --list                   lists the known training runs and how long they took; predicts nothing
$(setup_options_help | sed '1d')
  --help                   this text

Files:
  Published results: training/, collectives.csv and kernels/*.csv in tests/validation/. Predictions are kept in
  runs/validation/kept and reused while the tools and configs are the same (other than configs/bands.yaml, which needs no
  new ones), so several calls can complete the page. It shows all predictions so far and marks training runs that have
  none. Where the source leaves a setting open, other values of it are predicted too, after all training runs.

Exit status:
  0 all results are within their limits, 1 a result is not, or the build failed, 2 wrong usage, 130 interrupted

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
        usage_error "no source is called '$1'$(did_you_mean "$1" "${sources[@]}"); the sources are ${sources[*]}"
      words+=("$1")
      ;;
  esac
  shift
done
set_up release
run_group python3 "$root/tests/validation/scoreboard.py" --bin "$root/build/release/bin" \
  --out "$root/runs/validation" --docs "$root/docs" --network "$network" --jobs "${jobs:-$(default_jobs)}" "${words[@]}"
