#include "workload-gen/job/model_shape.h"

#include <algorithm>

namespace drydock {
namespace {

bool IsExpertNumber(const ExpertShape& moe, int layer) {
  return moe.experts > 0 && layer >= moe.first_dense_layers && layer % moe.every == moe.offset;
}

LayerParts PartsOfSymbol(char symbol) {
  const Mixer mixer = symbol == 'M'   ? Mixer::kMamba
                      : symbol == '*' ? Mixer::kAttention
                                      : Mixer::kNone;
  return {.mixer = mixer, .mlp = symbol == '-', .experts = symbol == 'E'};
}

}  // namespace

double AttentionLayerShape::KeysSeen(int64_t length, bool windowed, bool halved) const {
  const auto all = static_cast<double>(length);
  const auto most = static_cast<double>(windowed ? std::min(window, length) : length);
  if (windowed && window_kind == WindowKind::kChunked && window < length) {
    const auto rest = static_cast<double>(length % window);
    const double squares = static_cast<double>(length / window) * most * most + rest * rest;
    return squares / all / (causal && halved ? 2 : 1);
  }
  // Of the first `most` queries, the i-th sees i keys; the rest see `most`.
  return causal && halved ? most - most * most / (2 * all) : most;
}

LayerParts ModelShape::PartsOf(int layer) const {
  if (!pattern.empty()) {
    const bool experts = moe.experts > 0;
    LayerParts parts = layer < layers ? PartsOfSymbol(pattern[static_cast<size_t>(layer)])
                                      : LayerParts{.mlp = !experts, .experts = experts};
    parts.window = parts.mixer == Mixer::kAttention && attention.HasWindow(layer);
    parts.rotates = parts.mixer == Mixer::kAttention && embedding.rotates();
    const auto index = static_cast<size_t>(layer);
    if (parts.mlp) parts.ffn = index < pattern_ffn.size() ? pattern_ffn[index] : mlp.ffn;
    return parts;
  }
  const int like = std::min(layer, layers - 1);
  const bool attends = delta.attention_every == 0 || (like + 1) % delta.attention_every == 0;
  const bool experts = IsExpertNumber(moe, like);
  const int skipped = attention.no_positions_every;
  const bool rotates = embedding.rotates() && (skipped == 0 || (like + 1) % skipped != 0);
  return {.mixer = attends ? Mixer::kAttention : Mixer::kDeltaNet,
          .window = attends && attention.HasWindow(like),
          .rotates = attends && rotates,
          .mlp = !experts,
          .experts = experts,
          .ffn = experts ? 0 : mlp.ffn};
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
