#!/usr/bin/env bash
# Sets up what is missing, builds everything with its tests, runs the suites asked for. See --help.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

suites=(fast integration validation cuda bench-short scoreboard bench all asan tsan coverage)

print_help() {
  cat <<TEXT
run_tests.sh: builds Drydock with its tests and runs them

Usage:
  ./run_tests.sh [SUITE...] [options]

Suites (default: all):
  fast          unit tests and layering; seconds
  integration   the executables and the two commands, end to end
  validation    predicted against published iteration times
  cuda          compiles gpu-profiler with nvcc; fetches it where the machine has none (528 MB, once)
  bench-short   the packet network's speed and memory, roughly; seconds, on a busy machine too
  all           all of these
  scoreboard    everything published, as run_validation.sh does it, without writing the page; an hour
  bench         speed and memory against their limits; wants an idle machine
  asan, tsan    the fast suite, built with sanitizers
  coverage      the fast suite, with the lines and branches it reaches (summary from gcov)

Options:
  --filter REGEX           only the tests whose names match
$(setup_options_help | sed '1d')
  --help                   this text

Exit status:
  0 all passed, 1 a test or the build failed, 2 wrong usage, 130 interrupted

Example:
  ./run_tests.sh fast
TEXT
}

chosen=()
filter=()

parse_arguments() {
  local suite
  while (($# > 0)); do
    case $1 in
      --help | -h)
        print_help
        exit 0
        ;;
      --filter)
        (($# > 1)) || usage_error "$1 needs a value"
        filter=(--tests-regex "$2")
        shift
        ;;
      --nccl-archive | --ns3-archive | --jobs)
        (($# > 1)) || usage_error "$1 needs a value"
        take_setup_option "$1" "$2"
        shift
        ;;
      -*) usage_error "unknown option '$1'$(did_you_mean "$1" --filter "${setup_options[@]}" --help)" ;;
      *)
        for suite in "${suites[@]}"; do [[ $suite != "$1" ]] || break; done
        [[ $suite == "$1" ]] ||
          usage_error "no suite is called '$1'$(did_you_mean "$1" "${suites[@]}"); the suites are ${suites[*]}"
        chosen+=("$1")
        ;;
    esac
    shift
  done
  ((${#chosen[@]} > 0)) || chosen=(all)
}

# run_suite PRESET CTEST_ARGUMENT...: tests that time themselves are alone on the machine, by their RUN_SERIAL property.
run_suite() {
  local preset=$1
  shift
  run_group env --chdir "$root" ctest --preset "$preset" --no-tests=error --parallel "$jobs" "$@" "${filter[@]}"
}

# One line per file of ours, from gcov's "File 'x'" and "Lines executed:P% of N". A header counts where it is hit most.
print_coverage() {
  (cd "$root/build/coverage" && find . -name '*.gcda' -exec gcov --no-output {} + 2>/dev/null) |
    awk -v root="$root/" '
      /^File / {
        file = substr($0, 7, length($0) - 7)
        own = index(file, root) == 1 && file !~ /_test\.cc$|\/build\//
      }
      own && /^Lines executed/ {
        split($2, part, ":")
        if (part[2] + 0 >= best[file] + 0) { best[file] = part[2]; lines[file] = $4 }
        own = 0
      }
      END { for (file in best) printf "%8s of %5d lines  %s\n", best[file], lines[file], substr(file, length(root) + 1) }
    ' | sort -k5
}

parse_arguments "$@"
failed=0
for suite in "${chosen[@]}"; do
  case $suite in
    all)
      set_up release
      run_suite release --label-exclude '^(bench|scoreboard)$' || failed=1
      ;;
    asan | tsan | coverage)
      set_up "$suite"
      run_suite "$suite" --label-regex '^fast$' || failed=1
      [[ $suite != coverage ]] || print_coverage
      ;;
    *)
      set_up release
      run_suite release --label-regex "^$suite\$" || failed=1
      ;;
  esac
done
exit "$failed"
