#include "tests/fuzz/file_target.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/yaml.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/inventory/cluster_text.h"
#include "core/schema/inventory/gpu_matrix.h"
#include "core/schema/inventory/inventory.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"
#include "simccl/custom/custom_planner.h"
#include "simccl/plan/plan_deadlock.h"
#include "simccl/testing/expand_testing.h"
#include "study/axes/space.h"
#include "study/axes/study_file.h"
#include "tests/fuzz/printable.h"

namespace drydock::fuzz {
namespace {

using drydock::testing::TemporaryDirectory;

constexpr size_t kMostPoints = 10'000;  // that a study file is expanded to
constexpr int kMostMembers = 16;        // two hosts of the world below
constexpr int64_t kMostElements = 1 << 20;

const Bandwidth kRate = Bandwidth::BitsPerSecond(200'000'000'000);

const YamlNode& BaseCluster() {
  static const YamlNode base = ParseYaml(drydock::testing::ToyCluster().yaml, "base.topo").value();
  return base;
}

// A cluster that is made of an inventory is a text that can be read.
void CheckText(const Result<ClusterText>& cluster) {
  CheckPrintable(cluster);
  if (!cluster.ok()) return;
  CheckPrintable(ParseYaml(cluster->text, "c"));
  CHECK_NOTE(ParseYaml(cluster->text, "c").ok(), cluster->text);
}

// An accepted cluster stands for itself: its text gives the same.
void CheckCluster(const Result<ClusterInput>& cluster) {
  CheckPrintable(cluster);
  if (!cluster.ok()) return;
  const Result<ClusterInput> again = ParseCluster(cluster->yaml, "f", cluster->files);
  CHECK_NOTE(again.ok() && again->yaml == cluster->yaml, cluster->yaml);
}

// Two servers of two GPUs, NICs of 400 Gb/s, two leaves, and a spine behind 100 Gb/s.
constexpr const char* kSimaiTopology =
    "9 2 2 3 12 H100\n4 5 6 7 8\n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
    "2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n"
    "1 6 400Gbps 0.0005ms 0\n2 7 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n"
    "6 8 100Gbps 0.001ms 0\n7 8 100Gbps 0.001ms 0\n6 8 100Gbps 0.001ms 0\n"
    "7 8 100Gbps 0.001ms 0\n";

}  // namespace

void SimaiTopology(const std::string& input) {
  static const TemporaryDirectory folder;
  CHECK(WriteFileAtomically(folder / "topology", input).ok());
  CheckCluster(LoadCluster(folder / "topology", {}));
}

std::vector<std::string> SimaiTopologySeeds() {
  return {kSimaiTopology,
          "5 2 1 1 4 A100\n3 4\n0 2 4800Gbps 0.000025ms 0\n1 2 4800Gbps 0.000025ms "
          "0\n0 3 200Gbps 0.0005ms 0\n1 3 200Gbps 0.0005ms 0.1\n"};
}

void SimaiConf(const std::string& input) {
  static const TemporaryDirectory folder;
  CHECK(WriteFileAtomically(folder / "topology", kSimaiTopology).ok());
  CHECK(WriteFileAtomically(folder / "SimAI.conf", input).ok());
  CheckCluster(LoadCluster(folder / "topology", {}));
}

std::vector<std::string> SimaiConfSeeds() {
  return {
      "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 9000\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\n"
      "RATE_DECREASE_INTERVAL 4\nRP_TIMER 900 \nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\n"
      "RATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\nL2_ACK_INTERVAL 1\nHAS_WIN 1\n"
      "ACK_HIGH_PRIO 1\nKMIN_MAP 2 100000000000 400 400000000000 800\nBUFFER_SIZE 32\n"
      "LINK_DOWN 20 6 8\nFLOW_FILE a.txt\nU_TARGET 0.95\nPINT_PROB 1.0\n",
      "CC_MODE 3\nKMAX_MAP 1 400000000000 1600\nPMAX_MAP 1 400000000000 0.2\nVAR_WIN 1\n"
      "FAST_REACT 0\nMI_THRESH 0\nINT_MULTI 1\nGLOBAL_T 1\nexport AS_NVLS_ENABLE=1\n"
      "AS_SEND_LAT 3\n"};
}

void Msccl(const std::string& input) {
  const Result<MscclAlgorithm> algorithm = ParseMsccl(input, "a.xml");
  CheckPrintable(algorithm);
  if (!algorithm.ok() || algorithm->members() > kMostMembers) return;
  CommCall call;
  call.collective = algorithm->collective;
  call.type = DataType::kFp32;
  call.group_size = algorithm->members();
  for (const int64_t count : {algorithm->chunks, algorithm->chunks * 16}) {
    if (count <= 0 || count > kMostElements) continue;
    call.count = count;
    if (!IsFor(*algorithm, call, algorithm->members())) continue;
    const int hosts = algorithm->members() > 8 ? 2 : 1;
    const NcclCommunicator communicator = OpenH100s(hosts, algorithm->members() / hosts);
    if (communicator.shape().ranks != algorithm->members()) continue;
    const Result<Plan> plan = PlanMsccl(*algorithm, call, communicator);
    CheckPrintable(plan);
    if (plan.ok()) CheckPrintable(CheckPlanDeadlock(*plan));
  }
}

std::vector<std::string> MscclSeeds() {
  const auto gpu = [](const std::string& id, const std::string& other, const std::string& steps) {
    return "<gpu id=\"" + id +
           "\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"1\">\n<tb id=\"0\" send=\"" + other +
           "\" recv=\"" + other + "\" chan=\"0\">\n" + steps + "</tb>\n</gpu>\n";
  };
  const auto step = [](int s, const std::string& type, int from, int to) {
    const std::string number = std::to_string(s);
    return "<step s=\"" + number + "\" type=\"" + type + "\" srcbuf=\"i\" srcoff=\"" +
           std::to_string(from) + "\" dstbuf=\"i\" dstoff=\"" + std::to_string(to) +
           "\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n";
  };
  const auto algorithm = [](const std::string& coll, const std::string& gpus) {
    return "<algo name=\"test\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" "
           "coll=\"" +
           coll + "\" inplace=\"1\">\n" + gpus + "</algo>\n";
  };
  return {algorithm("allreduce", gpu("0", "1",
                                     step(0, "s", 0, 0) + step(1, "rrc", 1, 1) +
                                         step(2, "s", 1, 1) + step(3, "r", 0, 0)) +
                                     gpu("1", "0",
                                         step(0, "s", 1, 1) + step(1, "rrc", 0, 0) +
                                             step(2, "s", 0, 0) + step(3, "r", 1, 1))),
          algorithm("allgather", gpu("0", "1", step(0, "s", 0, 0) + step(1, "r", 1, 1)) +
                                     gpu("1", "0",
                                         "<step s=\"0\" type=\"s\" buf=\"i\" off=\"0\"/>\n"
                                         "<step s=\"1\" type=\"r\" buf=\"o\" off=\"0\"/>\n"))};
}

void GpuTopology(const std::string& input) {
  const Result<GpuMatrix> matrix = ParseGpuMatrix(input, "f");
  CheckPrintable(matrix);
  if (matrix.ok()) CheckText(ClusterOfGpuMatrix(*matrix, BaseCluster(), kRate, "c"));
}

std::vector<std::string> GpuTopologySeeds() {
  return {
      "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
      "GPU0\t X \tNV18\tNV18\tNV18\tPXB\tSYS\tNODE\t0-47\t0\t\tN/A\n"
      "GPU1\tNV18\t X \tNV18\tNV18\tPXB\tSYS\tNODE\t0-47\t0\t\tN/A\n"
      "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tPIX\tSYS\t48-95\t1\t\tN/A\n"
      "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tPIX\tSYS\t48-95\t1\t\tN/A\n"
      "NIC0\tPXB\tPXB\tSYS\tSYS\t X \tSYS\tNODE\n\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n"
      "  NIC0: mlx5_0\n  NIC1: mlx5_3\n  NIC2: mlx5_bond_0\n",
      "     GPU0 GPU1 GPU2\nGPU0 X NV4 NV2\nGPU1 NV4 X SYS\nGPU2 NV2 SYS X\n",
      "     GPU0 GPU1 mlx5_0\nGPU0 X PIX PIX\nGPU1 PIX X PHB\nmlx5_0 PIX PHB X\n"};
}

void AirTopology(const std::string& input) {
  for (const char* hosts : {"", "s*"}) {
    const Result<Inventory> inventory = ParseAirTopology(input, "f", hosts);
    CheckPrintable(inventory);
    if (!inventory.ok()) continue;
    CheckText(ClusterOfInventory(*inventory, BaseCluster(), 1, kRate, "c"));
  }
}

std::vector<std::string> AirTopologySeeds() {
  return {
      "graph network { // a lab\n  \"leaf01\" [function=\"leaf\" os=\"cumulus-vx-5.16.1\"]\n"
      "  \"server02\" [function=\"server\", os=\"generic/ubuntu2404\"];\n"
      "  server10 [function=\"host\"] # another\n  \"leaf01\":\"swp1\" -- \"server02\":\"eth1\"\n"
      "  \"leaf01\":\"swp2\" -- \"server10\":\"eth1\" [left_mac=\"44:38:39:00:00:01\"]\n}\n",
      "{\"title\": \"lab\", \"content\": {\n\"nodes\": {\"leaf01\": {\"os\": "
      "\"cumulus-vx-5.16.1\"}, \"server01\": {\"os\": \"generic/ubuntu2404\", \"cpu\": 2}},\n"
      "\"links\": [[{\"interface\": \"swp1\", \"node\": \"leaf01\"}, {\"interface\": \"eth1\", "
      "\"node\": \"server01\"}],\n[{\"interface\": \"eth0\", \"node\": \"leaf01\"}, "
      "\"exit\"]]}}\n"};
}

void Study(const std::string& input) {
  Result<StudyFile> study = ParseStudy(input, "f");
  CheckPrintable(study);
  if (!study.ok()) return;
  const Result<Space> space = MakeSpace(std::move(study->axes), study->zip, study->constraints);
  CheckPrintable(space);
  if (!space.ok() || CountBeforeConstraints(*space) > kMostPoints) return;
  const Result<std::vector<SpacePoint>> points = PointsOf(*space);
  CheckPrintable(points);
  if (!points.ok()) return;
  for (const SpacePoint& point : *points) {
    CHECK(AssignmentsOf(*space, point).size() == space->axes.size());
  }
}

std::vector<std::string> StudySeeds() {
  return {
      "model: llama-3-70b\ncluster: dgx-h100-8\nnetwork: analytical\nover:\n"
      "  parallel.tensor: [1, 2, 4]\n  cluster.hosts: 8..32*2\n"
      "  fabric.dimensions: [[4, 4], [8, 2]]\nzip: [parallel.tensor, cluster.hosts]\n"
      "constraints: [tensor * hosts <= 64]\nset: {training.recompute: full}\nmetrics: mfu\n"
      "gpu_profiles: [mine.csv]\n",
      "model: m.yaml\ncluster: c.topo\nover:\n  training.micro_batch: 1..9+2\n"
      "  model.layers: [2, 4]\nconstraints:\n- micro_batch % 2 == 1 && layers >= 2\n"
      "- sqrt(layers) < 3 || micro_batch > 4 ? 1 : 0\n"};
}

}  // namespace drydock::fuzz
