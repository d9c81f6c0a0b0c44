#include "core/schema/memory/memory_curve_file.h"

#include <utility>

#include "core/schema/artefacts/protocol.h"

namespace drydock {
namespace {

constexpr const char* kKind = "memory curve";
constexpr int64_t kMostBytes = int64_t{1} << 50;

}  // namespace

Status WriteMemoryCurve(const std::string& run, const MemoryCurve& curve, const std::string& tool) {
  const std::string path = run + "/" + kMemoryCurveName;
  ASSIGN_OR_RETURN(const std::string manifest, Sha256OfFile(run + "/" + kManifestName));
  proto::MemoryCurve message;
  protocol::FillProvenance(kKind, {tool, {{kManifestName, manifest}}, {}},
                           message.mutable_provenance());
  message.set_class_index(curve.class_index);
  int64_t before = 0;
  for (const Bytes bytes : curve.allocated) {
    message.add_allocated_delta(bytes.count() - before);
    before = bytes.count();
  }
  ASSIGN_OR_RETURN(const std::string content, protocol::Serialize(message, path));
  return WriteFileAtomically(path, content);
}

Result<std::optional<MemoryCurve>> ReadMemoryCurve(const std::string& run,
                                                   const WorkloadFile& workload) {
  const std::string path = run + "/" + kMemoryCurveName;
  if (!FileExists(path)) return std::optional<MemoryCurve>();
  proto::MemoryCurve message;
  RETURN_IF_ERROR(protocol::Load(path, kKind, "workload-gen", &message, nullptr));
  if (!protocol::CheckMadeFrom(message.provenance(), path, kManifestName, workload.sha256).ok()) {
    return std::optional<MemoryCurve>();
  }
  const Workload& w = workload.workload;
  MemoryCurve curve;
  curve.class_index = message.class_index();
  if (curve.class_index < 0 || curve.class_index >= w.class_count ||
      static_cast<size_t>(message.allocated_delta_size()) !=
          w.programs[static_cast<size_t>(curve.class_index)].ops.size()) {
    return protocol::Damaged(path, "its ops are not those of a class");
  }
  int64_t bytes = 0;
  for (const int64_t delta : message.allocated_delta()) {
    if (delta < -kMostBytes || delta > kMostBytes || bytes + delta < 0 ||
        bytes + delta > kMostBytes) {
      return protocol::Damaged(path, "a size is out of range");
    }
    bytes += delta;
    curve.allocated.emplace_back(bytes);
  }
  return std::optional<MemoryCurve>(std::move(curve));
}

}  // namespace drydock
