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
  TorchModule BothWays(const Submodule& s) {
    TorchModule module;
    module.name = s.name;
    const TwoWayWork work = maker_.BothWays(s);
    module.forward = {work.forward};
    module.backward = {work.backward};
    module.selectively_recomputed = true;
    return module;
  }

  // Gradients of both operands come from one autograd node, the input's first.
  TorchModule Linear(const std::string& name, int64_t n, int64_t k, bool bias) {
    Submodule s = maker_.Base(name, SubmoduleKind::kLinear, rows_, n);
    s.k = k;
    s.bias = bias;
    s.fused = bias;  // addmm
    TorchModule module;
    module.name = name;
    module.product = true;
    module.parameters = {n * k};
    if (bias) module.parameters.push_back(n);
    if (job_.training.precision.fp8 && name != kLogits) {
      s.type = DataType::kFp8;
      module.forward = Fp8Casts(name, n, k);
      module.backward = {Scale(name + ".gradient-scale", rows_ * n)};
    }
    module.forward.push_back(maker_.Add(s, Pass::kForward));
    module.backward.push_back(maker_.Add(s, Pass::kBackwardActivation));
    module.backward.push_back(maker_.Add(s, Pass::kBackwardWeight));
    return module;
  }

  // The largest of so many values, for the scale of a tensor in fp8.
  uint32_t Scale(const std::string& name, int64_t elements) {
    Submodule s = maker_.Base(name, SubmoduleKind::kGradientNorm, 0, 0);
    s.elements = elements;
    return maker_.Add(s, Pass::kNone);
  }

  // torchao scales tensors by their own largest value: input and weight are read for it, and the
  // weight is cast each time. The input's cast belongs to the product.
  std::vector<uint32_t> Fp8Casts(const std::string& name, int64_t n, int64_t k) {
    Submodule cast = maker_.Base(name + ".weight-cast", SubmoduleKind::kQuantise, n, k);
    cast.fused = true;
    return {Scale(name + ".input-scale", rows_ * k), Scale(name + ".weight-scale", n * k),
            maker_.Add(cast, Pass::kForward)};
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

  // `joins`: the gradient of the residual that passes by the norm is added to its own.
  TorchModule Norm(const std::string& name, bool joins) {
    Submodule s = maker_.Base(name, SubmoduleKind::kNorm, local_rows_, m_.hidden);
    s.rms = m_.rms_norm;
    s.bias = !m_.rms_norm;
    s.fused = job_.training.kernels.fused;
    TorchModule module = BothWays(s);
    module.parameters = {m_.hidden};
    if (!m_.rms_norm) module.parameters.push_back(m_.hidden);
    module.partial_gradient = split_;
    if (joins) {
      module.backward.push_back(
          maker_.Add(maker_.Base("residual.gradient", SubmoduleKind::kAdd, local_rows_, m_.hidden),
                     Pass::kBackward));
    }
    return module;
  }

  TorchModule Residual(const std::string& name) {
    Submodule s = maker_.Base(name, SubmoduleKind::kBiasDropoutAdd, local_rows_, m_.hidden);
    s.dropout = m_.dropout > 0;
    TorchModule module = BothWays(s);
    if (!s.dropout) module.backward.clear();  // the gradient goes both ways as it is
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
    Submodule rotary = maker_.Base("attention.rotary", SubmoduleKind::kRotary, rows_, width);
    rotary.fused = job_.training.kernels.fused;
    return BothWays(rotary);
  }

  // A norm of something narrower than the model, which tensor parallelism does not split.
  TorchModule NarrowNorm(const std::string& name, int64_t width) {
    Submodule s = maker_.Base(name, SubmoduleKind::kNorm, rows_, width);
    s.rms = m_.rms_norm;
    s.bias = !m_.rms_norm;
    s.fused = job_.training.kernels.fused;
    TorchModule module = BothWays(s);
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
    Submodule activation = maker_.Base("mlp.activation", SubmoduleKind::kActivation, rows_, width);
    activation.gated = m_.mlp.gated();
    modules->push_back(BothWays(activation));
    modules->push_back(Row("mlp.w2", m_.hidden, width));
    modules->push_back(Residual("mlp.residual"));
  }

  // Router and experts; those that are shared run on every rank.
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
    int products = 0;
    for (TorchModule& module : group.modules) {
      if (!module.product) continue;
      module.selectively_recomputed = ++products % 2 == 0;
    }
    return group;
  }

  TorchGroup Embedding() {
    TorchGroup group;
    Submodule s = maker_.Base("embedding.words", SubmoduleKind::kEmbedding, rows_, m_.hidden);
    s.k = layout_.padded_vocab / layout_.tensor;
    TorchModule words = BothWays(s);
    words.parameters = {s.k * m_.hidden};
    words.after = RowOutput();
    group.modules.push_back(words);
    if (m_.embedding.learned_positions()) {
      TorchModule positions =
          BothWays(maker_.Base("embedding.positions", SubmoduleKind::kAdd, local_rows_, m_.hidden));
      positions.parameters = {m_.embedding.max_positions * m_.hidden};
      positions.partial_gradient = split_;
      group.modules.push_back(positions);
    }
    return group;
  }

  // Of logits split by the vocabulary: the largest, the sum of exponentials, the label's.
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
        BothWays(maker_.Base("head.loss", SubmoduleKind::kCrossEntropy, rows_, vocab));
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
