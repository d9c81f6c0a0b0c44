#include "core/schema/cluster/gpu_file.h"

#include <fmt/format.h>

#include <optional>

#include "core/schema/cluster/cluster_limits.h"
#include "core/schema/cluster/gpu_limits_file.h"
#include "core/schema/cluster/sharing_file.h"
#include "core/schema/fabric/limits.h"

namespace drydock {
namespace {

void ReadDenseRates(const YamlNode& node, GpuSpec* spec, Diagnostics* diagnostics) {
  YamlReader rates(node, "dense", diagnostics);
  for (int i = 0; i < kDataTypeCount; ++i) {
    if (static_cast<DataType>(i) == DataType::kFp8Block) continue;  // it has the rate of fp8
    rates.ReadOptional(DataTypeNames()[static_cast<size_t>(i)], &spec->dense_rate[i]);
  }
  rates.Finish();
}

void ReadClock(YamlReader* gpu, int* mhz) {
  std::string text;
  gpu->ReadOptional("clock", &text);
  if (!gpu->Has("clock")) return;
  const std::optional<int> clock = MegahertzOf(text);
  *mhz = clock.value_or(0);
  if (!clock) gpu->Fail("clock", fmt::format("expected a clock like '1410 MHz', found '{}'", text));
}

void ReadSpecification(const YamlNode& node, GpuSpec* spec, Diagnostics* diagnostics) {
  YamlReader gpu(node, "gpu", diagnostics);
  gpu.Read("name", &spec->name);
  gpu.Read("architecture", &spec->architecture);
  gpu.Read("compute_capability", &spec->compute_capability);
  gpu.CheckRange("compute_capability", spec->compute_capability, kMinComputeCapability,
                 kMaxComputeCapability);
  gpu.Read("sms", &spec->sms);
  gpu.CheckRange("sms", spec->sms, 1, kMaxSms);
  ReadClock(&gpu, &spec->clock_mhz);
  if (const YamlNode* dense = gpu.Take("dense", true)) ReadDenseRates(*dense, spec, diagnostics);
  if (const YamlNode* memory = gpu.Take("memory", true)) {
    YamlReader reader(*memory, "memory", diagnostics);
    reader.Read("size", &spec->memory);
    CheckSize("size", spec->memory, &reader);
    reader.Read("bandwidth", &spec->memory_bandwidth);
    CheckRate("bandwidth", spec->memory_bandwidth, &reader);
    reader.Finish();
  }
  gpu.Read("l2", &spec->l2);
  CheckSize("l2", spec->l2, &gpu);
  gpu.ReadOptional("nvlink", &spec->nvlink);
  CheckRate("nvlink", spec->nvlink, &gpu);
  gpu.Read("pcie", &spec->pcie);
  CheckRate("pcie", spec->pcie, &gpu);
  gpu.Read("source", &spec->source);
  gpu.ReadOptional("reference", &spec->reference);
  gpu.Finish();
}

// A protocol has either rates or, if a warp moves a fixed amount at a time, passes.
void ReadProtocol(YamlReader* parent, const std::string& key, CollectiveCosts::Protocol* protocol,
                  Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take(key, !key.starts_with("nvls"));  // optional
  if (node == nullptr) return;
  YamlReader reader(*node, key, diagnostics);
  reader.Read("base", &protocol->base);
  reader.ReadOptional("base_per_warp", &protocol->base_per_warp);
  reader.Read("step", &protocol->step);
  reader.ReadOptional("net_slice", &protocol->net_slice);
  reader.ReadOptional("proxy", &protocol->proxy);
  reader.ReadOptional("hop", &protocol->hop);
  if (reader.Has("pass")) {
    reader.Read("pass", &protocol->pass);
    CheckSize("pass", protocol->pass, &reader);
    reader.Read("pass_time", &protocol->pass_time);
    reader.ReadOptional("pass_store", &protocol->pass_store);
  } else {
    const std::pair<const char*, Bandwidth*> rates[] = {{"send", &protocol->send},
                                                        {"copy_send", &protocol->copy_send},
                                                        {"reduce_send", &protocol->reduce_send},
                                                        {"receive", &protocol->receive}};
    for (const auto& [name, rate] : rates) {
      reader.Read(name, rate);
      CheckRate(name, *rate, &reader);
    }
  }
  reader.Finish();
}

// Costs of data movement without NCCL, equal for all operations. Optional.
void ReadMover(YamlReader* parent, const std::string& key, CollectiveCosts::Protocol* costs,
               Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take(key, false);
  if (node == nullptr) return;
  YamlReader reader(*node, key, diagnostics);
  reader.Read("start", &costs->base);
  reader.Read("rate", &costs->send);
  CheckRate("rate", costs->send, &reader);
  costs->copy_send = costs->reduce_send = costs->receive = costs->send;
  reader.Finish();
}

}  // namespace

// Checks a share of a link's rate.
void CheckShare(const char* key, double share, YamlReader* reader) {
  if (share >= kMinLinkShare && share <= 1) return;
  reader->Fail(key, fmt::format("'{}' is a share of the link: from 0.01 to 1", key));
}

void ReadCollectiveCosts(const YamlNode& node, CollectiveCosts* costs, Diagnostics* diagnostics) {
  YamlReader reader(node, "collectives", diagnostics);
  ReadProtocol(&reader, "simple", &costs->simple, diagnostics);
  ReadProtocol(&reader, "ll", &costs->ll, diagnostics);
  ReadProtocol(&reader, "ll128", &costs->ll128, diagnostics);
  ReadProtocol(&reader, "nvls", &costs->nvls, diagnostics);
  ReadProtocol(&reader, "nvls_registered", &costs->nvls_registered, diagnostics);
  ReadProtocol(&reader, "p2p_simple", &costs->p2p_simple, diagnostics);
  ReadProtocol(&reader, "p2p_ll", &costs->p2p_ll, diagnostics);
  ReadMover(&reader, "copy_engine", &costs->copy_engine, diagnostics);
  ReadMover(&reader, "userbuffers", &costs->userbuffers, diagnostics);
  reader.Read("link_efficiency", &costs->link_efficiency);
  CheckShare("link_efficiency", costs->link_efficiency, &reader);
  reader.ReadOptional("several_peers", &costs->several_peers);
  CheckShare("several_peers", costs->several_peers, &reader);
  reader.Read("clear_to_send", &costs->clear_to_send);
  reader.Read("source", &costs->source);
  reader.Finish();
}

// Reads the costs of NCCL's kernels: a section, `none`, or nothing if there is a reference. Without
// this check, a forgotten section would be an error only in a replay.
void ReadCollectives(const YamlNode& root, YamlReader* file, GpuSpec* spec,
                     Diagnostics* diagnostics) {
  const YamlNode* costs = file->Take("collectives", false);
  if (costs == nullptr && spec->reference.empty()) {
    diagnostics->Add(
        root.ErrorHere("'collectives' is missing; state the costs of NCCL's kernels, 'none' if "
                       "they are unknown, or in 'gpu' a 'reference' that has them"));
  }
  if (costs == nullptr) return;
  if (costs->kind == YamlNode::Kind::kScalar && costs->scalar == "none") {
    if (!spec->reference.empty())
      diagnostics->Add(costs->ErrorHere("'none' contradicts the 'reference', whose costs apply"));
    return;
  }
  ReadCollectiveCosts(*costs, &spec->collectives, diagnostics);
  spec->has_collective_costs = true;
}

std::string GpuFileName(const std::string& gpu) { return "gpus/" + gpu + ".yaml"; }

Result<GpuSpec> ParseGpuFile(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  GpuSpec spec;
  spec.file_name = file_name;
  spec.file_text = text;
  Diagnostics diagnostics;
  YamlReader file(root, "a GPU file", &diagnostics);
  if (const YamlNode* gpu = file.Take("gpu", true)) ReadSpecification(*gpu, &spec, &diagnostics);
  SharingCosts sharing;  // checked here; exec-engine reads it
  if (const YamlNode* node = file.Take("sharing", false)) {
    ReadSharing(*node, &sharing, &diagnostics);
  }
  for (const char* section : {"kernels", "scaling", "spread"}) {
    file.Take(section, false);  // compute-sim reads these
  }
  ReadCollectives(root, &file, &spec, &diagnostics);
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return spec;
}

}  // namespace drydock
