# shellcheck shell=bash
# Functions that the scripts share: paths, errors, and steps that show their times.
# Source it after `set -euo pipefail`; it defines functions and four variables, and runs nothing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P) # the same tree by any path, symbolic links included
deps=$root/.deps
logs=$deps/log
command_name=$(basename "$0")

# say TEXT: prints to stderr; stdout is for the answer.
say() { printf '%s\n' "$*" >&2; }

# fail TEXT: ends with exit status 1, for bad input or an unsuitable machine.
fail() {
  say "$command_name: error: $*"
  exit 1
}

# usage_error TEXT: ends with exit status 2, for a wrong command line.
usage_error() {
  say "$command_name: error: $*"
  say "$command_name: see ./$command_name --help"
  exit 2
}

# edit_distance A B: Levenshtein, on stdout.
edit_distance() {
  local a=$1 b=$2 i j diagonal above best
  local -a row
  for ((j = 0; j <= ${#b}; j++)); do row[j]=$j; done
  for ((i = 1; i <= ${#a}; i++)); do
    diagonal=${row[0]}
    row[0]=$i
    for ((j = 1; j <= ${#b}; j++)); do
      above=${row[j]}
      best=$((diagonal + 1))
      [[ ${a:i-1:1} == "${b:j-1:1}" ]] && best=$diagonal
      ((above + 1 < best)) && best=$((above + 1))
      ((row[j - 1] + 1 < best)) && best=$((row[j - 1] + 1))
      diagonal=$above
      row[j]=$best
    done
  done
  printf '%s\n' "${row[${#b}]}"
}

# did_you_mean WORD CANDIDATE...: "; did you mean 'x'?" on stdout, or nothing when no candidate is near.
did_you_mean() {
  local word=$1 candidate distance allowed best='' best_distance=1000
  shift
  for candidate; do
    distance=$(edit_distance "$word" "$candidate")
    allowed=$(((${#word} > ${#candidate} ? ${#word} : ${#candidate}) / 3))
    ((allowed < 2)) && allowed=2
    if ((distance <= allowed && distance < best_distance && distance < ${#candidate})); then
      best=$candidate best_distance=$distance
    fi
  done
  [[ -z $best ]] || printf "; did you mean '%s'?\n" "$best"
}

# run_group COMMAND...: runs COMMAND so that an interrupt from any source reaches it and all its children, and the
# script ends with 130. COMMAND has its own process group and no standard input, so it must not ask questions.
run_group() {
  local status=0
  set -m
  "$@" </dev/null &
  child=$!
  set +m
  trap on_interrupt INT TERM HUP
  wait "$child" || status=$?
  trap - INT TERM HUP
  return "$status"
}

on_interrupt() {
  kill -INT -- "-$child" 2>/dev/null || true
  wait "$child" 2>/dev/null || true
  kill -TERM -- "-$child" 2>/dev/null || true # for children that ignore interrupts
  [[ -z ${open_line:-} ]] || say ""
  say "$command_name: interrupted"
  exit 130
}

with_log() { exec "${@:2}" >"$1" 2>&1; }

# up_to_date STAMP INPUT...: true if STAMP is at least as new as every input (of a folder: all its files).
up_to_date() {
  local stamp=$1
  shift
  [[ -f $stamp && -z $(find "$@" -newer "$stamp" -print -quit 2>&1) ]]
}

# step LOG TITLE COMMAND...: runs COMMAND with its output in .deps/log/LOG.log and shows one line with its time.
# On a failure, shows the last output of COMMAND and ends the script.
step() {
  local log=$logs/$1.log title=$2 status=0 start=$SECONDS ticker=''
  shift 2
  mkdir -p "$logs"
  [[ -n ${step_shown:-} ]] || say "Setting up what is missing (logs in ${logs#"$PWD/"}):"
  step_shown=1
  printf '  %-44s' "$title" >&2
  open_line=1
  if [[ -t 2 ]]; then
    (while sleep 1 && kill -0 $$; do printf '\r  %-44s%5d s' "$title" $((SECONDS - start)) >&2; done) &
    ticker=$!
  fi
  run_group with_log "$log" "$@" || status=$?
  open_line=
  if [[ -n $ticker ]]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    printf '\r  %-44s' "$title" >&2
  fi
  if ((status == 0)); then
    printf '%5d s\n' $((SECONDS - start)) >&2
    return
  fi
  printf 'failed\n' >&2
  show_failure "$log"
  exit 1
}

# show_failure LOG: shows the last "error:" in the log and the lines after it, or else the end of the log.
show_failure() {
  local from
  from=$(grep -n '^error:' "$1" | tail -n 1 | cut -d: -f1) || true
  if [[ -n $from ]]; then
    tail -n "+$from" "$1" >&2
  else
    tail -n 20 "$1" | sed 's/^/    /' >&2
  fi
  say "$command_name: the whole log is ${1#"$PWD/"}"
}
