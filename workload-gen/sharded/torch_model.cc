#include "workload-gen/sharded/torch_model.h"

#include <algorithm>
#include <numeric>

#include "workload-gen/work/submodule_maker.h"

namespace drydock {
namespace {

constexpr const char* kLogits = "head.logits";  // never in fp8

// How a linear layer's neighbors decide what its casts to fp8 cost.
struct Neighbors {
  bool shared_input = false;         // another layer has cast the same input
  bool elementwise_input = true;     // made by an element-wise kernel, not by attention
  bool elementwise_gradient = true;  // of the output
};

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

  submodule::Linear ProductOf(int64_t n, int64_t k, bool bias) const {
    return {.rows = rows_, .n = n, .k = k, .fused = bias /* addmm */, .bias = bias};
  }

  // Gradients of both operands come from one autograd node, the input's first.
  TorchModule Linear(const std::string& name, int64_t n, int64_t k, bool bias,
                     const Neighbors& neighbors = {}) {
    TorchModule module;
    module.name = name;
    module.gemm = true;
    module.parameters = {n * k};
    if (bias) module.parameters.push_back(n);
    module.fp8 = job_.training.precision.fp8 && name != kLogits;
    const submodule::Linear product = ProductOf(n, k, bias);
    if (module.fp8 && rowwise()) RowCasts(product, !neighbors.shared_input, &module);
    if (module.fp8 && !rowwise()) TensorCasts(product, neighbors, &module);
    module.forward.push_back(Product(module, product, Pass::kForward));
    module.input_gradient = Product(module, product, Pass::kBackwardActivation);
    module.backward.push_back(*module.input_gradient);
    if (module.fp8 && rowwise()) ColumnCasts(product, !neighbors.shared_input, &module);
    module.backward.push_back(WeightGradient(module, product, !neighbors.shared_input));
    return module;
  }

  bool rowwise() const { return job_.fsdp.fp8_recipe == Fp8Scales::kRowwise; }
  bool compiled() const { return job_.training.kernels.fused; }
  bool async() const { return job_.fsdp.async_tensor; }

  // In fp8, other kernels cast the operands.
  uint32_t Product(const TorchModule& module, submodule::Linear product, Pass pass) {
    Submodule s{.name = module.name, .pass = pass, .type = job_.training.precision.type};
    if (module.fp8) s.type = DataType::kFp8;
    product.fp8_input = module.fp8 && pass == Pass::kForward;
    product.fp8_gradient = module.fp8 && pass == Pass::kBackwardActivation;
    product.row_scales = module.fp8 && rowwise();
    s.work = product;
    return maker_.Add(s);
  }

  // The product takes transposed copies of both operands, of a shared input once. It does so on
  // every GPU: an assumption for Blackwell, since torchao was read for Hopper only.
  uint32_t WeightGradient(const TorchModule& module, submodule::Linear product,
                          bool transposes_input) {
    Submodule s{
        .name = module.name, .pass = Pass::kBackwardWeight, .type = job_.training.precision.type};
    if (module.fp8) s.type = DataType::kFp8;
    product.fp8_gradient = module.fp8;
    product.fp8_input = module.fp8 && transposes_input;
    product.always_turns = module.fp8;
    product.row_scales = module.fp8 && rowwise();
    s.work = product;
    return maker_.Add(s);
  }

  // Reads rows x n elements for the largest magnitude, the scale of a tensor in fp8.
  uint32_t Scale(const std::string& name, int64_t rows, int64_t n) {
    return maker_.Add(name + "-scale", submodule::GradientNorm{{rows * n}}, Pass::kNone);
  }

  // Writes rows x n elements in fp8. With scales of rows, the kernel finds them too.
  uint32_t Cast(const std::string& name, int64_t rows, int64_t n, Pass pass) {
    return maker_.Add(
        name + "-cast",
        submodule::Quantize{.rows = rows, .n = n, .fused = true, .without_transpose = true}, pass);
  }

  // torch.compile finds the largest value in the element-wise kernel that makes the tensor.
  ScaledCast TensorCast(const std::string& name, int64_t rows, int64_t n, Pass pass,
                        bool elementwise) {
    ScaledCast cast;
    if (!compiled() || !elementwise) cast.scale = Scale(name, rows, n);
    cast.cast = Cast(name, rows, n, pass);
    cast.reduced = layout_.tensor > 1;
    return cast;
  }

  // torchao's hp_tensor_to_float8_dynamic. The product of the input's gradient takes a transposed
  // weight: fp8 read and written, half the bytes of a kernel on 16 bits.
  void TensorCasts(const submodule::Linear& product, const Neighbors& neighbors,
                   TorchModule* module) {
    const std::string& name = module->name;
    if (!neighbors.shared_input) {
      module->input_cast = TensorCast(name + ".input", rows_, product.k, Pass::kForward,
                                      neighbors.elementwise_input);
    }
    if (!job_.fsdp.fp8_all_gather) {
      module->weight_cast = TensorCast(name + ".weight", product.n, product.k, Pass::kForward,
                                       /*elementwise=*/false);
    }
    module->gradient_cast = TensorCast(name + ".gradient", rows_, product.n, Pass::kBackward,
                                       neighbors.elementwise_gradient);
    module->backward.push_back(maker_.Add(name + ".weight-transpose",
                                          submodule::GradientScale{{product.n * product.k / 2}},
                                          Pass::kNone));
  }

  // float8_linear.py, manual_float8_matmul_with_args_in_hp: each product scales its operands along
  // its own inner dimension. Along rows, one kernel finds the scales and casts.
  void RowCasts(const submodule::Linear& product, bool casts_input, TorchModule* module) {
    const std::string& name = module->name;
    if (casts_input) {
      module->forward.push_back(Cast(name + ".input", rows_, product.k, Pass::kForward));
    }
    module->forward.push_back(Cast(name + ".weight", product.n, product.k, Pass::kForward));
    module->backward.push_back(Cast(name + ".gradient", rows_, product.n, Pass::kBackward));
    AddColumnCast(name + ".weight-columns", product.n, product.k, module);
  }

  void ColumnCasts(const submodule::Linear& product, bool casts_input, TorchModule* module) {
    AddColumnCast(module->name + ".gradient-columns", rows_, product.n, module);
    if (casts_input) AddColumnCast(module->name + ".input-columns", rows_, product.k, module);
  }

  // Along columns, a first kernel finds the scales.
  void AddColumnCast(const std::string& name, int64_t rows, int64_t n, TorchModule* module) {
    module->backward.push_back(Scale(name, rows, n));
    module->backward.push_back(Cast(name, rows, n, Pass::kBackward));
  }

  // A part of the product: the rows of one tensor rank.
  uint32_t Part(const TorchModule& module, submodule::Linear product, Pass pass) {
    product.rows /= layout_.tensor;
    return Product(module, product, pass);
  }

  // The first of `sharing` column-parallel layers with the same input gathers it; the others have
  // none. In fp8 with scales of tensors, the first casts this rank's rows before that, for all of
  // them; torch.compile makes one cast of equal ones too.
  TorchModule Column(const std::string& name, int64_t n, int64_t k, bool bias, int sharing,
                     bool elementwise_gradient = true) {
    const bool first = sharing > 0, tensorwise = !rowwise();
    const bool casts_once = compiled() || (layout_.tensor > 1 && tensorwise);
    TorchModule module = Linear(
        name, n, k, bias,
        {.shared_input = !first && casts_once, .elementwise_gradient = elementwise_gradient});
    if (layout_.tensor == 1) return module;
    if (first) {
      module.before = split_ ? Redistribution::kGather : Redistribution::kCopy;
      module.sharing = sharing;
    }
    if (first && module.fp8 && tensorwise && split_) {
      module.input_cast = TensorCast(name + ".input", local_rows_, k, Pass::kForward,
                                     /*elementwise=*/true);
      module.gathered = DataType::kFp8;
    }
    if (async() && name != kLogits && (!module.fp8 || tensorwise)) {
      module.async.forward = Part(module, ProductOf(n, k, bias), Pass::kForward);
    }
    return module;
  }

  Redistribution RowOutput() const {
    if (layout_.tensor == 1) return Redistribution::kNone;
    return split_ ? Redistribution::kScatter : Redistribution::kSum;
  }

  // In fp8 with scales of tensors, this rank's rows of the output gradient are cast before they are
  // gathered.
  TorchModule Row(const std::string& name, int64_t n, int64_t k, bool elementwise_input) {
    TorchModule module = Linear(name, n, k, m_.bias, {.elementwise_input = elementwise_input});
    module.after = RowOutput();
    const bool casts = module.fp8 && !rowwise();
    if (casts && split_ && layout_.tensor > 1) {
      module.gradient_cast = TensorCast(name + ".gradient", local_rows_, n, Pass::kBackward,
                                        /*elementwise=*/true);
      module.gradient_gathered = DataType::kFp8;
    }
    if (!async()) return module;
    const submodule::Linear product = ProductOf(n, k, m_.bias);
    module.async.forward = Part(module, product, Pass::kForward);
    module.async.sum = maker_.Add(
        name + ".sum", submodule::Add{.rows = local_rows_, .n = n, .summands = layout_.tensor},
        Pass::kForward);
    if (!module.fp8 || casts) {
      module.async.gradient = Part(module, product, Pass::kBackwardActivation);
    }
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
    modules->push_back(Row("attention.wo", m_.hidden, m_.attention.value_width(), false));
    modules->push_back(Residual("attention.residual"));
  }

  void AttentionModules(const CoreWork& core, std::vector<TorchModule>* modules) {
    if (m_.attention.is_latent()) return LatentModules(core, modules);
    const int64_t query = m_.attention.query_width() / layout_.tensor,
                  kv = m_.attention.kv_width() / layout_.tensor;
    modules->push_back(Norm("attention.norm", true));
    modules->push_back(Column("attention.wq", query, m_.hidden, m_.attention.qkv_bias, 3));
    modules->push_back(Column("attention.wk", kv, m_.hidden, m_.attention.qkv_bias, 0));
    modules->push_back(Column("attention.wv", kv, m_.hidden, m_.attention.qkv_bias, 0,
                              /*elementwise_gradient=*/false));
    if (m_.embedding.rotates()) modules->push_back(Rotary(query + kv));
    modules->push_back(Attention(core));
    modules->push_back(Row("attention.wo", m_.hidden, query, false));
    modules->push_back(Residual("attention.residual"));
  }

  void MlpModules(std::vector<TorchModule>* modules) {
    const int64_t width = m_.mlp.ffn / layout_.tensor;
    modules->push_back(Norm("mlp.norm", true));
    modules->push_back(Column("mlp.w1", width, m_.hidden, m_.bias, m_.mlp.gated() ? 2 : 1));
    if (m_.mlp.gated()) modules->push_back(Column("mlp.w3", width, m_.hidden, m_.bias, 0));
    modules->push_back(
        ForwardBackward("mlp.activation",
                        submodule::Activation{.rows = rows_, .n = width, .gated = m_.mlp.gated()}));
    modules->push_back(Row("mlp.w2", m_.hidden, width, true));
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
    AttentionModules(kind.attention->core, &group.modules);
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
    group.modules.push_back(Column(kLogits, vocab, m_.hidden, false, 1));
    if (m_.embedding.tied) {
      group.modules.back().parameters.clear();
      group.modules.back().tied = true;
    }
    TorchModule loss =
        ForwardBackward("head.loss", submodule::CrossEntropy{.rows = rows_, .n = vocab});
    loss.calls = LossCalls();
    loss.behind = true;
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

int64_t TorchGroup::fp8_elements() const {
  int64_t total = 0;
  for (const TorchModule& module : modules) total += module.fp8 ? module.parameters.front() : 0;
  return total;
}

size_t TorchGroup::CountRepeated(const TrainingJob& job) const {
  const TrainingRules& training = job.training;
  const bool compiled = training.framework == FrameworkKind::kFsdp && training.kernels.fused;
  if (training.recompute.granularity != Recompute::kFull || !compiled) return modules.size();
  size_t last = modules.size();
  while (last > 0 && !modules[last - 1].gemm && modules[last - 1].experts == nullptr) --last;
  return last > 0 && modules[last - 1].gemm ? last - 1 : modules.size();
}

size_t TorchGroup::CountBehind() const {
  return static_cast<size_t>(
      std::count_if(modules.begin(), modules.end(), [](const TorchModule& m) { return m.behind; }));
}

int64_t TorchGroup::fp8_weights() const {
  return std::count_if(modules.begin(), modules.end(),
                       [](const TorchModule& module) { return module.fp8; });
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
