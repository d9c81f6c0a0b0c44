// "Does a workload get all its times, and is the source of each time stated?"
#include "compute-sim/model/simulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compute-sim/model/gpu_spread.h"
#include "compute-sim/model_table.h"
#include "compute-sim/submodules/submodule_kernels.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

Submodule Linear(Pass pass, int64_t rows, int64_t n, int64_t k) {
  return {.name = "mlp.fc1", .pass = pass, .work = submodule::Linear{.rows = rows, .n = n, .k = k}};
}

Workload WorkloadOn(std::vector<std::string> gpus) {
  Workload w;
  for (const std::string& gpu : gpus) w.topology.gpus.push_back(ShippedGpu(gpu));
  w.submodules = {Linear(Pass::kForward, 4096, 8192, 4096),
                  Linear(Pass::kBackwardWeight, 4096, 8192, 4096)};
  return w;
}

SimulateOptions Options() { return {AllComputeModels(), {}, "", {}, ShippedAssumptions()}; }

TEST(Simulate, FallbacksAreCounted) {
  SimulateOptions options = Options();
  options.profiles = {SharedProfile(
      "# gpu: a100-sxm-80g\n# provenance: a\n# method: b\n# date: c\nkernel,dtype,m,n,k,time\n"
      "gemm,bf16,4096,8192,4096,1 ms\n")};
  const KernelTimes times = *Simulate(WorkloadOn({"a100-sxm-80g", "b300-sxm-288g"}), options);
  ASSERT_EQ(times.gpus.size(), 2u);
  EXPECT_EQ(times.source_count[0], 1);  // the forward GEMM on the A100
  EXPECT_EQ(times.source_count[1], 1);  // its weight gradient there
  EXPECT_EQ(times.source_count[2], 2);  // both on the B300
  EXPECT_EQ(
      SourcesText(times),
      "4 kernels: 1 profile, 1 model, 2 scaled; 1 as measured; 1 too far from any row, from x2.00; "
      "scaled times +- 9.0 %");
  EXPECT_EQ(times.gpus[0].submodules[0].kernels[0].time, Time::Us(1000));
}

// The products of a scan have no measurement; the summary says how many there are.
TEST(Simulate, KernelsAtAssumedRatesAreCounted) {
  Workload w;
  w.topology.gpus = {ShippedGpu("h100-sxm-80g")};
  const submodule::StateSpace scan{
      .rows = 1024, .heads = 4, .head_dim = 64, .state = 128, .groups = 2, .chunk = 128, .taps = 4};
  w.submodules = {{.name = "mamba.scan", .pass = Pass::kForward, .work = scan}};
  const KernelTimes times = *Simulate(w, Options());
  EXPECT_EQ(SourcesText(times),
            "7 kernels: 0 profile, 7 model, 0 scaled; 3 at assumed rates +- 30.0 %");
}

// A short benchmark sees faster GEMMs; the other kernels take the same time.
TEST(Simulate, BurstClocksAreAnOption) {
  SimulateOptions options = Options();
  const KernelTimes usual = *Simulate(WorkloadOn({"a100-sxm-80g", "h200-sxm-141g"}), options);
  options.clocks = KernelParameters::Clocks::kBurst;
  const KernelTimes burst = *Simulate(WorkloadOn({"a100-sxm-80g", "h200-sxm-141g"}), options);
  for (const size_t gpu : {0u, 1u}) {
    const KernelTime& slow = usual.gpus[gpu].submodules[0].kernels[0];
    const KernelTime& fast = burst.gpus[gpu].submodules[0].kernels[0];
    EXPECT_LT(fast.time, slow.time);
    EXPECT_GT(fast.time.us(), slow.time.us() / 1.22);  // the largest derate of both
    EXPECT_GT(fast.expected_error, 0.01);
    EXPECT_LT(fast.expected_error, 0.12);
  }
}

TEST(Simulate, TotalIsTheSumOfKernelsAndLaunchGaps) {
  const KernelTimes times = *Simulate(WorkloadOn({"a100-sxm-80g"}), Options());
  for (const SubmoduleTime& submodule : times.gpus[0].submodules) {
    Time sum;
    for (const KernelTime& kernel : submodule.kernels) sum += kernel.time;
    EXPECT_EQ(submodule.total, sum);
    EXPECT_EQ(submodule.kernels.back().name, "launch gaps");
    EXPECT_EQ(submodule.kernels.back().time, Time::Ns(1270));
  }
}

// What a kernel does besides its product is part of the kernel, and has no launch.
TEST(Simulate, AnEpilogueLengthensItsKernel) {
  Workload w;
  w.topology.gpus = {ShippedGpu("b200-sxm-180g")};
  submodule::GroupedLinear product{
      .rows = 32768, .n = 4096, .k = 7168, .experts = 8, .one_kernel = true};
  w.submodules = {{.name = "moe.fc1", .type = DataType::kMxfp8, .work = product}};
  product.fused = product.gated = true;
  w.submodules.push_back({.name = "moe.fc1", .type = DataType::kMxfp8, .work = product});
  const KernelTimes times = *Simulate(w, Options());
  const SubmoduleTime& apart = times.gpus[0].submodules[0];
  const SubmoduleTime& fused = times.gpus[0].submodules[1];
  ASSERT_EQ(fused.kernels.size(), apart.kernels.size());
  EXPECT_EQ(fused.kernels[1].name, "grouped-gemm");
  EXPECT_TRUE(fused.kernels[1].shape.ends_with("mxfp8 with swiglu")) << fused.kernels[1].shape;
  EXPECT_EQ(fused.total - apart.total, fused.kernels[1].time - apart.kernels[1].time);
  // 32768 x 2048 x 2.0625 B at the 6 to 8 TB/s that a B200 moves.
  EXPECT_NEAR((fused.total - apart.total).us(), 138.4e6 / 7e6, 4);
}

// Ranks wait for the slowest GPU. The time of memory-bound kernels does not depend on its clock.
TEST(Simulate, RunTakesTheTimeOfItsSlowestGpu) {
  Workload w = WorkloadOn({"h200-sxm-141g"});
  w.submodules.push_back(w.submodules[0]);
  w.submodules.back().work = submodule::Norm{.rows = 4096, .n = 8192};
  const KernelTimes one = *Simulate(w, Options());
  w.class_of_rank.resize(512);
  const KernelTimes many = *Simulate(w, Options());
  const double slowest = SlowestTime(*SpreadOf(w.topology.gpus[0]), 512);
  EXPECT_NEAR(slowest, 1.036, 0.001);
  for (const size_t gemm : {0u, 1u}) {
    const KernelTime& time = many.gpus[0].submodules[gemm].kernels[0];
    EXPECT_NEAR(time.time.us(), one.gpus[0].submodules[gemm].kernels[0].time.us() * slowest, 1e-5);
    EXPECT_NE(time.detail.find(", slowest of 512 x1.036"), std::string::npos) << time.detail;
  }
  EXPECT_EQ(many.gpus[0].submodules[2].total, one.gpus[0].submodules[2].total);
}

TEST(Simulate, IsDeterministic) {
  const Workload w = WorkloadOn({"a100-sxm-80g", "b200-sxm-180g"});
  EXPECT_EQ(Explain(w, *Simulate(w, Options())), Explain(w, *Simulate(w, Options())));
}

TEST(Simulate, RefusesAProfileOfAnotherGpu) {
  SimulateOptions options = Options();
  options.profiles = {SharedProfile(
      "# gpu: h100-sxm-80\n# provenance: a\n# method: b\n# date: c\nkernel,dtype,m,n,k,time\n")};
  EXPECT_EQ(Simulate(WorkloadOn({"h200-sxm-141g"}), options).error().ToString(),
            "p.csv: error: this profile was measured on 'h100-sxm-80'; did you mean "
            "'h100-sxm-80g'?; this run needs h200-sxm-141g, h100-sxm-80g");
}

// A row with a wrong unit would spoil every answer near it.
TEST(Simulate, RefusesRowsThatNoGpuCanReach) {
  std::string text =
      "# gpu: h100-sxm-80g\n# provenance: a\n# method: b\n# date: c\n"
      "kernel,dtype,m,n,k,rows,columns,time\n"
      "gemm,bf16,8192,8192,8192,,,1200 us\ngemm,bf16,4096,8192,8192,,,1200 ns\n"
      "gelu,bf16,,,,4096,4096,1 ns\ngelu,bf16,,,,4096,8192,3 us\n";
  SimulateOptions options;
  options.profiles = {SharedProfile(text)};
  EXPECT_EQ(MakeGpuData(ShippedGpu("h100-sxm-80g"), options).error().ToString(),
            "p.csv:7: error: no h100-sxm-80g can do that: 549.8 GFLOP in 1.2 us are 4.581e+05 "
            "TFLOPS, its dense rate is 989\n"
            "p.csv:8: error: no h100-sxm-80g can do that: 67.11 MB in 1 ns are 6.711e+04 TB/s, its "
            "memory has 3.35");
  for (int m = 1; m <= 20; ++m) text += fmt::format("gemm,bf16,{},8192,8192,,,1 ps\n", m);
  options.profiles = {SharedProfile(text)};
  const std::string all = MakeGpuData(ShippedGpu("h100-sxm-80g"), options).error().ToString();
  EXPECT_NE(all.find("p.csv: error: 12 more rows are too fast"), std::string::npos) << all;
}

TEST(Simulate, RefusesAReferenceWithoutAFile) {
  Workload w = WorkloadOn({"b300-sxm-288g"});
  w.topology.gpus[0].reference_text.clear();
  EXPECT_EQ(Simulate(w, Options()).error().message(),
            "the GPU 'b300-sxm-288g' refers to 'b200-sxm-180g', whose file was not found");
  w.topology.gpus[0].reference = "h800-sxm-80g";
  w.topology.gpus[0].reference_text = *ReadFile("configs/gpus/h800-sxm-80g.yaml");
  EXPECT_EQ(Simulate(w, Options()).error().message(),
            "the GPU 'b300-sxm-288g' refers to 'h800-sxm-80g', which has no 'kernels:' section");
}

TEST(Simulate, RefusesAGpuWithoutKernelTimes) {
  Workload w = WorkloadOn({"b300-sxm-288g"});
  w.topology.gpus[0].reference.clear();
  const auto times = Simulate(w, Options());
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(
      times.error().ToString(),
      "configs/gpus/b300-sxm-288g.yaml: error: there are no kernel times for the GPU "
      "'b300-sxm-288g': its file has neither 'kernels:' nor 'reference:', and no profile of it "
      "was given (--gpu-profile)");
}

TEST(Simulate, NamesEverySubmoduleWithoutATime) {
  SimulateOptions options = Options();
  options.models = *FindComputeModels({"profile"});
  const auto times = Simulate(WorkloadOn({"h200-sxm-141g"}), options);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.error().diagnostics().size(), 2u);
  EXPECT_EQ(times.error().message(),
            "submodule 'mlp.fc1': there is no time for gemm 4096x8192x4096 bf16 on the GPU "
            "'h200-sxm-141g':\n"
            "  profile: no profile of this GPU was given");
}

TEST(Simulate, UnknownAttentionLibrarySuggestsTheNearest) {
  SimulateOptions options = Options();
  options.attention_library = "flash2";
  EXPECT_EQ(
      Simulate(WorkloadOn({"h100-sxm-80g"}), options).error().message(),
      "the GPU 'h100-sxm-80g' has no attention library 'flash2'; did you mean 'flash-2'?; "
      "valid are transformer-engine, pytorch, flash-2, flash-3, cudnn-9, cudnn-9-fp8, trtllm, "
      "flash, cudnn");
}

// The time of a layer's fused attention on a GPU, with the kernels that `backend` picks.
Time AttentionTime(const std::string& gpu, const std::string& backend,
                   DataType type = DataType::kBf16) {
  Workload w = WorkloadOn({gpu});
  w.submodules = {{.name = "attention.core",
                   .type = type,
                   .work = submodule::Attention{.batch = 2,
                                                .sequence = 8192,
                                                .heads = 32,
                                                .kv_heads = 32,
                                                .head_dim = 128,
                                                .causal = true,
                                                .fused = true}}};
  SimulateOptions options = Options();
  options.attention_library = backend;
  return Simulate(w, options)->gpus[0].submodules[0].total;
}

// On Hopper, PyTorch picks FlashAttention-2 and Transformer Engine picks cuDNN. If a GPU's file
// does not state PyTorch's library, both pick the same.
TEST(Simulate, FrameworksPickTheirOwnAttention) {
  for (const char* hopper : {"h100-sxm-80g", "h200-sxm-141g"}) {
    EXPECT_EQ(AttentionTime(hopper, "pytorch"), AttentionTime(hopper, "flash-2"));
    EXPECT_EQ(AttentionTime(hopper, "transformer-engine"), AttentionTime(hopper, "cudnn-9"));
    EXPECT_EQ(AttentionTime(hopper, ""), AttentionTime(hopper, "cudnn-9"));
    EXPECT_GT(AttentionTime(hopper, "pytorch").us(), 1.3 * AttentionTime(hopper, "cudnn-9").us());
  }
  EXPECT_EQ(AttentionTime("a100-sxm-80g", "pytorch"), AttentionTime("a100-sxm-80g", ""));
}

// Fp8 has kernels of its own: cuDNN's, also where another family is asked for and has none.
TEST(Simulate, AttentionInFp8IsFaster) {
  for (const char* gpu : {"h100-sxm-80g", "h200-sxm-141g", "b200-sxm-180g", "gb300-288g"}) {
    const double gain = AttentionTime(gpu, "").us() / AttentionTime(gpu, "", DataType::kFp8).us();
    EXPECT_GT(gain, 1.2) << gpu;
    EXPECT_LT(gain, 1.5) << gpu;
  }
  EXPECT_EQ(AttentionTime("h100-sxm-80g", "cudnn", DataType::kFp8),
            AttentionTime("h100-sxm-80g", "", DataType::kFp8));
}

// A job may name a family of libraries; a GPU without that family has what Transformer Engine
// picks.
TEST(Simulate, AFamilyOfAttentionLibrariesIsTheGpusOwn) {
  EXPECT_EQ(AttentionTime("h100-sxm-80g", "flash"), AttentionTime("h100-sxm-80g", "flash-2"));
  EXPECT_EQ(AttentionTime("h100-sxm-80g", "cudnn"), AttentionTime("h100-sxm-80g", "cudnn-9"));
  EXPECT_EQ(AttentionTime("a100-sxm-80g", "cudnn"), AttentionTime("a100-sxm-80g", ""));
}

// ---- Submodules to kernels ----------------------------------------------------------------

std::vector<std::string> NamesOf(const Submodule& submodule) {
  std::vector<std::string> names;
  const std::vector<Kernel> kernels =
      KernelsOf(submodule, ShippedAssumptions(), Fp8Layouts::kOne).value();
  for (const Kernel& kernel : kernels) names.push_back(InfoOf(kernel.kind).name);
  return names;
}

Submodule Core(Pass pass, bool fused) {
  return {.name = "core",
          .pass = pass,
          .work = submodule::Attention{.batch = 2,
                                       .sequence = 1024,
                                       .heads = 4,
                                       .kv_heads = 4,
                                       .head_dim = 64,
                                       .causal = true,
                                       .fused = fused,
                                       .dropout = true}};
}

double FlopsOf(const Submodule& submodule) {
  double flops = 0;
  const std::vector<Kernel> kernels =
      KernelsOf(submodule, ShippedAssumptions(), Fp8Layouts::kOne).value();
  for (const Kernel& kernel : kernels) flops += kernel.flops;
  return flops;
}

using Names = std::vector<std::string>;

TEST(SubmoduleKernels, UnfusedAttentionHasTheKernelsOf2022) {
  EXPECT_EQ(NamesOf(Core(Pass::kForward, false)),
            (Names{"batched-gemm", "causal-softmax", "dropout", "batched-gemm", "copy"}));
  EXPECT_EQ(NamesOf(Core(Pass::kBackward, false)),
            (Names{"batched-gemm", "batched-gemm", "dropout-backward", "causal-softmax-backward",
                   "batched-gemm", "batched-gemm", "copy"}));
  EXPECT_EQ(NamesOf(Core(Pass::kForward, true)), Names{"attention-forward"});
}

// 4 b s^2 h d in the forward pass. The unfused kernels compute the masked half too, the fused do
// not.
TEST(SubmoduleKernels, AttentionArithmetic) {
  const double full = 4.0 * 2 * 1024 * 1024 * 4 * 64;
  EXPECT_DOUBLE_EQ(FlopsOf(Core(Pass::kForward, false)), full);
  EXPECT_DOUBLE_EQ(FlopsOf(Core(Pass::kBackward, false)), 2 * full);
  EXPECT_DOUBLE_EQ(FlopsOf(Core(Pass::kForward, true)), full / 2);
  EXPECT_DOUBLE_EQ(FlopsOf(Core(Pass::kBackward, true)), 2.5 * full / 2);
}

TEST(SubmoduleKernels, LinearPassesAreTransposesOfOneGemm) {
  for (const Pass pass : {Pass::kForward, Pass::kBackwardActivation, Pass::kBackwardWeight}) {
    EXPECT_DOUBLE_EQ(FlopsOf(Linear(pass, 3, 5, 7)), 2.0 * 3 * 5 * 7);
  }
  EXPECT_DOUBLE_EQ(FlopsOf(Linear(Pass::kBackward, 3, 5, 7)), 4.0 * 3 * 5 * 7);
  EXPECT_EQ(
      ShapeString(KernelsOf(Linear(Pass::kForward, 3, 5, 7), ShippedAssumptions(), Fp8Layouts::kOne)
                      .value()[0]),
      "3x5x7 bf16");
  EXPECT_EQ(ShapeString(KernelsOf(Linear(Pass::kBackwardActivation, 3, 5, 7), ShippedAssumptions(),
                                  Fp8Layouts::kOne)
                            .value()[0]),
            "3x7x5 bf16");
  EXPECT_EQ(ShapeString(KernelsOf(Linear(Pass::kBackwardWeight, 3, 5, 7), ShippedAssumptions(),
                                  Fp8Layouts::kOne)
                            .value()[0]),
            "5x7x3 bf16");
}

TEST(SubmoduleKernels, BiasAndPrecisionOfALinear) {
  Submodule s = Linear(Pass::kForward, 64, 64, 64);
  auto& linear = std::get<submodule::Linear>(s.work);
  linear.bias = true;
  EXPECT_EQ(NamesOf(s), (Names{"gemm", "bias-add"}));
  linear.fused = true;
  EXPECT_EQ(NamesOf(s), Names{"gemm"});
  s.pass = Pass::kBackwardWeight;
  linear.accumulate_fp32 = true;
  EXPECT_EQ(NamesOf(s), (Names{"gemm-accumulate", "bias-gradient"}));
  s.pass = Pass::kForward;
  s.type = DataType::kFp8;
  EXPECT_EQ(NamesOf(s), (Names{"quantise", "gemm"}));
}

TEST(SubmoduleKernels, EveryKindHasKernelsInEveryPass) {
  for (size_t kind = 0; kind < kSubmoduleKindCount; ++kind) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      for (const bool flags : {false, true}) {
        Submodule s{.name = "any", .pass = pass, .work = MakeSubmoduleWork(kind)};
        if (s.has_stated_time()) continue;
        ForEachField(s.work, [&](submodule::Field, std::string_view, auto& field) {
          if constexpr (std::is_same_v<decltype(field), bool&>)
            field = flags;
          else
            field = 128;
        });
        const std::vector<Kernel> kernels =
            KernelsOf(s, ShippedAssumptions(), Fp8Layouts::kOne).value();
        for (const Kernel& kernel : kernels) EXPECT_GT(kernel.bytes, 0);
        // The gradient of a sum without bias and dropout is the gradient itself.
        const bool no_work = std::holds_alternative<submodule::BiasDropoutAdd>(s.work) && !flags &&
                             pass == Pass::kBackward;
        EXPECT_EQ(kernels.empty(), no_work) << s.kind_name() << (flags ? " with flags" : "");
      }
    }
  }
}

TEST(SubmoduleKernels, NamesAMissingExtent) {
  EXPECT_EQ(KernelsOf(Linear(Pass::kForward, 4096, 0, 12), ShippedAssumptions(), Fp8Layouts::kOne)
                .error()
                .message(),
            "submodule 'mlp.fc1' (linear) has n = 0; it must be above 0");
}

}  // namespace
}  // namespace drydock
