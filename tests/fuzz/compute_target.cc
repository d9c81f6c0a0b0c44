#include "tests/fuzz/compute_target.h"

#include "compute-sim/compute_model.h"
#include "compute-sim/gpu_library.h"
#include "compute-sim/profile.h"
#include "compute-sim/simulate.h"
#include "compute-sim/submodule_file.h"
#include "compute-sim/submodule_kernels.h"
#include "core/base/check.h"

namespace drydock::fuzz {
namespace {

const GpuData& TheGpu() {
  static const GpuData gpu = MakeGpuData(LoadGpu("a100-sxm-80g").value(), {}).value();
  return gpu;
}

// A time, or a reason.
void CheckAnswered(const ModelStack& stack, const Kernel& kernel) {
  const Result<KernelTime> time = stack.Predict(kernel);
  if (time.ok())
    CHECK(time->time >= Time() && time->time < kLongestKernel);
  else
    CHECK(!time.error().message().empty());
}

}  // namespace

void Profile(const std::string& input) {
  Result<drydock::Profile> profile = ParseProfile(input, "f");
  if (!profile.ok()) return;
  GpuData gpu = TheGpu();
  gpu.profiles = {std::make_shared<const drydock::Profile>(*std::move(profile))};
  const ModelStack stack = ModelStack::Make({&gpu, nullptr}, ComputeModelNames()).value();
  for (const ProfileTable& table : gpu.profiles[0]->tables) {
    for (size_t row = 0; row < std::min<size_t>(table.size(), 4); ++row) {
      const Kernel kernel = RowRef{&table, row}.kernel();
      CHECK(FindRow(*gpu.profiles[0], kernel).has_value());
      CheckAnswered(stack, kernel);
      for (size_t i = 0; i < table.width; ++i) {
        auto dims = kernel.dims;
        ++dims[i];
        CheckAnswered(stack, Resized(kernel, kernel.type, dims));
      }
    }
  }
}

std::vector<std::string> ProfileSeeds() {
  const std::string header = "# gpu: g\n# provenance: a\n# method: b\n# date: c\n";
  return {header +
              "kernel,dtype,m,n,k,rows,columns,time\ngemm,fp16,1024,64,64,,,10 us\n"
              "gemm,fp16,4096,64,64,,,40 us\ngemm,fp16,4096,128,64,,,0.5 ms\n"
              "layer-norm,fp16,,,,8192,6144,180 us\n",
          header +
              "# clocks: burst\n# max-gap: 2\n# weight: 0.5\n"
              "kernel,dtype,batch,sequence,heads,kv_heads,head_dim,causal,kv_sequence,value_dim,"
              "time\nattention-forward,bf16,1,2048,8,8,128,1,,,50 us\n"
              "attention-forward,bf16,1,2048,8,8,192,0,4096,128,90 us\n",
          header + "kernel,dtype,groups,m,n,k,time\ngrouped-gemm,bf16,8,64,64,64,1 ns\n",
          header +
              "kernel,dtype,rows,columns,bytes,time\nrow-map,bf16,64,64,5,1 ns\n"
              "softmax,bf16,64,64,,2 ns\nsoftmax,bf16,64,64,6.5,3 ns\n"};
}

void Submodules(const std::string& input) {
  const Result<std::vector<Submodule>> submodules = ParseSubmodules(input, "f");
  if (!submodules.ok()) return;
  static const ModelStack stack =
      ModelStack::Make({&TheGpu(), nullptr}, ComputeModelNames()).value();
  for (const Submodule& submodule : *submodules) {
    const Result<std::vector<Kernel>> kernels = KernelsOf(submodule);
    CHECK(kernels.ok());
    for (const Kernel& kernel : *kernels) CheckAnswered(stack, kernel);
  }
}

std::vector<std::string> SubmodulesSeeds() {
  return {
      "submodules:\n- {kind: linear, type: fp8, rows: 64, n: 32, k: 16, bias: true}\n"
      "- {kind: norm, rows: 64, n: 16, rms: true}\n- {kind: optimizer, elements: 1000}\n"
      "- {kind: cross-entropy, rows: 64, n: 16}\n",
      "submodules:\n- {kind: attention, batch: 1, sequence: 64, heads: 4, kv_heads: 2, "
      "head_dim: 32, kv_sequence: 128, value_dim: 16, causal: true, dropout: true}\n"
      "- {kind: embedding, rows: 64, n: 16, k: 1000}\n",
      "submodules:\n- {kind: grouped-linear, rows: 64, n: 32, k: 16, experts: 4}\n"
      "- {kind: permute, rows: 64, n: 32, experts: 4, top_k: 2}\n"
      "- {kind: router, rows: 64, n: 8, k: 32, pass: bwd}\n"
      "- {kind: top-k, rows: 64, n: 8, top_k: 2}\n"};
}

}  // namespace drydock::fuzz
