#include "tests/fuzz/compute_target.h"

#include "compute-sim/gpu_library.h"
#include "compute-sim/model/model_stack.h"
#include "compute-sim/model/simulate.h"
#include "compute-sim/model_table.h"
#include "compute-sim/profile/profile.h"
#include "compute-sim/submodules/submodule_file.h"
#include "compute-sim/submodules/submodule_kernels.h"
#include "core/base/check.h"
#include "core/schema/cluster/gpu_file.h"

namespace drydock::fuzz {
namespace {

const GpuData& TheGpu() {
  static const GpuData gpu = MakeGpuData(LoadGpu("a100-sxm-80g").value(), {}).value();
  return gpu;
}

// The result is either a time or an error with a message.
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
  const ModelStack stack({&gpu, nullptr}, AllComputeModels());
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

void GpuKernels(const std::string& input) {
  const Result<GpuSpec> spec = ParseGpuFile(input, "f");
  if (!spec.ok()) return;
  const Result<GpuData> gpu = MakeGpuData(*spec, {});
  if (!gpu.ok()) return;
  const ModelStack stack({&*gpu, &TheGpu()}, AllComputeModels());
  const AttentionShape shape{2, 200, 4, 2, 64, true};
  for (const DataType type : {DataType::kFp16, DataType::kFp8}) {
    CheckAnswered(stack, Gemm(type, 300, 5000, 1000));
    CheckAnswered(stack, Attention(KernelKind::kAttentionBackward, type, shape));
    CheckAnswered(stack, MemoryKernel(KernelKind::kLayerNorm, type, 4096, 1000, 4));
  }
}

// The shipped files are long, so mutations rarely hit a given key. One set of each kind is enough.
std::vector<std::string> GpuKernelsSeeds() {
  const std::string gpu =
      "gpu:\n  name: g\n  architecture: ampere\n  compute_capability: 80\n  sms: 108\n"
      "  dense: {fp16: 312 TFLOPS, fp8: 600 TFLOPS}\n"
      "  memory: {size: 80 GB, bandwidth: 2039 GB/s}\n  l2: 40 MiB\n  pcie: 31 GB/s\n"
      "  source: s\n";
  const std::string scaling =
      "scaling:\n  tile_schedule: waves\n  matmul_share: {fp16: 0.9, fp8: 0.8}\n  source: s\n";
  const std::string pass =
      "{launch: 3 us, tensor_rate: 290 TFLOPS, scores_per_ps: 1.8, block_start: 2 us, "
      "overlapped_passes: 4, serial_passes: 1}\n";
  const std::string kernels =
      "kernels:\n  clocks: burst\n  launch_gap: 1 us\n  gemm:\n    tiles: [128x256, 64x64]\n"
      "    splits: [1, 4]\n    tile_k: 64\n    sets:\n      - types: [fp16]\n"
      "        tensor_rate: 297 TFLOPS\n        memory: 1.7 TB/s\n        l2_to_sm: 3.6 TB/s\n"
      "        launch: 2 us\n        tile_start: 1 us\n        tile_store: 3 us\n"
      "        persistence: 0.1\n        overlap: 2\n        split_sync: 1 us\n"
      "        derate: 0.1\n        derate_at: 2200 us\n        derate_slope: 2.5\n"
      "        l2_warm: 0.8\n        error: {large: 0.02, small: 0.08}\n"
      "  attention:\n    default: a\n    libraries:\n      - name: a\n        types: [fp16]\n"
      "        block: 128\n        balance: 1.4\n        memory_overlap: 3\n"
      "        forward: " +
      pass + "        backward: " + pass +
      "  memory:\n    launch: 1 us\n    hbm: 1.7 TB/s\n    l2: 3.9 TB/s\n    l2_share: 0.6\n"
      "    layer_norm: {1024: 0.9, 4096: 0.6}\n    softmax: {1024: 1}\n    fused_norm: 0.9\n"
      "    quantise: {launch: 9 us, bytes: 7}\n"
      "  scaling_errors: {gemm: 0.1, gemm_with_share: 0.1, attention: 0.1, memory: 0.06}\n";
  return {gpu + scaling + kernels + "collectives: none\n",
          gpu + "  reference: a100-sxm-80g\n" + scaling};
}

void Submodules(const std::string& input) {
  const Result<std::vector<Submodule>> submodules = ParseSubmodules(input, "f");
  if (!submodules.ok()) return;
  static const ModelStack stack({&TheGpu(), nullptr}, AllComputeModels());
  for (const Submodule& submodule : *submodules) {
    const Result<std::vector<Kernel>> kernels =
        KernelsOf(submodule, KernelAssumptions{256}, Fp8Layouts::kOne);
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
