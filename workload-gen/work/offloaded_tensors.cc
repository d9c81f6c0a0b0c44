#include "workload-gen/work/offloaded_tensors.h"

#include <cmath>

#include "core/base/check.h"
#include "core/model/gpu.h"

namespace drydock {
namespace {

class TensorSum {
 public:
  TensorSum(const TrainingJob& job, const ParallelLayout& layout, const WorkTables& tables)
      : job_(job), layout_(layout), tables_(tables) {}

  OffloadedTensors sum() const { return sum_; }

  void Norm(const ForwardBackwardWork& norm) {
    const Submodule& s = tables_.submodule(norm.forward);
    const auto& shape = *s.As<submodule::Norm>();
    Left(shape.rows * shape.n, OperandBytes(s.type));
  }

  // Transformer Engine saves the rows of this rank, and gathers them again in backward.
  void Column(const LinearWork& linear) {
    Input(linear, layout_.sequence_parallel ? layout_.tensor : 1, /*again=*/false);
  }
  void Whole(const LinearWork& linear) { Input(linear, 1, /*again=*/false); }
  void WholeAgain(const LinearWork& linear) { Input(linear, 1, /*again=*/true); }

  void Latent(const LatentWork& latent) {
    const bool up = !job_.training.recompute.modules.mla_up_projection;
    if (latent.q_down) {
      Whole(*latent.q_down);
      WholeAgain(latent.kv_down);
      Norm(*latent.q_norm);
    } else {
      Whole(latent.kv_down);
    }
    Norm(latent.kv_norm);
    if (up) Column(latent.q_up);
    if (up) Column(latent.kv_up);
  }

  // Fused attention saves its output, which the next product saves as well. Of unfused attention,
  // the softmax and the product behind it save the probabilities, unless there is dropout between.
  void Core(const CoreWork& core) {
    const Submodule& s = tables_.submodule(core.first.forward);
    const auto& shape = *s.As<submodule::Attention>();
    const double element = OperandBytes(s.type);
    for (const int64_t count : {core.queries, core.keys, core.values}) Left(count, element);
    if (shape.fused) return Again(core.outputs, element);
    const int64_t scores = shape.batch * shape.heads * shape.sequence * shape.keys();
    Left(scores, element);
    if (!shape.dropout) return Again(scores, element);
    Left(scores, element);
    Left(scores, 1);  // the mask
  }

  // Products in 16 bits save the rows of all experts as one tensor, as one kernel for all experts
  // does; quantized products save a tensor for each expert.
  void ExpertInput(const LinearWork& linear) {
    const Submodule& s = tables_.submodule(linear.forward);
    const auto& shape = *s.As<submodule::GroupedLinear>();
    const bool one = s.type == job_.training.precision.type || shape.one_kernel;
    const int64_t elements = shape.rows * shape.k;
    if (elements / (one ? 1 : shape.experts) < minimum()) return;
    Left(elements, OperandBytes(s.type));
  }

  void Activation(const ForwardBackwardWork& activation) {
    const Submodule& s = tables_.submodule(activation.forward);
    const auto& shape = *s.As<submodule::Activation>();
    const double element = shape.fp8_input ? 1 : 2;  // as SavedBy has it
    Left(shape.rows * shape.n * (shape.gated ? 2 : 1), element);
  }

 private:
  int64_t minimum() const { return job_.training.module_offload.min_elements; }

  void Input(const LinearWork& linear, int64_t parts, bool again) {
    const Submodule& s = tables_.submodule(linear.forward);
    const auto& shape = *s.As<submodule::Linear>();
    const int64_t elements = shape.rows * shape.k / parts;
    again ? Again(elements, OperandBytes(s.type)) : Left(elements, OperandBytes(s.type));
  }
  void Left(int64_t elements, double element) { Add(elements, element, &sum_.left); }
  void Again(int64_t elements, double element) { Add(elements, element, &sum_.again); }
  void Add(int64_t elements, double element, Bytes* bytes) const {
    if (elements < minimum()) return;
    *bytes += Bytes(std::llround(static_cast<double>(elements) * element));
  }

  const TrainingJob& job_;
  const ParallelLayout& layout_;
  const WorkTables& tables_;
  OffloadedTensors sum_;
};

}  // namespace

bool HasModule(OffloadModule module, const LayerWork& layer) {
  switch (module) {
    case OffloadModule::kAttentionNorm:
      return layer.attention && layer.attention->latent;
    case OffloadModule::kQkv:
    case OffloadModule::kCoreAttention:
    case OffloadModule::kProj:
      return layer.attention.has_value();
    case OffloadModule::kMlpNorm:
      return layer.experts.has_value();
    case OffloadModule::kExpertFc1:
    case OffloadModule::kExpertActivation:
      return layer.experts && !layer.experts->fused;
    case OffloadModule::kFusedMlp:
      return layer.experts && layer.experts->fused;
  }
  return false;
}

OffloadedTensors OffloadedBy(OffloadModule module, const LayerWork& layer, const TrainingJob& job,
                             const ParallelLayout& layout, const WorkTables& tables) {
  CHECK(HasModule(module, layer));
  TensorSum tensors(job, layout, tables);
  switch (module) {
    case OffloadModule::kAttentionNorm:
      tensors.Norm(*layer.attention->norm);
      break;
    case OffloadModule::kQkv:
      if (layer.attention->latent) {
        tensors.Latent(*layer.attention->latent);
        break;
      }
      if (layer.attention->norm) tensors.Norm(*layer.attention->norm);
      tensors.Column(layer.attention->qkv);
      if (layer.attention->q_norm) tensors.Norm(*layer.attention->q_norm);
      if (layer.attention->k_norm) tensors.Norm(*layer.attention->k_norm);
      break;
    case OffloadModule::kCoreAttention:
      tensors.Core(layer.attention->core);
      break;
    case OffloadModule::kProj:
      tensors.Whole(layer.attention->proj);
      break;
    case OffloadModule::kMlpNorm:
      tensors.Norm(*layer.norm2);
      break;
    case OffloadModule::kExpertFc1:
      tensors.ExpertInput(layer.experts->fc1);
      break;
    case OffloadModule::kExpertActivation:
      tensors.Activation(layer.experts->activation);
      break;
    case OffloadModule::kFusedMlp:
      tensors.ExpertInput(layer.experts->fc1);
      tensors.Activation(layer.experts->activation);
      tensors.ExpertInput(layer.experts->fc2);
      break;
  }
  return tensors.sum();
}

const std::vector<std::string>& SubmodulesOf(OffloadModule module) {
  static const std::vector<std::string> names[kOffloadModuleCount] = {
      {"attention.norm"},
      {"attention.qkv", "attention.q-down", "attention.kv-down", "attention.q-norm",
       "attention.k-norm", "attention.kv-norm", "attention.q-up", "attention.kv-up",
       "attention.norm"},
      {"attention.core", "attention.core-step"},
      {"attention.proj"},
      {"mlp.norm"},
      {"moe.fc1"},
      {"moe.activation"},
      {"moe.fc1", "moe.fc2"}};
  return names[static_cast<size_t>(module)];
}

std::string TransferName(OffloadModule module, bool again) {
  const std::string name = kOffloadModuleNames[static_cast<size_t>(module)].name;
  return again ? name + ", again" : name;
}

}  // namespace drydock
