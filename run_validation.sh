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
  --most-gpus N            leave out training runs on more GPUs, which take hours; the page says which
  --network KIND           of the training runs: analytical (default) or another one that run_pipeline.sh takes
$(setup_options_help | sed '1d')
  --help                   this text

Files:
  Records: tests/validation/training/, collectives.csv, kernels-*.csv there. Runs go to runs/validation; what was
  predicted from the same tools and configs is not predicted again, so an interrupted run goes on.

Exit status:
  0 nothing is worse than its limit, 1 something is, or the build failed, 2 wrong usage, 130 interrupted

Example:
  ./run_validation.sh
TEXT
}

network=analytical
most_gpus=()
while (($# > 0)); do
  case $1 in
    --help | -h)
      print_help
      exit 0
      ;;
    --network | --most-gpus | --nccl-archive | --ns3-archive | --jobs)
      (($# > 1)) || usage_error "$1 needs a value"
      case $1 in
        --network) network=$2 ;;
        --most-gpus)
          [[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || usage_error "--most-gpus needs a number, not '$2'"
          most_gpus=(--most-gpus "$2")
          ;;
        *) take_setup_option "$1" "$2" ;;
      esac
      shift
      ;;
    *) usage_error "unknown option '$1'$(did_you_mean "$1" --network --most-gpus "${setup_options[@]}" --help)" ;;
  esac
  shift
done
set_up release
run_group python3 "$root/tests/validation/scoreboard.py" --bin "$root/build/release/bin" \
  --out "$root/runs/validation" --docs "$root/docs" --network "$network" --jobs "${jobs:-$(default_jobs)}" "${most_gpus[@]}"
