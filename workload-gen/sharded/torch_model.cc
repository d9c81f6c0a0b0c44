#include "workload-gen/sharded/torch_model.h"

#include <numeric>

#include "workload-gen/work/submodule_maker.h"

namespace drydock {
namespace {

constexpr const char* kLogits = "head.logits";  // never in fp8

class ModelMaker {
 public:
  ModelMaker(const TrainingJob& job, const ParallelLayout& layout, const RankWork& work,
             WorkTables* tables)
      : job_(job),
        m_(job.model),
        layout_(layout),
        work_(work),
        maker_(job, layout, tables),
        rows_(maker_.rows()),
        local_rows_(maker_.local_rows()),
        split_(layout.sequence_parallel) {}

  TorchModel Make() {
    TorchModel model;
    model.embedding = Embedding();
    for (const LayerWork& kind : work_.kinds) model.blocks.push_back(Block(kind));
    model.kind_of_layer = work_.kind_of_layer;
    model.head = Head();
    return model;
  }

 private:
  TorchModule ForwardBackward(const std::string& name, const SubmoduleWork& work) {
    TorchModule module;
    module.name = name;
    const ForwardBackwardWork both = maker_.ForwardBackward(name, work);
    module.forward = {both.forward};
    module.backward = {both.backward};
    module.selectively_recomputed = true;
    return module;
  }

  // Gradients of both operands come from one autograd node, the input's first.
  TorchModule Linear(const std::string& name, int64_t n, int64_t k, bool bias) {
    Submodule s{.name = name, .type = job_.training.precision.type};
    s.work =
        submodule::Linear{.rows = rows_, .n = n, .k = k, .fused = bias /* addmm */, .bias = bias};
    TorchModule module;
    module.name = name;
    module.gemm = true;
    module.parameters = {n * k};
    if (bias) module.parameters.push_back(n);
    if (job_.training.precision.fp8 && name != kLogits) {
      s.type = DataType::kFp8;
      module.forward = Fp8Casts(name, n, k);
      module.backward = {Scale(name + ".gradient-scale", rows_ * n)};
    }
    const auto add = [&](Pass pass) {
      s.pass = pass;
      return maker_.Add(s);
    };
    module.forward.push_back(add(Pass::kForward));
    module.backward.push_back(add(Pass::kBackwardActivation));
    module.backward.push_back(add(Pass::kBackwardWeight));
    return module;
  }

  // Finds the largest magnitude of `elements` values, for the scale of a tensor in fp8.
  uint32_t Scale(const std::string& name, int64_t elements) {
    return maker_.Add(name, submodule::GradientNorm{{elements}}, Pass::kNone);
  }

  // torchao scales each tensor by its largest value. It reads input and weight to find that value
  // and casts the weight in each forward. The cast of the input belongs to the GEMM.
  std::vector<uint32_t> Fp8Casts(const std::string& name, int64_t n, int64_t k) {
    return {Scale(name + ".input-scale", rows_ * k), Scale(name + ".weight-scale", n * k),
            maker_.Add(name + ".weight-cast", submodule::Quantise{.rows = n, .n = k, .fused = true},
                       Pass::kForward)};
  }

  TorchModule Column(const std::string& name, int64_t n, int64_t k, bool bias, bool first) {
    TorchModule module = Linear(name, n, k, bias);
    if (first && layout_.tensor > 1) {
      module.before = split_ ? Redistribution::kGather : Redistribution::kCopy;
    }
    return module;
  }

  Redistribution RowOutput() const {
    if (layout_.tensor == 1) return Redistribution::kNone;
    return split_ ? Redistribution::kScatter : Redistribution::kSum;
  }

  TorchModule Row(const std::string& name, int64_t n, int64_t k) {
    TorchModule module = Linear(name, n, k, m_.bias);
    module.after = RowOutput();
    return module;
  }

  submodule::Norm NormOf(int64_t rows, int64_t width) const {
    return {.rows = rows,
            .n = width,
            .fused = job_.training.kernels.fused,
            .rms = m_.rms_norm,
            .bias = !m_.rms_norm};
  }

  // `joins`: the gradient of the residual branch is added to the norm's own gradient.
  TorchModule Norm(const std::string& name, bool joins) {
    TorchModule module = ForwardBackward(name, NormOf(local_rows_, m_.hidden));
    module.parameters = {m_.hidden};
    if (!m_.rms_norm) module.parameters.push_back(m_.hidden);
    module.partial_gradient = split_;
    if (joins) {
      module.backward.push_back(maker_.Add("residual.gradient",
                                           submodule::Add{.rows = local_rows_, .n = m_.hidden},
                                           Pass::kBackward));
    }
    return module;
  }

  TorchModule Residual(const std::string& name) {
    const bool dropout = m_.dropout > 0;
    TorchModule module = ForwardBackward(
        name, submodule::BiasDropoutAdd{.rows = local_rows_, .n = m_.hidden, .dropout = dropout});
    if (!dropout) module.backward.clear();  // both summands have the gradient of the sum
    return module;
  }

  TorchModule Attention(const CoreWork& core) {
    TorchModule module;
    module.name = "attention.core";
    if (layout_.context > 1) {
      module.core = &core;
    } else {
      module.forward = {core.first.forward};
      module.backward = {core.first.backward};
    }
    return module;
  }

  TorchModule Rotary(int64_t width) {
    return ForwardBackward(
        "attention.rotary",
        submodule::Rotary{.rows = rows_, .n = width, .fused = job_.training.kernels.fused});
  }

  // A norm over fewer columns than the hidden size, which tensor parallelism does not split.
  TorchModule NarrowNorm(const std::string& name, int64_t width) {
    TorchModule module = ForwardBackward(name, NormOf(rows_, width));
    module.parameters = {width};
    if (!m_.rms_norm) module.parameters.push_back(width);
    return module;
  }

  // Multi-head latent attention on one tensor rank.
  void LatentModules(const CoreWork& core, std::vector<TorchModule>* modules) {
    const LatentAttention& shape = m_.attention.latent;
    modules->push_back(Norm("attention.norm", true));
    if (shape.q_rank > 0) {
      modules->push_back(Linear("attention.wq_a", shape.q_rank, m_.hidden, false));
      modules->push_back(NarrowNorm("attention.q_norm", shape.q_rank));
    }
    modules->push_back(Linear("attention.wq_b", m_.attention.query_width(),
                              shape.q_rank > 0 ? shape.q_rank : m_.hidden, false));
    modules->push_back(Linear("attention.wkv_a", shape.kv_rank + shape.rope_dim, m_.hidden, false));
    modules->push_back(NarrowNorm("attention.kv_norm", shape.kv_rank));
    modules->push_back(Linear("attention.wkv_b",
                              m_.attention.heads * (shape.nope_dim + shape.value_dim),
                              shape.kv_rank, false));
    modules->push_back(
        Rotary(m_.attention.heads * (shape.rope_dim + m_.attention.head_dim + shape.value_dim)));
    modules->push_back(Attention(core));
    modules->push_back(Row("attention.wo", m_.hidden, m_.attention.value_width()));
    modules->push_back(Residual("attention.residual"));
  }

  void AttentionModules(const CoreWork& core, std::vector<TorchModule>* modules) {
    if (m_.attention.is_latent()) return LatentModules(core, modules);
    const int64_t query = m_.attention.query_width() / layout_.tensor,
                  kv = m_.attention.kv_width() / layout_.tensor;
    modules->push_back(Norm("attention.norm", true));
    modules->push_back(Column("attention.wq", query, m_.hidden, m_.attention.qkv_bias, true));
    modules->push_back(Column("attention.wk", kv, m_.hidden, m_.attention.qkv_bias, false));
    modules->push_back(Column("attention.wv", kv, m_.hidden, m_.attention.qkv_bias, false));
    if (m_.embedding.positions == Positions::kRotary) modules->push_back(Rotary(query + kv));
    modules->push_back(Attention(core));
    modules->push_back(Row("attention.wo", m_.hidden, query));
    modules->push_back(Residual("attention.residual"));
  }

  void MlpModules(std::vector<TorchModule>* modules) {
    const int64_t width = m_.mlp.ffn / layout_.tensor;
    modules->push_back(Norm("mlp.norm", true));
    modules->push_back(Column("mlp.w1", width, m_.hidden, m_.bias, true));
    if (m_.mlp.gated()) modules->push_back(Column("mlp.w3", width, m_.hidden, m_.bias, false));
    modules->push_back(
        ForwardBackward("mlp.activation",
                        submodule::Activation{.rows = rows_, .n = width, .gated = m_.mlp.gated()}));
    modules->push_back(Row("mlp.w2", m_.hidden, width));
    modules->push_back(Residual("mlp.residual"));
  }

  // Router and experts. Shared experts run on each rank.
  void ExpertModules(const ExpertWork& work, std::vector<TorchModule>* modules) {
    const ExpertShape& moe = m_.moe;
    const int64_t inputs = m_.mlp.gated() ? 2 : 1;
    modules->push_back(Norm("mlp.norm", true));
    TorchModule experts;
    experts.name = "moe";
    experts.experts = &work;
    experts.parameters = {m_.hidden * moe.experts};
    if (moe.shared_ffn > 0) {
      experts.parameters.push_back(m_.hidden * inputs * moe.shared_ffn / layout_.tensor);
      experts.parameters.push_back(m_.hidden * moe.shared_ffn / layout_.tensor);
      if (moe.shared_gate) experts.parameters.push_back(m_.hidden);
    }
    for (int i = 0; i < moe.experts / layout_.expert; ++i) {
      experts.expert_parameters.push_back(m_.hidden * inputs * moe.ffn / layout_.expert_tensor);
      experts.expert_parameters.push_back(m_.hidden * moe.ffn / layout_.expert_tensor);
    }
    experts.selectively_recomputed = true;
    modules->push_back(experts);
    modules->push_back(Residual("mlp.residual"));
  }

  TorchGroup Block(const LayerWork& kind) {
    TorchGroup group;
    AttentionModules(kind.attention.core, &group.modules);
    if (kind.experts) {
      ExpertModules(*kind.experts, &group.modules);
    } else {
      MlpModules(&group.modules);
    }
    int gemms = 0;
    for (TorchModule& module : group.modules) {
      if (!module.gemm) continue;
      module.selectively_recomputed = ++gemms % 2 == 0;
    }
    return group;
  }

  TorchGroup Embedding() {
    TorchGroup group;
    const int64_t vocab = layout_.padded_vocab / layout_.tensor;
    TorchModule words = ForwardBackward(
        "embedding.words", submodule::Embedding{.rows = rows_, .n = m_.hidden, .k = vocab});
    words.parameters = {vocab * m_.hidden};
    words.after = RowOutput();
    group.modules.push_back(words);
    if (m_.embedding.learned_positions()) {
      TorchModule positions = ForwardBackward("embedding.positions",
                                              submodule::Add{.rows = local_rows_, .n = m_.hidden});
      positions.parameters = {m_.embedding.max_positions * m_.hidden};
      positions.partial_gradient = split_;
      group.modules.push_back(positions);
    }
    return group;
  }

  // Logits split by the vocabulary need three reductions: maximum, sum of exponentials, label.
  std::vector<CommCall> LossCalls() const {
    std::vector<CommCall> calls;
    if (layout_.tensor == 1) return calls;
    for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kSum, ReduceOp::kSum}) {
      CommCall call;
      call.type = DataType::kFp32;
      call.op = op;
      call.count = rows_;
      call.group_size = layout_.tensor;
      calls.push_back(call);
    }
    return calls;
  }

  TorchGroup Head() {
    TorchGroup group;
    const int64_t vocab = layout_.padded_vocab / layout_.tensor;
    group.modules.push_back(Norm("head.norm", false));
    group.modules.push_back(Column(kLogits, vocab, m_.hidden, false, true));
    if (m_.embedding.tied) {
      group.modules.back().parameters.clear();
      group.modules.back().tied = true;
    }
    TorchModule loss =
        ForwardBackward("head.loss", submodule::CrossEntropy{.rows = rows_, .n = vocab});
    loss.calls = LossCalls();
    group.modules.push_back(loss);
    return group;
  }

  const TrainingJob& job_;
  const ModelShape& m_;
  const ParallelLayout& layout_;
  const RankWork& work_;
  SubmoduleMaker maker_;
  const int64_t rows_, local_rows_;
  const bool split_;
};

}  // namespace

int64_t TorchModule::elements() const {
  return std::accumulate(parameters.begin(), parameters.end(), int64_t{0});
}

int64_t TorchModule::expert_elements() const {
  return std::accumulate(expert_parameters.begin(), expert_parameters.end(), int64_t{0});
}

int64_t TorchGroup::expert_elements() const {
  int64_t total = 0;
  for (const TorchModule& module : modules) total += module.expert_elements();
  return total;
}

int64_t TorchGroup::elements() const {
  int64_t total = 0;
  for (const TorchModule& module : modules) total += module.elements();
  return total;
}

TorchModel MakeTorchModel(const TrainingJob& job, const ParallelLayout& layout,
                          const RankWork& work, WorkTables* tables) {
  return ModelMaker(job, layout, work, tables).Make();
}

}  // namespace drydock
