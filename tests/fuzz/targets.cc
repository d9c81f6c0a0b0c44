#include "tests/fuzz/targets.h"

#include <algorithm>
#include <memory>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/yaml.h"
#include "core/nccl/nccl_library.h"
#include "core/schema/artefacts/protocol.h"
#include "core/schema/artefacts/trace_file.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/cluster/gpu_file.h"
#include "core/schema/cluster/topology_check.h"
#include "core/schema/host/host_memory_file.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"
#include "study/goodput/failure_file.h"
#include "tests/fuzz/astra_target.h"
#include "tests/fuzz/compute_target.h"
#include "tests/fuzz/file_target.h"
#include "tests/fuzz/graph_target.h"
#include "tests/fuzz/import_target.h"
#include "tests/fuzz/model_target.h"
#include "tests/fuzz/nccl_call_target.h"
#include "tests/fuzz/printable.h"

namespace drydock::fuzz {
namespace {

using drydock::testing::TemporaryDirectory;

// A valid run directory; each artefact target replaces one file in it.
struct Run {
  Run() {
    CHECK(drydock::testing::WriteToyRun(dir.path()));
    Result<WorkloadFile> file = ReadWorkload(dir.path(), WorkloadParts::kAll);
    CHECK(file.ok());
    workload = *std::move(file);
  }
  TemporaryDirectory dir;
  WorkloadFile workload;
};
Run& TheRun() {
  static Run run;
  return run;
}

void Yaml(const std::string& input) {
  const Result<YamlNode> root = ParseYaml(input, "f");
  CheckPrintable(root);
  if (!root.ok()) return;
  const std::string text = ToYaml(*root);
  const Result<YamlNode> again = ParseYaml(text, "f");
  CHECK_NOTE(again.ok() && ToYaml(*again) == text, text);
}

void Override(const std::string& input) {
  Result<YamlNode> root = ParseYaml(drydock::testing::ToyClusterText(), "f");
  CHECK(root.ok());
  CheckPrintable(ApplyOverride(input, &*root));
}

void Cluster(const std::string& input) {
  const auto files = drydock::testing::ToyFiles();
  const Result<ClusterInput> cluster = ParseCluster(input, "f", files);
  CheckPrintable(cluster);
  if (!cluster.ok()) return;
  CHECK(CheckConnected(cluster->topology).ok());
  const Result<ClusterInput> again = ParseCluster(cluster->yaml, "f", files);
  CHECK(again.ok() && again->yaml == cluster->yaml);
  CHECK(CheckTopology(cluster->topology, cluster->variation).ok());
}

void Gpu(const std::string& input) { CheckPrintable(ParseGpuFile(input, "f")); }

// Every host is complete with any defaults that the reader accepts.
void HostMemoryFile(const std::string& input) {
  const Result<HostMemoryDefaults> defaults = ParseHostMemoryFile(input, "f");
  CheckPrintable(defaults);
  if (defaults.ok()) CHECK(IsComplete(WithDefaults(HostKind(), GpuSpec(), *defaults)));
}

void Failures(const std::string& input) {
  const Result<YamlNode> root = ParseYaml(input, "f");
  if (root.ok()) CheckPrintable(ReadFailures(*root));
}

// A dumped topology. If Drydock's checks accept it, NCCL reads it too: on one host, and on two
// hosts if it has NICs.
void NcclTopology(const std::string& input) {
  Result<NcclHost> host = ParseTopologyXml(input, "f");
  CheckPrintable(host);
  if (!host.ok()) return;
  const Result<NcclHost> again = ParseTopologyXml(host->xml, "f");
  CHECK_NOTE(again.ok() && again->xml == host->xml, host->xml);
  static const std::shared_ptr<NcclLibrary> library = NcclLibrary::Load().value();
  host->compute_capability = 80;
  host->sm_count = 108;
  host->memory_bytes = 80'000'000'000;
  const Result<NcclWorld> world = NcclWorld::Create(library, {*host}, {});
  CHECK(world.ok());
  for (int hosts = 1; hosts <= (host->nics.empty() ? 1 : 2); ++hosts) {
    std::vector<hacknccl_place> places;
    for (int h = 0; h < hosts; ++h) {
      const int gpus = std::min<int>(static_cast<int>(host->gpu_bus_ids.size()), 4);
      for (int gpu = 0; gpu < gpus; ++gpu) places.push_back({h, 0, gpu});
    }
    CheckPrintable(world->CreateCommunicator(places));
  }
}

void Trace(const std::string& input) {
  const Workload& workload = TheRun().workload.workload;
  const Result<Program> program = DecodeTrace(input, workload, "f");
  CheckPrintable(program);
  if (program.ok()) CHECK(DecodeTrace(EncodeTrace(workload, *program), workload, "f").ok());
}

// The artefact with a valid checksum, so that the reader gets to the checks of its content.
void Place(const char* name, const std::string& input) {
  CHECK(WriteFileAtomically(TheRun().dir / name, protocol::Seal(input)).ok());
}
void Manifest(const std::string& input) {
  Place(kManifestName, input);
  CheckPrintable(ReadWorkload(TheRun().dir.path(), WorkloadParts::kAll));
}
// In a separate run, because the target above leaves a manifest that contradicts its topology.
void TopologyFile(const std::string& input) {
  static const Run run;
  CHECK(WriteFileAtomically(run.dir / kTopologyName, protocol::Seal(input)).ok());
  CheckPrintable(ReadWorkload(run.dir.path(), WorkloadParts::kAll));
}
void FlowPlan(const std::string& input) {
  Place(kFlowPlanName, input);
  CheckPrintable(ReadFlowPlan(TheRun().dir.path(), TheRun().workload));
}
void KernelTimes(const std::string& input) {
  Place(kKernelTimesName, input);
  CheckPrintable(ReadKernelTimes(TheRun().dir.path(), TheRun().workload));
}
void Timeline(const std::string& input) {
  Place(kTimelineName, input);
  CheckPrintable(ReadTimeline(TheRun().dir.path(), TheRun().workload));
}
void WhatIf(const std::string& input) {
  Place(kWhatIfName, input);
  CheckPrintable(ReadWhatIf(TheRun().dir.path(), TheRun().workload));
}

std::vector<std::string> YamlSeeds() {
  return {"a: [1, 'x', \"\\x01y\"]\nb: &b {c: ~, d: |\n  text\n}\n", "a: &x [1, 2]\nb: [*x, *x]\n",
          "? k\n: {v: w}\n# comment\n", drydock::testing::ToyGpuText()};
}
std::vector<std::string> OverrideSeeds() {
  return {"cluster.hosts=4", "fabric={kind: none}", "nccl.settings.NCCL_ALGO='Ring,Tree'"};
}
std::vector<std::string> ClusterSeeds() {
  const std::string toy = drydock::testing::ToyClusterText();
  const size_t fabric = toy.find("fabric:"), transport = toy.find("transport:");
  const auto with = [&](const std::string& section) {
    return toy.substr(0, fabric) + section + toy.substr(transport);
  };
  return {
      toy,
      with("fabric: {kind: single-switch, switch: {ports: 8, rate: 1 Gbps, cable: 1 m, latency: "
           "1 ns, buffer: 1 B}}\n"),
      with("fabric: {kind: leaf-spine, leaf: {ports: 3, rate: 1 Gbps, cable: 1 m, latency: 1 ns, "
           "buffer: 1 B}, spine: {ports: 3, rate: 9 Gbps, cable: 1 m, latency: 1 ns, buffer: 1 B, "
           "oversubscription: 2}}\n"),
      with("fabric:\n  kind: explicit\n  switches: [{name: s, latency: 1 ns, buffer: 1 B}]\n"
           "  links:\n  - {from: host0/nic0, to: s, rate: 1 Gbps, delay: 1 ns}\n"
           "  - {from: host1/nic0, to: s, rate: 1 Gbps, delay: 1 ns}\n"
           "  - {from: host0/nic1, to: host1/nic1, rate: 1 Gbps, delay: 1 ns}\n"),
      toy +
          "faults:\n  - {nic: host0/nic0, rate: 1 Gbps, at: 1 ms, until: 2 ms}\n  - {link: "
          "[host1/nic0, leaf0.rail0], bit_errors: 1e-9}\n",
      toy.substr(0, transport) +
          "transport: {flow_control: pfc, attributes: {Dcqcn::Gain: 0.5, "
          "FabricSwitch::EcnAtDequeue: "
          "true, RdmaTransport::AckTimeout: 1 ms, Timely::MinRate: 1 Gbps, FabricNode::Weight3: "
          "1}}\n",
      toy +
          "storage: {read: 1 GB/s, write: 1 GB/s, host: 1 GB/s, source: s}\n"
          "cost:\n  capital: {host: {value: 9 USD, source: s}, switch: {value: 1 USD, source: "
          "s}, optics: {value: 0 USD, source: s}, years: {value: 4, source: s}}\n  power: {gpu: "
          "{value: 7 W, source: s}, host: {value: 9 W, source: s}, switch: {value: 8 W, source: "
          "s}, optics: {value: 1 W, source: s}, pue: {value: 1.2, source: s}}\n"
          "  electricity: {value: 0.1 USD/kWh, source: s}\n",
      toy + "cost: {rent: {gpu: {value: 2.5 USD/h, source: s}}}\n"};
}
std::vector<std::string> HostMemorySeeds() {
  return {*ReadFile(ConfigDirectory() + "/host-memory.yaml")};
}
std::vector<std::string> FailuresSeeds() {
  return {*ReadFile(ConfigDirectory() + "/failures/llama-3.yaml")};
}
std::vector<std::string> GpuSeeds() {
  return {
      drydock::testing::ToyGpuText(),
      drydock::testing::Replaced(
          drydock::testing::ToyGpuText(), "collectives: none\n",
          "collectives:\n  source: x\n  link_efficiency: 0.7\n  simple: {base: 1 us, step: 1 us, "
          "pass: 256 B, pass_time: 1 us}\n")};
}
std::vector<std::string> NcclTopologySeeds() {
  return {
      "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\"><pci "
      "busid=\""
      "0000:01:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">\n<pci "
      "busid=\""
      "0000:02:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"80\" gdr=\"1\"><nvlink target=\""
      "0000:03:00.0\" count=\"4\" tclass=\"0x030200\"/></gpu></pci>\n<pci busid=\"0000:03:00.0\" "
      "class=\"0x030200\"><gpu dev=\"1\" sm=\"80\" gdr=\"1\"><nvlink target=\"0000:02:00.0\" "
      "count=\"4\" tclass=\"0x030200\"/></gpu></pci>\n<pci busid=\"0000:04:00.0\" "
      "class=\"0x020700\">"
      "<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"200000\" port=\"1\" guid=\"0x1\" "
      "maxconn=\"1024\" "
      "gdr=\"1\"/></nic></pci></pci></cpu></system>\n",
      "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" "
      "familyid=\"6\" "
      "modelid=\"143\"><pci busid=\"0001:00:00.0\" class=\"0x030200\"><gpu dev=\"0\" "
      "sm=\"90\"><nvlink "
      "target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/></gpu></pci></cpu>\n<cpu "
      "numaid=\""
      "1\" arch=\"arm64\"><pci busid=\"0002:00:00.0\" class=\"0x030200\"><gpu dev=\"1\" "
      "sm=\"90\"><c2c "
      "bw=\"44712\" count=\"10\"/></gpu></pci><nic><net name=\"eth0\" dev=\"0\" "
      "speed=\"-1\"/></nic>"
      "</cpu></system>\n"};
}
std::vector<std::string> TraceSeeds() {
  const Workload workload = drydock::testing::ToyWorkload();
  return {EncodeTrace(workload, workload.programs[0]), EncodeTrace(workload, workload.programs[1])};
}

// An artefact without its checksum, which the target adds.
std::vector<std::string> Unsealed(const char* name) {
  const TemporaryDirectory dir;
  CHECK(drydock::testing::WriteToyRun(dir.path()));
  const Result<std::string> content = ReadFile(dir / name);
  CHECK(content.ok());
  return {content->substr(0, content->size() - 6)};
}
std::vector<std::string> ManifestSeeds() { return Unsealed(kManifestName); }
std::vector<std::string> TopologySeeds() { return Unsealed(kTopologyName); }
std::vector<std::string> FlowPlanSeeds() { return Unsealed(kFlowPlanName); }
std::vector<std::string> KernelTimesSeeds() { return Unsealed(kKernelTimesName); }
std::vector<std::string> TimelineSeeds() { return Unsealed(kTimelineName); }
std::vector<std::string> WhatIfSeeds() { return Unsealed(kWhatIfName); }

}  // namespace

const std::vector<Target>& Targets() {
  static const std::vector<Target> targets = {
      {"yaml", Yaml, YamlSeeds, 20000},
      {"set", Override, OverrideSeeds, 6000},
      {"cluster", Cluster, ClusterSeeds, 20000},
      {"gpu", Gpu, GpuSeeds, 20000},
      {"host_memory", HostMemoryFile, HostMemorySeeds, 6000},
      {"failures", Failures, FailuresSeeds, 6000},
      {"nccl_topology", NcclTopology, NcclTopologySeeds, 20000},
      {"nccl_call", NcclCall, NcclCallSeeds, 200},
      {"trace", Trace, TraceSeeds, 20000},
      {"manifest", Manifest, ManifestSeeds, 4000},
      {"topology", TopologyFile, TopologySeeds, 4000},
      {"flow_plan", FlowPlan, FlowPlanSeeds, 3000},
      {"kernel_times", KernelTimes, KernelTimesSeeds, 3000},
      {"timeline", Timeline, TimelineSeeds, 4000},
      {"what_if", WhatIf, WhatIfSeeds, 20000},
      {"profile", Profile, ProfileSeeds, 20000},
      {"submodules", Submodules, SubmodulesSeeds, 20000},
      {"import", Import, ImportSeeds, 2000},
      {"gpu_kernels", GpuKernels, GpuKernelsSeeds, 20000},
      {"model", Model, ModelSeeds, 20000},
      {"hf_config", HfConfig, HfConfigSeeds, 20000},
      {"overlap_config", OverlapConfig, OverlapConfigSeeds, 20000},
      {"megatron_arguments", MegatronArguments, MegatronArgumentsSeeds, 700},
      {"rank_trace", RankTrace, RankTraceSeeds, 20000},
      {"foreign_json", ForeignJson, ForeignJsonSeeds, 900},
      {"foreign_trace", ForeignTrace, ForeignTraceSeeds, 900},
      {"foreign_groups", ForeignGroups, ForeignGroupsSeeds, 900},
      {"simai", SimaiWorkload, SimaiWorkloadSeeds, 3000},
      {"goal", GoalSchedule, GoalScheduleSeeds, 2500},
      {"aicb", AicbWorkload, AicbWorkloadSeeds, 3000},
      {"simai_topology", SimaiTopology, SimaiTopologySeeds, 2000},
      {"simai_conf", SimaiConf, SimaiConfSeeds, 2000},
      {"msccl", Msccl, MscclSeeds, 5000},
      {"gpu_topology", GpuTopology, GpuTopologySeeds, 10000},
      {"air", AirTopology, AirTopologySeeds, 10000},
      {"study", Study, StudySeeds, 10000},
      {"inventory", InventoryOf, InventorySeeds, 20000},
      {"astra_network", AstraNetwork, AstraNetworkSeeds, 5000},
      {"astra_system", AstraSystem, AstraSystemSeeds, 1000}};
  return targets;
}

const Target* FindTarget(const std::string& name) {
  for (const Target& target : Targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace drydock::fuzz
