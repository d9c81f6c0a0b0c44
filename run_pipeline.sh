#!/usr/bin/env bash
# Predicts the iteration time of a model on a cluster: sets up missing parts, then becomes `drydock run`.
# `drydock run` has the options, the stages and their order (drydock/run); this script has the set-up.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

drydock=$root/build/release/bin/drydock
page=$root/docs/reference/commands/run-pipeline.md

# drydock_run ARGUMENT...: becomes `drydock run`, which reports mistakes under this script's name.
drydock_run() { exec -a "$command_name" "$drydock" run "$@"; }

print_help() {
  if [[ -x $drydock ]]; then
    (drydock_run --help)
    printf '\n'
    setup_options_help
  else
    sed -n '/^```$/,/^```$/{/^```$/!p}' "$page" # the same text, kept for readers
  fi
}

# Removes the options of the set-up from the arguments; the others are those of `drydock run`.
run_arguments=()
take_arguments() {
  local option
  while (($# > 0)); do
    case $1 in
      --) run_arguments+=("$@") && return ;;
      --help | -h) print_help && exit 0 ;;
      --nccl-archive=* | --ns3-archive=* | --jobs=*) take_setup_option "${1%%=*}" "${1#*=}" ;;
      --nccl-archive | --ns3-archive | --jobs)
        (($# > 1)) || usage_error "$1 needs a value"
        take_setup_option "$1" "$2"
        shift
        ;;
      *) run_arguments+=("$1") ;;
    esac
    shift
  done
  for option in "${own_archive[@]}"; do
    [[ -z $option || -r $option && -f $option ]] ||
      { [[ -e $option ]] && say "$option: error: cannot read" || say "$option: error: cannot read: No such file or directory"; exit 1; }
  done
}

# Before anything is built, checks the names of options and files, so that a mistyped one does not wait for the set-up. The
# page of --help has the options: a line "  --name VALUE  meaning", without VALUE for a flag.
check_names() {
  local valued flags inputs=() name file candidates replaced=''
  mapfile -t valued < <(print_help | sed -n 's/^  \(--[a-z-]*\) [A-Z].*/\1/p')
  mapfile -t flags < <(print_help | sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z-]*\)  .*/\2/p')
  set -- "${run_arguments[@]}"
  while (($# > 0)); do
    name=${1%%=*}
    case $1 in
      --) shift && inputs+=("$@") && break ;;
      -v | -q) ;;
      -?*)
        if [[ " ${valued[*]} " == *" $name "* ]]; then
          [[ $name != --megatron-args && $name != --workload && $name != --only && $name != --from ]] || replaced=$name
          if [[ $1 != *=* ]]; then
            (($# > 1)) || usage_error "$name needs a value"
            shift
          fi
        elif [[ " ${flags[*]} " != *" $name "* ]]; then
          usage_error "unknown option '$name'$(did_you_mean "$name" "${valued[@]}" "${flags[@]}")"
        fi
        ;;
      *) inputs+=("$1") ;;
    esac
    shift
  done
  ((${#inputs[@]} > 0)) || [[ -n $replaced ]] || usage_error "a model and a cluster are needed: MODEL CLUSTER"
  ((${#inputs[@]} != 1)) || [[ -n $replaced ]] || usage_error "a cluster is needed after the model '${inputs[0]}'"
  ((${#inputs[@]} <= 2)) || usage_error "one model and one cluster are needed; unexpected argument '${inputs[2]}'"
  for file in "${inputs[@]}"; do
    candidates=("$root"/configs/{models,clusters}/"$file"{,.yaml,.json,.topo})
    [[ ! -f $file ]] || continue
    for name in "${candidates[@]}"; do [[ ! -f $name ]] || continue 2; done
    [[ -d $file ]] && say "$file: error: cannot read: Is a directory" || say "$file: error: cannot read: No such file or directory"
    exit 1
  done
}

take_arguments "$@"
if [[ ! -x $drydock ]]; then
  check_names
elif is_set_up release "${tool_targets[@]}"; then
  drydock_run "${run_arguments[@]}"
else
  # A mistake is told before the set-up. A program that is older than its source may not know an option.
  status=0
  mistake=$( (drydock_run --dry-run "${run_arguments[@]}") 2>&1 >/dev/null) || status=$?
  if ((status != 0)) && [[ -z $(find "$root/drydock" -newer "$drydock" -print -quit 2>/dev/null) ]]; then
    say "$mistake"
    exit "$status"
  fi
fi
set_up release "${tool_targets[@]}"
drydock_run "${run_arguments[@]}"
