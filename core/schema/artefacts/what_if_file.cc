#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/protocol.h"

namespace drydock {
namespace {

constexpr const char* kKind = "what-if answers";

}  // namespace

Status WriteWhatIf(const std::string& run, const WhatIf& what_if, const Provenance& provenance) {
  const std::string path = run + "/" + kWhatIfName;
  proto::WhatIf message;
  protocol::FillProvenance(kKind, provenance, message.mutable_provenance());
  message.set_network(what_if.network);
  message.set_better(what_if.better);
  message.set_iteration_ps(what_if.iteration.ps());
  for (const WhatIfAnswer& answer : what_if.answers) {
    proto::WhatIf::Answer* added = message.add_answers();
    added->set_name(answer.name);
    added->set_changed(answer.changed);
    added->set_iteration_ps(answer.iteration.ps());
  }
  ASSIGN_OR_RETURN(const std::string content, protocol::Serialize(message, path));
  return WriteFileAtomically(path, content);
}

Result<WhatIf> ReadWhatIf(const std::string& run, const WorkloadFile& workload) {
  const std::string path = run + "/" + kWhatIfName;
  proto::WhatIf message;
  RETURN_IF_ERROR(protocol::Load(path, kKind, "exec-engine what-if", &message, nullptr));
  RETURN_IF_ERROR(
      protocol::CheckMadeFrom(message.provenance(), path, kManifestName, workload.sha256));
  for (const char* name : {kFlowPlanName, kKernelTimesName}) {
    ASSIGN_OR_RETURN(const std::string hash, Sha256OfFile(run + "/" + name));
    RETURN_IF_ERROR(protocol::CheckMadeFrom(message.provenance(), path, name, hash));
  }
  WhatIf what_if;
  what_if.network = message.network();
  what_if.better = message.better();
  what_if.iteration = Time::Ps(message.iteration_ps());
  for (const auto& answer : message.answers()) {
    what_if.answers.push_back({answer.name(), answer.changed(), Time::Ps(answer.iteration_ps())});
    if (answer.iteration_ps() < 0) return protocol::Damaged(path, "an iteration time is negative");
  }
  if (what_if.iteration <= Time() || !(what_if.better > 0 && what_if.better <= 1000)) {
    return protocol::Damaged(path, "the iteration time or the improvement is out of range");
  }
  return what_if;
}

}  // namespace drydock
