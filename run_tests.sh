#!/usr/bin/env bash
# Sets up missing parts, builds everything with its tests, and runs the given suites. See --help.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

suites=(fast integration validation capture cuda package bench-short scoreboard bench all asan tsan coverage)

print_help() {
  cat <<TEXT
run_tests.sh: builds Drydock with its tests and runs them

Usage:
  ./run_tests.sh [SUITE...] [options]

Suites (default: all):
  fast          unit tests and layering; seconds
  integration   the executables and the scripts, end to end
  validation    compares predicted with published iteration times
  capture       runs programs of PyTorch without a GPU; fetches PyTorch (0.9 GB, once)
  cuda          compiles gpu-profiler with nvcc; fetches nvcc if the machine has none (528 MB, once)
  package       installs the Debian package in an empty Debian 12; needs root and debootstrap
  bench-short   a rough check of the packet network's speed and memory; seconds, even on a busy machine
  all           all suites above
  scoreboard    predicts all published results, as run_validation.sh does, without writing the page; an hour
  bench         compares speed and memory with their limits; needs an idle machine
  asan, tsan    the fast suite, built with sanitizers
  coverage      the fast suite, with its coverage of lines and branches (summary from gcov)

Options:
  --filter REGEX           runs only the tests whose names match
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

# run_suite PRESET CTEST_ARGUMENT...: runs tests in parallel. Tests that measure time run alone, by their RUN_SERIAL property.
run_suite() {
  local preset=$1
  shift
  run_group env --chdir "$root" ctest --preset "$preset" --no-tests=error --parallel "$jobs" "$@" "${filter[@]}"
}

# Prints one line per file of Drydock, from gcov's "File 'x'" and "Lines executed:P% of N". Of a header, which gcov lists
# for each unit that includes it, prints the highest coverage.
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
package_lists+=("$root/scripts/test_packages.txt")
packages_stamp=$deps/stamp/test-packages
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
