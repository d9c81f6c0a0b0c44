#include "workload-gen/program/fp8_scales.h"

namespace drydock {

void ReduceScales(const WriterContext& c, int chunk, int tensors) {
  if (!c.job.training.precision.delayed_scaling()) return;
  const bool tensor_only = c.job.training.precision.tp_only_amax_red;
  if (tensor_only && c.layout.tensor == 1) return;
  int linear_layers = 0;
  if (c.HasMtpLayers(chunk)) {
    const int each =
        1 + Fp8LinearLayersIn(c.work.kinds[c.work.kind_of_layer.back()], c.job.model, c.layout);
    linear_layers =
        (c.layout.EndMtpLayer(c.stage, chunk) - c.layout.FirstMtpLayer(c.stage, chunk)) * each;
  }
  const int end = c.layout.EndLayer(c.stage, chunk);
  for (int layer = c.layout.FirstLayer(c.stage, chunk); layer < end; ++layer) {
    linear_layers += Fp8LinearLayersIn(c.work.LayerOf(layer), c.job.model, c.layout);
  }
  if (linear_layers == 0) return;
  CommCall scales;
  scales.type = DataType::kFp32;
  scales.op = ReduceOp::kMax;
  scales.count = int64_t{linear_layers} * tensors;
  scales.group_size = tensor_only ? c.layout.tensor : c.layout.world() / c.layout.pipeline;
  c.builder->Collective(tensor_only ? kTensorRole : kStageRole,
                        tensor_only ? kTensorStream : kStageStream, scales);
}

}  // namespace drydock
