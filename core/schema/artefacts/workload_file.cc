// 1-workload/: the manifest with the texts of the cluster and the tables, the topology that follows
// from the texts, and a Chakra trace per rank class.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/schema/artefacts/call_codec.h"
#include "core/schema/artefacts/manifest_file.h"
#include "core/schema/artefacts/protocol.h"
#include "core/schema/artefacts/submodule_codec.h"
#include "core/schema/artefacts/topology_codec.h"
#include "core/schema/artefacts/trace_file.h"
#include "core/schema/artefacts/transfer_codec.h"

namespace drydock {
namespace {

constexpr const char* kKind = "workload manifest";
constexpr const char* kMaker = "workload-gen";

void EncodeTables(const Workload& from, proto::Manifest* to) {
  for (const std::string& stream : from.streams) to->add_streams(stream);
  for (size_t role = 0; role < from.roles.size(); ++role) {
    proto::Manifest::Role* added = to->add_roles();
    added->set_name(from.roles[role].name);
    added->set_dimension(static_cast<uint32_t>(from.roles[role].dimension));
    const std::vector<int>& groups = from.group_of_rank[role];
    added->mutable_group_of_rank()->Add(groups.begin(), groups.end());
  }
  for (const Group& group : from.groups) {
    to->add_groups()->mutable_ranks()->Add(group.ranks.begin(), group.ranks.end());
  }
  for (const Submodule& submodule : from.submodules)
    protocol::Encode(submodule, to->add_submodules());
  for (const ComputeBlock& block : from.blocks) {
    proto::Manifest::Block* added = to->add_blocks();
    added->set_name(block.name);
    added->mutable_submodules()->Add(block.submodules.begin(), block.submodules.end());
  }
  for (const CommCall& call : from.calls) protocol::Encode(call, to->add_calls());
  EncodeTransfers(from, to);
  to->mutable_class_of_rank()->Add(from.class_of_rank.begin(), from.class_of_rank.end());
  for (const Workload::Use& use : from.uses) {
    to->add_use_call(use.call);
    to->add_use_group(use.group);
  }
}

void EncodeTotals(const WorkloadTotals& from, proto::Manifest* to) {
  to->set_tokens(from.tokens);
  to->set_model_flops(from.model_flops);
  to->set_hardware_flops(from.hardware_flops);
  to->set_parameters(from.parameters);
  to->set_model_name(from.model_name);
  to->set_layout(from.layout);
  to->set_precision(static_cast<uint32_t>(from.precision));
}

void Encode(const HostLaunch& from, proto::Manifest::HostLaunch* to) {
  to->set_name(from.name);
  to->set_kernel_ps(from.kernel.ps());
  to->set_collective_ps(from.collective.ps());
  to->set_message_ps(from.message.ps());
  to->set_graph_ps(from.graph.ps());
  to->set_wait_ps(from.wait.ps());
  to->set_latency_ps(from.latency.ps());
  to->set_loop_ps(from.loop.ps());
  to->set_backward_kernel_ps(from.backward_kernel.ps());
  to->set_expert_ps(from.expert.ps());
  to->set_queue(from.queue);
}

HostLaunch Decode(const proto::Manifest::HostLaunch& from) {
  return {from.name(),
          Time::Ps(from.kernel_ps()),
          Time::Ps(from.collective_ps()),
          Time::Ps(from.message_ps()),
          Time::Ps(from.graph_ps()),
          Time::Ps(from.wait_ps()),
          Time::Ps(from.latency_ps()),
          from.queue(),
          Time::Ps(from.loop_ps()),
          Time::Ps(from.backward_kernel_ps()),
          Time::Ps(from.expert_ps())};
}

bool Consistent(const HostLaunch& launch) {
  for (const Time t : {launch.kernel, launch.collective, launch.message, launch.graph, launch.loop,
                       launch.wait, launch.latency, launch.backward_kernel, launch.expert}) {
    if (t < Time() || t > kMaxLaunchTime) return false;
  }
  return launch.queue >= 0 && launch.queue <= kMaxQueued;
}

void EncodeMemory(const std::vector<MemoryPart>& from, proto::Manifest::Class* to) {
  for (const MemoryPart& part : from) {
    proto::Manifest::MemoryPart* added = to->add_memory();
    added->set_name(part.name);
    added->set_bytes(part.bytes.count());
  }
}

void DecodeMemory(const proto::Manifest& from, Workload* to) {
  // GPUs without a rank hold nothing.
  const bool has_peaks =
      std::any_of(from.classes().begin(), from.classes().end(),
                  [](const auto& entry) { return entry.reserved_bytes() != 0; });
  for (const proto::Manifest::Class& entry : from.classes()) {
    if (has_peaks) {
      to->pytorch.push_back({Bytes(entry.allocated_bytes()), Bytes(entry.reserved_bytes())});
    }
    if (entry.memory_size() == 0) continue;
    std::vector<MemoryPart>& parts = to->memory.emplace_back();
    for (const auto& part : entry.memory()) parts.push_back({part.name(), Bytes(part.bytes())});
  }
}

// Returns false if a submodule is out of range.
bool DecodeSubmodules(const proto::Manifest& from, Workload* to) {
  for (const auto& submodule : from.submodules()) {
    std::optional<Submodule> decoded = protocol::Decode(submodule);
    if (!decoded.has_value()) return false;
    to->submodules.push_back(*std::move(decoded));
  }
  return true;
}

void DecodeTables(const proto::Manifest& from, Workload* to) {
  to->streams.assign(from.streams().begin(), from.streams().end());
  for (const proto::Manifest::Role& role : from.roles()) {
    to->roles.push_back({role.name(), protocol::ToEnum<Dimension>(role.dimension())});
    to->group_of_rank.emplace_back(role.group_of_rank().begin(), role.group_of_rank().end());
  }
  for (const proto::Manifest::Group& group : from.groups()) {
    to->groups.push_back({{group.ranks().begin(), group.ranks().end()}});
  }
  for (const proto::Manifest::Block& block : from.blocks()) {
    to->blocks.push_back({block.name(), {block.submodules().begin(), block.submodules().end()}});
  }
  for (const proto::Manifest::Call& call : from.calls())
    to->calls.push_back(protocol::Decode(call));
  DecodeTransfers(from, to);
  to->class_of_rank.assign(from.class_of_rank().begin(), from.class_of_rank().end());
  to->class_count = from.classes_size();
  DecodeMemory(from, to);
  for (int i = 0; i < std::min(from.use_call_size(), from.use_group_size()); ++i) {
    to->uses.push_back({from.use_call(i), from.use_group(i)});
  }
  to->totals = {from.tokens(),
                from.model_flops(),
                from.hardware_flops(),
                from.parameters(),
                from.model_name(),
                from.layout(),
                protocol::ToEnum<DataType>(from.precision())};
  to->launch = Decode(from.launch());
  for (const proto::Manifest::ReplacedValue& each : from.replaced()) {
    to->replaced.push_back({each.text(), !each.changes_nothing()});
  }
  for (const proto::Manifest::Assumption& each : from.assumptions()) {
    to->assumptions.push_back({each.name(), each.value(), each.source()});
  }
}

using protocol::Within;

// Returns true if no group has a member twice and each rank is a member of its group in each role.
bool GroupsConsistent(const Workload& w) {
  const size_t ranks = w.class_of_rank.size();
  std::vector<std::vector<int>> sorted;
  for (const Group& group : w.groups) {
    std::vector<int>& members = sorted.emplace_back(group.ranks);
    std::sort(members.begin(), members.end());
    if (members.empty() || members.front() < 0 || static_cast<size_t>(members.back()) >= ranks ||
        std::adjacent_find(members.begin(), members.end()) != members.end()) {
      return false;
    }
  }
  for (size_t role = 0; role < w.roles.size(); ++role) {
    if (!Within(w.roles[role].dimension, kDimensionCount)) return false;
    if (w.group_of_rank[role].size() != ranks) return false;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const int group = w.group_of_rank[role][rank];
      if (group == -1) continue;
      if (group < 0 || static_cast<size_t>(group) >= w.groups.size()) return false;
      const std::vector<int>& members = sorted[static_cast<size_t>(group)];
      if (!std::binary_search(members.begin(), members.end(), static_cast<int>(rank))) return false;
    }
  }
  return true;
}

// Returns true if all classes have the same parts of memory, or no class has any.
bool MemoryConsistent(const Workload& w) {
  if (!w.pytorch.empty() && w.pytorch.size() != static_cast<size_t>(w.class_count)) return false;
  for (const PyTorchPeaks& peaks : w.pytorch) {
    if (peaks.allocated < Bytes() || peaks.reserved < peaks.allocated ||
        peaks.reserved.count() > protocol::kMaxElements) {
      return false;
    }
  }
  if (w.memory.empty()) return true;
  if (w.memory.size() != static_cast<size_t>(w.class_count)) return false;
  for (const std::vector<MemoryPart>& parts : w.memory) {
    if (parts.size() != w.memory.front().size()) return false;
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t bytes = parts[i].bytes.count();
      if (parts[i].name != w.memory.front()[i].name || bytes < 0 || bytes > protocol::kMaxElements)
        return false;
    }
  }
  return true;
}

// Returns true if every index and enum in the tables is in range. Later code relies on it.
bool TablesConsistent(const Workload& w) {
  if (w.class_of_rank.size() != static_cast<size_t>(w.topology.gpu_count())) return false;
  for (const int c : w.class_of_rank) {
    if (c < 0 || c >= w.class_count) return false;
  }
  if (!GroupsConsistent(w) || !Consistent(w.launch)) return false;
  for (const ComputeBlock& block : w.blocks) {
    for (const uint32_t s : block.submodules) {
      if (s >= w.submodules.size()) return false;
    }
  }
  for (const CommCall& call : w.calls) {
    if (!protocol::Consistent(call)) return false;
  }
  for (const Workload::Use& use : w.uses) {
    if (use.call >= w.calls.size() || use.group >= w.groups.size() ||
        w.groups[use.group].ranks.size() != static_cast<size_t>(w.calls[use.call].group_size)) {
      return false;
    }
  }
  return MemoryConsistent(w) && TransfersConsistent(w) &&
         Within(w.totals.precision, kDataTypeCount) && std::isfinite(w.totals.model_flops) &&
         std::isfinite(w.totals.hardware_flops);
}

// Returns true if the group of a role has the size of the calls in it, for every rank of the class.
bool GroupsFit(const Workload& w, int class_index, const Program& program) {
  std::vector<int> size_of_role(w.roles.size(), 0);
  for (const Op& op : program.ops) {
    if (!IsCommunication(op.kind)) continue;
    const int size = w.calls[op.work].group_size;
    if (size_of_role[op.role] == 0) size_of_role[op.role] = size;
    if (size_of_role[op.role] != size) return false;
  }
  for (size_t rank = 0; rank < w.class_of_rank.size(); ++rank) {
    if (w.class_of_rank[rank] != class_index) continue;
    for (size_t role = 0; role < w.roles.size(); ++role) {
      if (size_of_role[role] == 0) continue;
      const int group = w.group_of_rank[role][rank];
      if (group < 0 || w.groups[static_cast<size_t>(group)].ranks.size() !=
                           static_cast<size_t>(size_of_role[role])) {
        return false;
      }
    }
  }
  return true;
}

// Reads the topology from the folder of the manifest.
Status DecodeManifest(const proto::Manifest& manifest, const std::string& path,
                      ClusterInput* cluster, Workload* workload) {
  cluster->yaml = manifest.cluster_yaml();
  for (const proto::NamedText& text : manifest.files())
    cluster->files.emplace_back(text.name(), text.text());
  RETURN_IF_ERROR(ReadTopology(DirectoryOf(path) + "/" + BaseName(kTopologyName), cluster));
  workload->topology = std::move(cluster->topology);
  DecodeTables(manifest, workload);
  if (manifest.use_call_size() != manifest.use_group_size() ||
      !DecodeSubmodules(manifest, workload) || !TablesConsistent(*workload)) {
    return protocol::Damaged(path, "its tables contradict each other");
  }
  return OkStatus();
}

Status ReadPrograms(const std::string& run, const proto::Manifest& manifest, Workload* workload) {
  for (const proto::Manifest::Class& entry : manifest.classes()) {
    const std::string path = fmt::format("{}/{}/{}", run, kWorkloadName, entry.file());
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    if (Sha256(content) != entry.sha256()) {
      return Error(
          fmt::format("this is not the trace the manifest was written with; run {} again", kMaker),
          {path, 0, 0});
    }
    ASSIGN_OR_RETURN(Program program, DecodeTrace(content, *workload, path));
    if (!GroupsFit(*workload, static_cast<int>(workload->programs.size()), program)) {
      return protocol::Damaged(path, "its calls do not fit the groups of its ranks");
    }
    workload->programs.push_back(std::move(program));
  }
  return OkStatus();
}

bool IsFileOfWorkload(std::string_view name) {
  return name == BaseName(kManifestName) || name == BaseName(kTopologyName) ||
         (name.starts_with("class-") && name.ends_with(".et"));
}

// What the report tells and no tool computes with.
void EncodeNotes(const Workload& workload, proto::Manifest* manifest) {
  for (const Assumption& each : workload.assumptions) {
    proto::Manifest::Assumption* added = manifest->add_assumptions();
    added->set_name(each.name);
    added->set_value(each.value);
    added->set_source(each.source);
  }
  for (const ReplacedValue& each : workload.replaced) {
    proto::Manifest::ReplacedValue* added = manifest->add_replaced();
    added->set_text(each.text);
    added->set_changes_nothing(!each.changes);
  }
}

// Calls `write` for each file of 1-workload/. `manifest` has the notes and the provenance. Errors
// name the file in `target`.
Status EncodeFiles(const Workload& workload, const ClusterInput& cluster, const std::string& tool,
                   const std::string& attention_backend, const std::string& target,
                   proto::Manifest manifest,
                   const std::function<Status(const std::string&, const std::string&)>& write) {
  manifest.set_cluster_yaml(cluster.yaml);
  for (const auto& [name, text] : cluster.files) {
    proto::NamedText* file = manifest.add_files();
    file->set_name(name);
    file->set_text(text);
  }
  EncodeTables(workload, &manifest);
  EncodeTotals(workload.totals, &manifest);
  Encode(workload.launch, manifest.mutable_launch());
  manifest.set_attention_backend(attention_backend);
  for (size_t c = 0; c < workload.programs.size(); ++c) {
    const std::string content = EncodeTrace(workload, workload.programs[c]);
    proto::Manifest::Class* entry = manifest.add_classes();
    entry->set_file(fmt::format("class-{}.et", c));
    if (content.size() > INT32_MAX) {
      return Error("the trace would be larger than 2 GB", {target + "/" + entry->file(), 0, 0});
    }
    entry->set_sha256(Sha256(content));
    if (!workload.memory.empty()) EncodeMemory(workload.memory[c], entry);
    if (!workload.pytorch.empty()) {
      entry->set_allocated_bytes(workload.pytorch[c].allocated.count());
      entry->set_reserved_bytes(workload.pytorch[c].reserved.count());
    }
    RETURN_IF_ERROR(write(entry->file(), content));
  }
  ASSIGN_OR_RETURN(const std::string content, protocol::Serialize(manifest, target));
  RETURN_IF_ERROR(write(BaseName(kManifestName), content));
  ASSIGN_OR_RETURN(const std::string topology,
                   EncodeTopology(workload.topology, cluster, tool, target));
  return write(BaseName(kTopologyName), topology);
}

}  // namespace

Status WriteWorkload(const std::string& run, const Workload& workload, const ClusterInput& cluster,
                     const Provenance& provenance, const std::string& attention_backend) {
  RETURN_IF_ERROR(MakeDirectories(run));
  const std::string target = run + "/" + kWorkloadName;
  ASSIGN_OR_RETURN(StagedDirectory directory, StagedDirectory::Create(target, IsFileOfWorkload));
  proto::Manifest manifest;
  protocol::FillProvenance(kKind, provenance, manifest.mutable_provenance());
  EncodeNotes(workload, &manifest);
  RETURN_IF_ERROR(EncodeFiles(workload, cluster, provenance.tool, attention_backend, target,
                              std::move(manifest),
                              [&directory](const std::string& name, const std::string& content) {
                                return directory.Write(name, content);
                              }));
  return directory.Commit();
}

Result<std::string> DigestOf(const Workload& workload, const ClusterInput& cluster,
                             const std::string& attention_backend) {
  ClusterInput without_texts;
  without_texts.variation = cluster.variation;
  std::string hashes;
  RETURN_IF_ERROR(EncodeFiles(workload, without_texts, "", attention_backend, kWorkloadName, {},
                              [&hashes](const std::string& name, const std::string& content) {
                                hashes += name + " " + Sha256(content) + "\n";
                                return OkStatus();
                              }));
  return Sha256(hashes);
}

Result<ManifestFile> ReadManifest(const std::string& path) {
  proto::Manifest manifest;
  ManifestFile file;
  RETURN_IF_ERROR(protocol::Load(path, kKind, kMaker, &manifest, nullptr));
  RETURN_IF_ERROR(DecodeManifest(manifest, path, &file.cluster, &file.workload));
  file.provenance = protocol::ReadProvenance(manifest.provenance());
  file.attention_backend = manifest.attention_backend();
  for (const proto::Manifest::Class& entry : manifest.classes()) {
    file.class_sha256.push_back(entry.sha256());
  }
  return file;
}

Result<WorkloadFile> ReadWorkload(const std::string& run, WorkloadParts parts) {
  const std::string path = run + "/" + kManifestName;
  proto::Manifest manifest;
  WorkloadFile file;
  RETURN_IF_ERROR(protocol::Load(path, kKind, kMaker, &manifest, &file.sha256));
  RETURN_IF_ERROR(DecodeManifest(manifest, path, &file.cluster, &file.workload));
  file.attention_backend = manifest.attention_backend();
  file.maker = manifest.provenance().tool();
  if (parts == WorkloadParts::kAll) {
    RETURN_IF_ERROR(ReadPrograms(run, manifest, &file.workload));
  }
  return file;
}

}  // namespace drydock
