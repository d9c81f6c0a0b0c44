#!/usr/bin/env bash
# Predicts everything published that the product is checked against, and writes docs/validation.md. See --help.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

print_help() {
  cat <<TEXT
run_validation.sh: predicts published training runs, collectives and kernels, and writes docs/validation.md

Usage:
  ./run_validation.sh [options]

Options:
  --network KIND           of the training runs: analytical (default) or another one that run_pipeline.sh takes
$(setup_options_help | sed '1d')
  --help                   this text

Files:
  Records: tests/validation/training/, collectives.csv, kernels-*.csv there. Runs go to runs/validation.

Exit status:
  0 nothing is worse than its limit, 1 something is, or the build failed, 2 wrong usage, 130 interrupted

Example:
  ./run_validation.sh
TEXT
}

network=analytical
while (($# > 0)); do
  case $1 in
    --help | -h)
      print_help
      exit 0
      ;;
    --network | --nccl-archive | --ns3-archive | --jobs)
      (($# > 1)) || usage_error "$1 needs a value"
      if [[ $1 == --network ]]; then network=$2; else take_setup_option "$1" "$2"; fi
      shift
      ;;
    *) usage_error "unknown option '$1'$(did_you_mean "$1" --network "${setup_options[@]}" --help)" ;;
  esac
  shift
done
set_up release
run_group python3 "$root/tests/validation/scoreboard.py" --bin "$root/build/release/bin" \
  --out "$root/runs/validation" --docs "$root/docs" --network "$network" --jobs "${jobs:-$(default_jobs)}"
