#include "workload-gen/job/model_shape.h"

#include <algorithm>

namespace drydock {
namespace {

bool IsExpertNumber(const ExpertShape& moe, int layer) {
  return moe.experts > 0 && layer >= moe.first_dense_layers && layer % moe.every == 0;
}

LayerParts PartsOfSymbol(char symbol) {
  const Mixer mixer = symbol == 'M'   ? Mixer::kMamba
                      : symbol == '*' ? Mixer::kAttention
                                      : Mixer::kNone;
  return {.mixer = mixer, .mlp = symbol == '-', .experts = symbol == 'E'};
}

}  // namespace

LayerParts ModelShape::PartsOf(int layer) const {
  if (!pattern.empty()) {
    const bool experts = moe.experts > 0;
    LayerParts parts = layer < layers ? PartsOfSymbol(pattern[static_cast<size_t>(layer)])
                                      : LayerParts{.mlp = !experts, .experts = experts};
    parts.window = parts.mixer == Mixer::kAttention && attention.HasWindow(layer);
    return parts;
  }
  const int like = std::min(layer, layers - 1);
  const bool attends = delta.attention_every == 0 || (like + 1) % delta.attention_every == 0;
  const bool experts = IsExpertNumber(moe, like);
  return {.mixer = attends ? Mixer::kAttention : Mixer::kDeltaNet,
          .window = attends && attention.HasWindow(like),
          .mlp = !experts,
          .experts = experts};
}

bool ModelShape::HasMixer(Mixer mixer) const {
  for (int layer = 0; layer < layers + mtp_layers; ++layer) {
    if (PartsOf(layer).mixer == mixer) return true;
  }
  return false;
}

int ModelShape::expert_layers() const {
  int count = 0;
  for (int layer = 0; layer < layers; ++layer) count += HasExperts(layer) ? 1 : 0;
  return count;
}

int64_t ModelShape::samples() const {
  if (sample_length <= 0) return 1;
  return std::max(int64_t{1}, (sequence + sample_length / 2) / sample_length);
}

}  // namespace drydock
