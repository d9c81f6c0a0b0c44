// 3-times.pb.
#include <algorithm>
#include <cmath>

#include "core/schema/artefacts/protocol.h"

namespace drydock {
namespace {

constexpr const char* kKind = "kernel times";

void Encode(const SubmoduleTime& from, proto::KernelTimes::Submodule* to) {
  to->set_total_ps(from.total.ps());
  for (const KernelTime& kernel : from.kernels) {
    proto::KernelTimes::Kernel* added = to->add_kernels();
    added->set_name(kernel.name);
    added->set_shape(kernel.shape);
    added->set_time_ps(kernel.time.ps());
    added->set_bound(std::string(ToString(kernel.bound)));
    added->set_source(static_cast<uint32_t>(kernel.source));
    added->set_detail(kernel.detail);
    added->set_row_distance(kernel.row_distance);
    added->set_expected_error(kernel.expected_error);
    added->set_gap(kernel.gap);
    added->set_more_launches(kernel.launches - 1);
    added->set_looped(kernel.looped);
    added->set_flops(kernel.flops);
    added->set_bytes(kernel.bytes);
  }
}

bool IsAmount(double value) { return value >= 0 && std::isfinite(value); }

bool Decode(const proto::KernelTimes::Submodule& from, SubmoduleTime* to) {
  to->total = Time::Ps(from.total_ps());
  if (to->total < Time()) return false;
  for (const proto::KernelTimes::Kernel& kernel : from.kernels()) {
    const auto source = protocol::ToEnum<TimeSource>(kernel.source());
    const auto bound = protocol::ToEnum<KernelBound>(kernel.bound(), KernelBoundNames());
    if (!protocol::Within(source, kTimeSourceCount) ||
        !protocol::Within(bound, kKernelBoundCount) || kernel.time_ps() < 0 ||
        !(kernel.row_distance() >= 0) || !(kernel.expected_error() >= 0) ||
        !protocol::Within(kernel.more_launches(), kMaxLaunches) ||
        !protocol::Within(kernel.looped(), kMaxLaunches) || !IsAmount(kernel.flops()) ||
        !IsAmount(kernel.bytes())) {
      return false;
    }
    to->kernels.push_back({kernel.name(), kernel.shape(), Time::Ps(kernel.time_ps()), bound, source,
                           kernel.detail(), kernel.row_distance(), kernel.expected_error(),
                           kernel.gap(), kernel.flops(), kernel.bytes(), kernel.more_launches() + 1,
                           kernel.looped()});
  }
  return true;
}

bool Decode(const proto::KernelTimes::Gpu& from, GpuKernelTimes* to) {
  to->gpu = from.gpu();
  for (const auto& submodule : from.submodules()) {
    if (!Decode(submodule, &to->submodules.emplace_back())) return false;
  }
  return true;
}

}  // namespace

Status WriteKernelTimes(const std::string& run, const KernelTimes& times,
                        const Provenance& provenance) {
  const std::string path = run + "/" + kKernelTimesName;
  proto::KernelTimes message;
  protocol::FillProvenance(kKind, provenance, message.mutable_provenance());
  for (const GpuKernelTimes& gpu : times.gpus) {
    proto::KernelTimes::Gpu* added = message.add_gpus();
    added->set_gpu(gpu.gpu);
    for (const SubmoduleTime& submodule : gpu.submodules)
      Encode(submodule, added->add_submodules());
  }
  for (const int64_t count : times.source_count) message.add_source_count(count);
  ASSIGN_OR_RETURN(const std::string content, protocol::Serialize(message, path));
  return WriteFileAtomically(path, content);
}

Result<KernelTimes> ReadKernelTimes(const std::string& run, const WorkloadFile& workload,
                                    std::string* sha256) {
  const std::string path = run + "/" + kKernelTimesName;
  proto::KernelTimes message;
  RETURN_IF_ERROR(protocol::Load(path, kKind, "compute-sim", &message, sha256));
  RETURN_IF_ERROR(
      protocol::CheckMadeFrom(message.provenance(), path, kManifestName, workload.sha256));
  if (message.gpus_size() != static_cast<int>(workload.workload.topology.gpus.size()) ||
      message.source_count_size() != kTimeSourceCount) {
    return protocol::Damaged(path, "its GPUs are not the cluster's");
  }
  KernelTimes times;
  std::copy(message.source_count().begin(), message.source_count().end(), times.source_count);
  for (int i = 0; i < message.gpus_size(); ++i) {
    GpuKernelTimes& gpu = times.gpus.emplace_back();
    if (!Decode(message.gpus(i), &gpu)) return protocol::Damaged(path, "a time is invalid");
    if (gpu.gpu != workload.workload.topology.gpus[static_cast<size_t>(i)].name) {
      return protocol::Damaged(path, "its GPUs are not the cluster's");
    }
    if (gpu.submodules.size() != workload.workload.submodules.size()) {
      return protocol::Damaged(path, "it lacks times of submodules");
    }
  }
  return times;
}

}  // namespace drydock
