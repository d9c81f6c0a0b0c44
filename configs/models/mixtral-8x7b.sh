#!/usr/bin/env bash
# The run of mixtral-8x7b.yaml as a Megatron-LM launch script for --megatron-args.
# workload-gen --megatron-args configs/models/mixtral-8x7b.sh configs/clusters/dgx-h100-8.topo
set -eu
export CUDA_DEVICE_MAX_CONNECTIONS=1

GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-8}
TP=1
EP=8
PRECISION=bf16

LAUNCH=(
  --nproc_per_node "$GPUS_PER_NODE"
  --nnodes "$NNODES"
  --rdzv_endpoint "${MASTER_ADDR:-localhost}:${MASTER_PORT:-6000}"
)
MODEL=(
  --num-layers 32
  --hidden-size 4096
  --ffn-hidden-size 14336
  --num-attention-heads 32
  --group-query-attention
  --num-query-groups 8
  --seq-length 4096
  --max-position-embeddings 32768
  --position-embedding-type rope
  --normalization RMSNorm
  --swiglu
  --disable-bias-linear
  --untie-embeddings-and-output-weights
  --attention-dropout 0.0
  --hidden-dropout 0.0
  --vocab-size 32000
)
EXPERTS=(
  --num-experts 8
  --moe-router-topk 2
  --moe-aux-loss-coeff 1e-2
  --moe-grouped-gemm
  --moe-token-dispatcher-type alltoall
)
LAYOUT=(
  --tensor-model-parallel-size "$TP"
  --pipeline-model-parallel-size 4
  --num-layers-per-virtual-pipeline-stage 1
  --expert-model-parallel-size "$EP"
  --expert-tensor-parallel-size 1
  --use-distributed-optimizer
  --overlap-grad-reduce
  --overlap-param-gather
)
if [[ $TP -gt 1 ]]; then
  LAYOUT+=(--sequence-parallel)
fi
TRAINING="
  --micro-batch-size 1
  --global-batch-size $((4 * GPUS_PER_NODE * 8))
  --lr 3e-5 --train-iters 1000 --mock-data
  --$PRECISION
"

# shellcheck disable=SC2086  # the variables expand to several words
torchrun "${LAUNCH[@]}" pretrain_gpt.py "${MODEL[@]}" "${EXPERTS[@]}" "${LAYOUT[@]}" $TRAINING
