#!/usr/bin/env bash
# Predicts the iteration time of a model on a cluster: sets up missing parts, then runs the stages in order.
# print_help explains each option; docs/explanation/architecture.md explains each stage.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

networks=(analytical fluid packet auto)
folds=(off exact relaxed auto)
stages=(workload-gen simccl compute-sim exec-engine report)
valued_options=(--out --network --threads --processes --hostfile --until --iterations --fold --set --gpu-profile --megatron-args --variable --sequence --workload
  --only --from "${setup_options[@]}")

print_help() {
  cat <<TEXT
run_pipeline.sh: predicts the iteration time of a training run on a cluster that need not exist

Usage:
  ./run_pipeline.sh MODEL CLUSTER.topo [options]
  ./run_pipeline.sh --megatron-args SCRIPT CLUSTER.topo [options]
  ./run_pipeline.sh --workload RUN [CLUSTER.topo] [options]

What to run:
  MODEL                    a model.yaml, or a config.json of Hugging Face; what a config.json does not say is assumed and
                           named, and the layout is the smallest that fits the memory
  --sequence N             tokens of a sample, as --set model.sequence=N
  --out DIR                run directory (default: runs/MODEL-CLUSTER)
  --network KIND           analytical, fluid, packet, or auto, which picks fluid or packet (default: packet)
  --threads N              threads of the network simulation, or auto (default); the result does not depend on it
  --processes N            processes of the network simulation, started by mpirun (default: 1); the result does not depend on it
  --hostfile FILE          machines for these processes, one per line, such as "name slots=2"
  --until TIME             stops the replay at this simulated time ("5 ms"); the results cover the time until then
  --iterations N           replays N iterations one after another; the results are those of the last
  --fold KIND              replays one host of each equivalence class: off, exact, relaxed or auto (default)
  --set SECTION.KEY=VALUE  replaces an entry of either file; may be repeated
  --megatron-args SCRIPT   in place of MODEL, a Megatron-LM launch script or a file of its arguments
  --variable NAME=VALUE    sets a variable that SCRIPT does not assign itself; may be repeated
  --strict                 anything not modeled in SCRIPT, a config.json or a file of overlaps is an error
  --ignore-unknown         unknown arguments of SCRIPT and variables without a value are left out, not errors
  --workload RUN           in place of MODEL, a run directory whose workload another tool has written, such as
                           drydock-capture or nccl-record; with CLUSTER, the workload has to be of that cluster
  --gpu-profile FILE       measured kernel times, used in preference to the shipped ones; may be repeated
  --only STAGE             runs only this stage
  --from STAGE             runs this stage and all later ones
  -v, -q                   the stages print more, or only errors
  --help                   this text
  Stages: ${stages[*]}
  A stage whose inputs did not change since it last ran is skipped. With --only or --from a later
  stage, MODEL and CLUSTER may be left out if --out names the run directory.

$(setup_options_help)

Files:
  The run directory fills up in numeric order: 1-workload/, 2-flows.pb, 3-times.pb, 4-timeline.pb,
  then summary.json, summary.txt, trace.json.gz and report.html (docs/reference/run-directory.md).

Exit status:
  0 complete answer, 1 bad input, 2 wrong usage, 3 internal error, 130 interrupted

Example:
  ./run_pipeline.sh configs/models/gpt-22b.yaml configs/clusters/dgx-a100-80g-1.topo
TEXT
}

# --- the command line ------------------------------------------------------------------------------------------------

inputs=()
megatron_args=''
workload=''
out=''
first_stage=0
last_stage=$((${#stages[@]} - 1))
range_option=''
workload_args=()
compute_args=()
network_args=()
threads_args=()
length_args=()
fold_args=()
until=''
iterations=''
processes=''
hostfile=''
common_args=()

# choose_stages OPTION NAME
choose_stages() {
  local i
  [[ -z $range_option || $range_option == "$1" ]] || usage_error "--only and --from exclude each other"
  range_option=$1
  for i in "${!stages[@]}"; do
    if [[ ${stages[i]} == "$2" ]]; then
      first_stage=$i
      [[ $1 == --from ]] || last_stage=$i
      return
    fi
  done
  usage_error "no stage is called '$2'$(did_you_mean "$2" "${stages[@]}"); the stages are ${stages[*]}"
}

# check_choice WHAT VALUE NAME...
check_choice() {
  local what=$1 value=$2 name
  shift 2
  for name; do [[ $name != "$value" ]] || return 0; done
  usage_error "no $what is called '$value'$(did_you_mean "$value" "$@"); the ${what}s are $*"
}

# take_option NAME VALUE
take_option() {
  case $1 in
    --out)
      [[ -n $2 ]] || usage_error "--out needs a directory"
      out=$2
      ;;
    --network)
      check_choice network "$2" "${networks[@]}"
      network_args=(--network "$2")
      ;;
    --threads)
      [[ $2 == auto || $2 =~ ^[1-9][0-9]{0,3}$ && $2 -le 1024 ]] ||
        usage_error "--threads needs a number from 1 to 1024 or auto, not '$2'"
      threads_args=(--threads "$2")
      ;;
    --processes)
      [[ $2 =~ ^[1-9][0-9]{0,3}$ && $2 -le 1024 ]] || usage_error "--processes needs a number from 1 to 1024, not '$2'"
      processes=$2
      ;;
    --until)
      [[ $2 =~ ^[0-9.]+\ ?[a-z]+$ ]] || usage_error "--until needs a time like '5 ms', not '$2'"
      [[ -z $iterations ]] || usage_error "--until and --iterations exclude each other"
      until=$2
      length_args=(--until "$2")
      ;;
    --iterations)
      [[ $2 =~ ^[1-9][0-9]{0,3}$ && $2 -le 1000 ]] || usage_error "--iterations needs a number from 1 to 1000, not '$2'"
      [[ -z $until ]] || usage_error "--until and --iterations exclude each other"
      iterations=$2
      length_args=(--iterations "$2")
      ;;
    --fold)
      check_choice fold "$2" "${folds[@]}"
      fold_args=(--fold "$2")
      ;;
    --hostfile)
      check_readable "$2"
      hostfile=$2
      ;;
    --set)
      [[ $2 == ?*.?*=* ]] || usage_error "--set needs SECTION.KEY=VALUE, not '$2'"
      workload_args+=(--set "$2")
      ;;
    --sequence)
      [[ $2 =~ ^[1-9][0-9]{0,7}$ ]] || usage_error "--sequence needs a number of tokens, not '$2'"
      workload_args+=(--sequence "$2")
      ;;
    --megatron-args)
      check_readable "$2"
      megatron_args=$2
      workload_args+=(--megatron-args "$2")
      ;;
    --workload)
      [[ -d $2/1-workload ]] || { say "$2: error: it has no workload (1-workload/)$(suggest_neighbour "$2")"; exit 1; }
      workload=$2
      ;;
    --variable)
      [[ $2 == ?*=* ]] || usage_error "--variable needs NAME=VALUE, not '$2'"
      workload_args+=(--variable "$2")
      ;;
    --gpu-profile)
      check_readable "$2"
      compute_args+=(--gpu-profile "$2")
      ;;
    --only | --from) choose_stages "$1" "$2" ;;
    *) take_setup_option "$1" "$2" ;;
  esac
}

parse_arguments() {
  local name option
  while (($# > 0)); do
    case $1 in
      --help | -h)
        print_help
        exit 0
        ;;
      -v | --verbose) common_args+=(-v) ;;
      --strict | --ignore-unknown) workload_args+=("$1") ;;
      -q | --quiet) common_args+=(-q) ;;
      --)
        shift
        inputs+=("$@")
        return
        ;;
      -?*)
        name=${1%%=*}
        for option in "${valued_options[@]}"; do [[ $option != "$name" ]] || break; done
        [[ $option == "$name" ]] ||
          usage_error "unknown option '$name'$(did_you_mean "$name" "${valued_options[@]}" --help --verbose --quiet --strict --ignore-unknown)"
        if [[ $1 == *=* ]]; then
          take_option "$name" "${1#*=}"
        else
          (($# > 1)) || usage_error "$name needs a value"
          take_option "$name" "$2"
          shift
        fi
        ;;
      *) inputs+=("$1") ;;
    esac
    shift
  done
}

# Checks that the named files exist before any step that takes time.
check_inputs() {
  local file option
  [[ -z $megatron_args || ${#inputs[@]} -le 1 ]] ||
    usage_error "--megatron-args takes the place of '${inputs[0]}'; give one of them"
  if [[ -n $workload ]]; then
    [[ -z $megatron_args ]] || usage_error "--workload and --megatron-args exclude each other"
    [[ -z $out || $out == "$workload" ]] || usage_error "--workload names the run directory; leave --out out"
    ((${#inputs[@]} <= 1)) || usage_error "--workload takes the place of '${inputs[0]}'; give a cluster or nothing"
    for option in "${workload_args[@]}"; do
      case $option in
        --variable | --sequence | --strict | --ignore-unknown) usage_error "$option is for a model, not for --workload" ;;
      esac
    done
    ((${#workload_args[@]} == 0 || ${#inputs[@]} == 1)) ||
      usage_error "${workload_args[0]} says something of the cluster; give the cluster with --workload"
    [[ -z $range_option || $first_stage != 0 ]] ||
      usage_error "--workload takes the place of the stage workload-gen; leave '$range_option workload-gen' out"
    out=$workload
    ((first_stage > 0)) || first_stage=1
  fi
  case ${#inputs[@]} in
    2) ;;
    0)
      if [[ $first_stage == 0 || -z $out ]]; then
        usage_error "a model and a cluster are needed: MODEL CLUSTER.topo"
      fi
      ;;
    1) [[ -n $megatron_args || -n $workload ]] || usage_error "a cluster is needed after the model '${inputs[0]}'" ;;
    *) usage_error "one model and one cluster are needed; unexpected argument '${inputs[2]}'" ;;
  esac
  [[ -z $hostfile || -n $processes ]] || usage_error "--hostfile needs --processes, the number of processes"
  if [[ ${processes:-1} != 1 && ${network_args[1]:-packet} =~ ^(analytical|fluid)$ ]]; then
    usage_error "--processes: the ${network_args[1]} network runs in one process"
  fi
  local fold=${fold_args[1]:-auto} network=${network_args[1]:-packet}
  if [[ $fold == exact && $network != analytical ]]; then
    usage_error "--fold exact needs --network analytical, not $network"
  fi
  if [[ $fold == relaxed && ! $network =~ ^(analytical|fluid)$ ]]; then
    usage_error "--fold relaxed needs --network analytical or fluid, not $network"
  fi
  [[ -z $hostfile ]] || check_hostfile "$hostfile"
  for file in "${inputs[@]}" "${own_archive[@]}"; do
    [[ -z $file ]] || check_readable "$file"
  done
}

# Prints the same message as the tools and ends the script if the file cannot be read.
check_readable() {
  local why=''
  if [[ ! -e $1 ]]; then
    why="No such file or directory"
  elif [[ -d $1 ]]; then
    why="Is a directory"
  elif [[ ! -r $1 ]]; then
    why="Permission denied"
  fi
  [[ -z $why ]] || { say "$1: error: cannot read: $why$(suggest_neighbour "$1")"; exit 1; }
}

# Checks a hostfile, because mpirun's messages about an invalid one are unclear. A line is a machine's name, then optionally slots=N.
check_hostfile() {
  local line rest word words column number=0 machines=0 at
  while IFS= read -r line || [[ -n $line ]]; do
    number=$((number + 1))
    rest=${line%%#*}
    column=1
    read -ra words <<<"$rest"
    for word in "${words[@]}"; do
      while [[ ${rest:column-1:${#word}} != "$word" ]]; do column=$((column + 1)); done
      at="$1:$number:$column: error:"
      if [[ $word == "${words[0]}" ]]; then
        [[ $word =~ ^[A-Za-z0-9][A-Za-z0-9@._:-]*$ ]] || { say "$at '$word' is not the name of a machine"; exit 1; }
        machines=$((machines + 1))
      else
        [[ $word =~ ^(slots|max_slots)=[1-9][0-9]{0,5}$ ]] ||
          { say "$at '$word' is neither 'slots=N' nor 'max_slots=N'"; exit 1; }
      fi
      column=$((column + ${#word}))
    done
  done <"$1"
  ((machines > 0)) || { say "$1: error: it names no machine"; exit 1; }
}

suggest_neighbour() {
  local folder names=()
  folder=$(dirname "$1")
  [[ ! -e $1 && -d $folder ]] || return 0
  mapfile -t names < <(ls "$folder")
  did_you_mean "$(basename "$1")" "${names[@]}"
}

default_out() {
  local model cluster
  model=$(basename "${megatron_args:-${inputs[0]}}")
  if [[ $model == config.json ]]; then  # its folder names the model
    model=$(basename "$(dirname "$(realpath "${inputs[0]}")")")
  else
    model=${model%.*}
  fi
  cluster=$(basename "${inputs[-1]}")
  printf 'runs/%s-%s\n' "$model" "${cluster%.*}"
}

# --- the stages ------------------------------------------------------------------------------------------------------

# Sets `launcher` to the command that starts exec-engine in several processes. Each process has several threads, so no process is bound to
# a core. mpirun's message about a failed process is hidden, because the process prints a better one. So are hwloc's
# messages about a container without /sys.
set_launcher() {
  launcher=()
  [[ -n $processes ]] || return 0
  launcher=(env HWLOC_HIDE_ERRORS=2 mpirun --quiet --bind-to none --oversubscribe -np "$processes")
  [[ -z $hostfile ]] || launcher+=(--hostfile "$hostfile")
  ((EUID != 0)) || launcher+=(--allow-run-as-root)
}

# run_stage NAME: ends the script with the tool's own exit status when it fails. A tool that dies from a signal is an internal error: status 3.
run_stage() {
  local status=0 launcher=() args=("${common_args[@]}" --if-changed)
  case $1 in
    workload-gen) args+=("${inputs[@]}" -o "$out" "${workload_args[@]}") ;;
    check) args=("${common_args[@]}" check "$out" --cluster "${inputs[0]}" "${workload_args[@]}") ;;
    compute-sim) args+=("$out" "${compute_args[@]}") ;;
    exec-engine)
      args+=("$out" "${network_args[@]}" "${threads_args[@]}" "${length_args[@]}" "${fold_args[@]}")
      set_launcher
      ;;
    *) args+=("$out") ;;
  esac
  run_group "${launcher[@]}" "$root/build/release/bin/${1/#check/workload-gen}" "${args[@]}" || status=$?
  ((status != 0)) || return 0
  if ((${#launcher[@]} > 0 && status == 255)); then
    say "$command_name: error: mpirun could not start the processes${hostfile:+ on the machines of $hostfile}"
    status=1
  fi
  if ((status > 3 && status != 130)); then
    say "$command_name: internal error: $1 ended with status $status"
    status=3
  fi
  exit "$status"
}

# Two runs must not write into one directory at the same time. The lock is on the directory itself and ends with this script.
claim_out() {
  mkdir -p "$out" 2>/dev/null || [[ -d $out ]] || { say "$out: error: cannot create the run directory"; exit 1; }
  exec 8<"$out"
  flock -n 8 || fail "another run is writing to $out"
}

parse_arguments "$@"
check_inputs
[[ -n $out ]] || out=$(default_out)
set_up release "${tool_targets[@]}"
claim_out
[[ -z $workload || ${#inputs[@]} == 0 ]] || run_stage check
for ((stage = first_stage; stage <= last_stage; stage++)); do run_stage "${stages[stage]}"; done
