#include "workload-gen/work/mlp_work.h"

#include <algorithm>

#include "workload-gen/work/adapter_work.h"

namespace drydock {
namespace {

class ExpertMaker {
 public:
  ExpertMaker(SubmoduleMaker* maker, ExpertLoad load, WorkTables* tables)
      : maker_(*maker),
        m_(maker->model()),
        layout_(maker->layout()),
        training_(maker->job().training),
        tables_(tables) {
    work_.routing = RouteTokens(maker->job(), layout_, load);
    local_experts_ = m_.moe.experts / layout_.expert;
    width_ = m_.expert_width();
  }

  ExpertWork Make(int gpus) {
    MakeRouter();
    MakeMoves();
    MakeLinearLayers();
    MakeExchanges(gpus);
    if (m_.moe.shared_ffn > 0) MakeShared();
    if (m_.moe.latent > 0) MakeLatent();
    if (m_.bias) MakeBias();
    MakePadding();
    return work_;
  }

 private:
  void MakeRouter() {
    const int64_t tokens = work_.routing.tokens;
    const bool accumulate_fp32 = training_.kernels.gradient_accumulation_fusion &&
                                 training_.precision.gradients == DataType::kFp32;
    work_.router =
        maker_.ForwardBackward("moe.router", submodule::Router{.rows = tokens,
                                                               .n = m_.moe.experts,
                                                               .k = m_.hidden,
                                                               .accumulate_fp32 = accumulate_fp32});
    work_.top_k =
        maker_.ForwardBackward("moe.top-k", submodule::TopK{.rows = tokens,
                                                            .n = m_.moe.experts,
                                                            .top_k = m_.moe.per_token,
                                                            .fused = training_.moe.router_fusion,
                                                            .aux_loss = training_.moe.aux_loss});
  }

  // All-to-all copies a token for each of its experts before the dispatch and sorts the copies at
  // their destination. The other dispatchers send tokens, which are copied at the experts.
  void MakeMoves() {
    submodule::TokenMove at_experts{
        .rows = work_.routing.received, .n = width_, .experts = local_experts_, .top_k = 1};
    const MoeDispatcher dispatcher = training_.moe.dispatcher;
    if (dispatcher == MoeDispatcher::kAllToAll) {
      const submodule::TokenMove copies{.rows = work_.routing.tokens,
                                        .n = width_,
                                        .experts = m_.moe.experts,
                                        .top_k = m_.moe.per_token,
                                        .counts = true};
      work_.permute = maker_.ForwardBackward("moe.permute", submodule::Permute{copies});
      work_.unpermute = maker_.ForwardBackward("moe.unpermute", submodule::Unpermute{copies});
      if (local_experts_ == 1) return;
      work_.sort = maker_.ForwardBackward("moe.sort", submodule::Permute{at_experts});
      work_.unsort = maker_.ForwardBackward("moe.sort", submodule::Unpermute{at_experts});
      return;
    }
    work_.unpermute = maker_.ForwardBackward("moe.unpermute", submodule::Unpermute{at_experts});
    at_experts.counts = dispatcher != MoeDispatcher::kHybridEp;  // its own kernels count
    work_.permute = maker_.ForwardBackward("moe.permute", submodule::Permute{at_experts});
  }

  // Unlike in a dense MLP, the GEMM adds the bias of fc1.
  ForwardBackwardWork Activation(int64_t rows, int64_t width) {
    return maker_.ForwardBackward(
        "moe.activation",
        submodule::Activation{
            .rows = rows, .n = width, .gated = m_.mlp.gated(), .clamped = m_.mlp.clamp > 0});
  }

  // weighted_bias_quick_geglu_impl of Megatron-Core: each half is clamped, and a copy joins both.
  void MakeClamp(int64_t rows, int64_t width) {
    if (m_.mlp.clamp == 0) return;
    const submodule::Add pass{.rows = rows, .n = (m_.mlp.gated() ? 2 : 1) * width, .summands = 1};
    work_.clamp.push_back(maker_.Add("moe.clamp", pass, Pass::kForward));
    if (m_.mlp.gated()) work_.clamp.push_back(maker_.Add("moe.clamp-join", pass, Pass::kForward));
  }

  void MakeLinearLayers() {
    const int64_t tensor = layout_.expert_tensor, width = m_.moe.ffn / tensor;
    const int64_t fc1_width = (m_.mlp.gated() ? 2 : 1) * width, rows = work_.routing.received;
    if (training_.moe.grouped_gemm) {
      // Layers that stay in 16 bits run the activation apart.
      work_.fused = training_.moe.fused_mlp && maker_.quantizes();
      const auto fused = [&](FusedActivation how) {
        return work_.fused ? how : FusedActivation::kNone;
      };
      work_.fc1 = maker_.GroupedLinear("moe.fc1", rows, fc1_width, width_, local_experts_,
                                       fused(FusedActivation::kBehind));
      if (!work_.fused) MakeClamp(rows, width);
      work_.activation = Activation(rows, width);
      work_.fc2 = maker_.GroupedLinear("moe.fc2", rows, width_, width, local_experts_,
                                       fused(FusedActivation::kBefore));
      return;
    }
    const int64_t each = (rows + local_experts_ - 1) / local_experts_;
    work_.repeat = static_cast<int>(local_experts_);
    work_.fc1 = maker_.Linear("moe.fc1", each, fc1_width, width_, false);
    MakeClamp(each, width);
    work_.activation = Activation(each, width);
    work_.fc2 = maker_.Linear("moe.fc2", each, width_, width, false);
  }

  void MakeExchanges(int gpus) {
    if (training_.moe.without_nccl()) {
      if (layout_.expert * layout_.expert_tensor == 1) return;
      if (training_.moe.low_latency) return MakeLowLatencyExchanges();
      MakeLibraryExchanges(gpus);
      if (training_.moe.dispatcher == MoeDispatcher::kHybridEp) MakeHybridEpKernels(gpus);
      return;
    }
    const DataType type = training_.precision.type;
    if (training_.moe.dispatcher == MoeDispatcher::kAllGather || layout_.expert == 1) return;
    const auto exchange = [&](int64_t width, bool back) {
      return tables_->Intern(TokenExchange(work_.routing, layout_, type, width, back));
    };
    work_.tokens_out = work_.gradients_out = exchange(width_, false);
    work_.tokens_back = work_.gradients_back = exchange(width_, true);
    work_.probabilities_out = exchange(1, false);
    work_.probabilities_back = exchange(1, true);
  }

  // Tokens take along the probabilities of their experts, and the gradients of tokens bring back
  // theirs; the other two calls carry values only (HybridEPDispatch and HybridEPCombine of
  // Megatron-Core's fused_a2a.py, and their like for DeepEP). DeepEP sends an index (8 B) and a
  // probability (4 B) for each expert of the token, and a gradient (4 B) back; HybridEP a
  // probability or gradient for every expert of the GPUs that share NVLink
  // (NUM_OF_EXPERTS_PER_RANK x NUM_OF_RANKS_PER_NODE of its hybrid_ep_backend.cuh).
  void MakeLibraryExchanges(int gpus) {
    const DataType type = training_.precision.type;
    const auto exchange = [&](int64_t more, bool back) {
      return tables_->Intern(LibraryExchange(maker_.job(), layout_, gpus, work_.routing.tokens,
                                             type, width_ + more / SizeOf(type).count(), back));
    };
    const bool hybrid = training_.moe.dispatcher == MoeDispatcher::kHybridEp;
    const int64_t near = std::min(gpus, layout_.expert * layout_.expert_tensor);
    const int64_t all = 4 * near * local_experts_, own = m_.moe.per_token;
    work_.tokens_out = exchange(hybrid ? all : 12 * own, /*back=*/false);
    work_.tokens_back = exchange(0, /*back=*/true);
    work_.gradients_out = exchange(0, /*back=*/false);
    work_.gradients_back = exchange(hybrid ? all : 4 * own, /*back=*/true);
  }

  // A message of a dispatch begins with 16 bytes, its token's index among them; probabilities stay
  // at the sender, where the combine multiplies by them (internode_ll.cu).
  void MakeLowLatencyExchanges() {
    const DataType type = training_.precision.type;
    const auto exchange = [&](int64_t more, bool back) {
      return tables_->Intern(LowLatencyExchange(work_.routing, layout_, type,
                                                width_ + more / SizeOf(type).count(), back));
    };
    work_.tokens_out = work_.gradients_out = exchange(16, /*back=*/false);
    work_.tokens_back = work_.gradients_back = exchange(0, /*back=*/true);
  }

  // HybridEP's kernels around its exchange (executor.cu and `scan` of hybrid_ep_backend.cuh). One
  // finds from the gathered map where each token goes: it reads the columns of the experts that
  // share NVLink twice, which is as much as to copy them, and writes little. Across hosts, what is
  // sent is copied into a buffer that NICs can read, with a probability in fp32 for each expert.
  void MakeHybridEpKernels(int gpus) {
    const int64_t ranks = layout_.expert * layout_.expert_tensor;
    const int64_t near = std::min<int64_t>(gpus, ranks), tokens = work_.routing.tokens;
    const auto copy = [&](const std::string& name, DataType type, int64_t rows, int64_t n,
                          Pass pass) {
      return maker_.Add({.name = name,
                         .pass = pass,
                         .type = type,
                         .work = submodule::Add{.rows = rows, .n = n, .summands = 1}});
    };
    work_.scan =
        copy("moe.scan", DataType::kUint8, tokens * ranks, near * local_experts_, Pass::kForward);
    if (near == ranks) return;
    const DataType type = training_.precision.type;
    const int64_t more = 4 * int64_t{m_.moe.experts} / SizeOf(type).count();
    work_.stage_tokens = copy("moe.stage", type, tokens, width_ + more, Pass::kForward);
    work_.stage_gradients = copy("moe.stage", type, tokens, width_, Pass::kBackward);
  }

  void MakeLatent() {
    const int64_t tokens = work_.routing.tokens;
    const LinearPartScope part(&maker_, &LinearParts::latent);
    work_.latent = {maker_.Linear("moe.latent-down", tokens, width_, m_.hidden, false),
                    maker_.Linear("moe.latent-up", tokens, m_.hidden, width_, false)};
  }

  // Fp8Padding and Fp8Unpadding of TEGroupedMLP: products in fp8 need multiples of 16 rows or more,
  // and hardly ever do all experts of a rank receive such numbers. One kernel each way, all rows
  // and both passes; the rows of padding are not counted.
  void MakePadding() {
    const ExpertRules& moe = training_.moe;
    if (!training_.precision.quantized() || !moe.grouped_gemm || moe.router_padding ||
        moe.low_latency || work_.routing.padded || moe.dispatcher == MoeDispatcher::kHybridEp) {
      return;
    }
    const submodule::Add copy{.rows = work_.routing.received, .n = width_, .summands = 1};
    work_.pad = maker_.ForwardBackward("moe.pad", copy);
    work_.unpad = maker_.ForwardBackward("moe.unpad", copy);
  }

  // TEGroupedMLP._apply_bias: operators of PyTorch, for each expert. DeepEP and HybridEP hand on
  // probabilities in fp32, so what they touch is fp32: the product, the sums, and the join that a
  // cast to 16 bits follows.
  void MakeBias() {
    const int64_t rows = work_.routing.received;
    const int64_t each = (rows + local_experts_ - 1) / local_experts_;
    const bool wide = training_.moe.without_nccl();
    // A kernel of `operands` operands of 16 bits; an operand in fp32 counts as two.
    const auto add = [&](const std::string& name, int64_t of, int64_t operands, Pass pass) {
      return maker_.Add(name, submodule::Add{.rows = of, .n = width_, .summands = operands - 1},
                        pass);
    };
    ExpertBiasWork bias;
    bias.experts = static_cast<int>(local_experts_);
    bias.weight = {add("moe.bias-weight", each, 2, Pass::kForward),
                   add("moe.bias-weight", each, wide ? 4 : 2, Pass::kBackward)};
    bias.add = add("moe.bias-add", each, wide ? 5 : 3, Pass::kForward);
    bias.sum =
        maker_.Add({.name = "moe.bias-sum",
                    .pass = Pass::kBackward,
                    .type = wide ? DataType::kFp32 : training_.precision.type,
                    .work = submodule::BiasDropoutAdd{.rows = each, .n = width_, .bias = true}});
    bias.join = {add("moe.bias-join", rows, wide ? 4 : 2, Pass::kForward),
                 add("moe.bias-join", rows, 2, Pass::kBackward)};
    if (wide) {
      bias.cast = {add("moe.bias-cast", rows, 3, Pass::kForward),
                   add("moe.bias-cast", rows, 3, Pass::kBackward)};
      bias.narrow = add("moe.bias-narrow", each, 3, Pass::kBackward);
    }
    work_.bias = bias;
  }

  void MakeShared() {
    SharedExpertWork shared;
    shared.mlp = MakeMlp(&maker_, "shared", m_.moe.shared_ffn, InputFrom::kElsewhere,
                         maker_.job().overlap.shared_expert);
    const int64_t rows = maker_.local_rows();
    if (m_.moe.shared_gate) shared.gate = maker_.HeadLinear("shared.gate", rows, 1, m_.hidden);
    const submodule::Add add{.rows = rows, .n = m_.hidden};
    shared.add_output = maker_.Add("shared.add", add, Pass::kForward);
    shared.add_gradient = maker_.Add("shared.add", add, Pass::kBackward);
    work_.shared = shared;
  }

  SubmoduleMaker& maker_;
  const ModelShape& m_;
  const ParallelLayout& layout_;
  const TrainingRules& training_;
  WorkTables* tables_;
  int64_t local_experts_ = 1;
  int64_t width_ = 0;  // of a token at the experts
  ExpertWork work_;
};

}  // namespace

MlpWork MakeMlp(SubmoduleMaker* maker, const std::string& prefix, int64_t ffn, InputFrom from,
                bool beside) {
  const ModelShape& m = maker->model();
  const int64_t width = ffn / maker->layout().tensor, rows = maker->rows();
  const int64_t inner = (m.mlp.gated() ? 2 : 1) * width;
  const std::string fc1 = prefix + ".fc1", fc2 = prefix + ".fc2";
  MlpWork mlp;
  maker->SetFusedOps(!beside);
  mlp.fc1 = beside ? maker->Linear(fc1, rows, inner, m.hidden, false)
                   : maker->OverlappedColumnLinear(fc1, rows, inner, m.hidden, false, from);
  mlp.activation = maker->Activation(prefix + ".activation", rows, width);
  mlp.fc2 = beside ? maker->Linear(fc2, rows, m.hidden, width, false)
                   : maker->OverlappedRowLinear(fc2, rows, m.hidden, width,
                                                maker->job().overlap.scatter_fc2);
  maker->SetFusedOps(false);
  if (m.lora.targets.fc1) {
    mlp.fc1.adapter = MakeAdapter(maker, fc1, {LinearSplit::kColumns, rows, inner, m.hidden});
  }
  if (m.lora.targets.fc2) {
    mlp.fc2.adapter = MakeAdapter(maker, fc2, {LinearSplit::kRows, rows, m.hidden, width});
  }
  return mlp;
}

ExpertWork MakeExperts(SubmoduleMaker* maker, ExpertLoad load, int gpus, WorkTables* tables) {
  return ExpertMaker(maker, load, tables).Make(gpus);
}

}  // namespace drydock
