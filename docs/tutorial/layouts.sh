#!/usr/bin/env bash
# Predicts layouts of my-model.yaml on 64 H100 and prints a line for each.
set -euo pipefail

# predict NAME OPTION...
predict() {
  local name=$1 run=runs/layouts/$1
  shift
  mkdir -p runs/layouts
  ./run_pipeline.sh docs/tutorial/my-model.yaml configs/clusters/dgx-h100-8.topo \
    --network fluid --out "$run" "$@" >"$run.log" 2>&1 || { cat "$run.log"; return; }
  python3 - "$name" "$run/summary.json" <<'PYTHON'
import json, sys
summary = json.load(open(sys.argv[2]))
time, memory = summary["time"], summary["memory"]
print(f"{sys.argv[1]:<20}{summary['iteration_time_s']:6.3f} s  MFU {summary['mfu']:5.1%}"
      f"  memory {memory['needed_bytes'] / 1e9:5.1f} GB"
      f"  tensor {time['exposed_tensor']['mean_share']:5.1%}"
      f"  data {time['exposed_data']['mean_share']:5.1%}"
      f"  bubble {time['bubble']['mean_share']:5.1%}")
PYTHON
}

predict TP8 --set parallel.tensor=8 --set parallel.pipeline=1
predict TP4 --set parallel.tensor=4 --set parallel.pipeline=1
predict TP4-PP2 --set parallel.tensor=4 --set parallel.pipeline=2
predict TP2 --set parallel.tensor=2 --set parallel.pipeline=1
predict TP2-PP4 --set parallel.tensor=2 --set parallel.pipeline=4
predict TP2-PP4-interleaved --set parallel.tensor=2 --set parallel.pipeline=4 \
  --set parallel.virtual_pipeline=5
predict TP2-overlapped --set parallel.tensor=2 --set parallel.pipeline=1 \
  --set overlap.grad_reduce=true --set overlap.param_gather=true
