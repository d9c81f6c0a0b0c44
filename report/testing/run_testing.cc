#include "report/testing/run_testing.h"

#include <unistd.h>

#include <filesystem>
#include <initializer_list>

#include "core/base/files.h"
#include "core/schema/artefacts/artefacts.h"

namespace drydock {
namespace {

constexpr const char* kClusterYaml = R"(cluster: {name: quad, host: box, hosts: 1}
hosts:
  box:
    gpu: test-gpu
    gpus: 4
    scale_up: {kind: nvswitch, switches: 2, bandwidth: 300 GB/s, latency: 600 ns}
    nics: {count: 4, rate: 200 Gbps, pcie: gen4 x16, latency: 600 ns}
fabric: {kind: none}
)";

constexpr const char* kGpuYaml = R"(gpu:
  name: test-gpu
  architecture: ampere
  compute_capability: 80
  sms: 108
  dense: {fp16: 100 TFLOPS}
  memory: {size: 80 GB, bandwidth: 2 TB/s}
  l2: 40 MB
  nvlink: 300 GB/s
  pcie: 32 GB/s
  source: "made up for a test"
collectives: none
)";

enum Role : uint8_t { kTp, kNext, kPrevious };
enum Stream : uint8_t { kComputeStream, kTpStream, kSendStream, kRecvStream };
enum Call : uint32_t { kReduce, kActivations, kGradients };
enum Block : uint32_t { kForwardBlock, kBackwardBlock };

struct TimedOp {
  Op op;
  int64_t start_us = 0, ready_us = 0, end_us = 0;
};

// Stage 0; `late` is how much longer the forward pass takes on this rank.
std::vector<TimedOp> FirstStage(int64_t late) {
  return {
      {{OpKind::kCompute, Phase::kForward, kComputeStream, 0, kForwardBlock, 0, 0, 0},
       0,
       0,
       100 + late},
      {{OpKind::kCollective, Phase::kForward, kTpStream, kTp, kReduce, 0, 0, 0},
       100 + late,
       110,
       150},
      {{OpKind::kSend, Phase::kForward, kSendStream, kNext, kActivations, 7, -1, 0}, 150, 150, 200},
      {{OpKind::kRecv, Phase::kBackward, kRecvStream, kNext, kGradients, 8, -1, 0}, 200, 400, 450},
      {{OpKind::kCompute, Phase::kBackward, kComputeStream, 0, kBackwardBlock, 0, 0, 0},
       450,
       450,
       600}};
}

std::vector<TimedOp> SecondStage() {
  return {{{OpKind::kRecv, Phase::kForward, kRecvStream, kPrevious, kActivations, 7, -1, 0},
           0,
           150,
           205},
          {{OpKind::kCompute, Phase::kForward, kComputeStream, 0, kForwardBlock, 0, 1, 0},
           205,
           205,
           305},
          {{OpKind::kCollective, Phase::kForward, kTpStream, kTp, kReduce, 0, 1, 0}, 305, 305, 345},
          {{OpKind::kCompute, Phase::kBackward, kComputeStream, 0, kBackwardBlock, 0, 1, 0},
           345,
           345,
           400},
          {{OpKind::kSend, Phase::kBackward, kSendStream, kPrevious, kGradients, 8, -1, 0},
           400,
           400,
           450}};
}

// Each op depends on the one before it.
Program ProgramOf(const std::vector<TimedOp>& timed) {
  Program program;
  program.dependency_begin.push_back(0);
  for (uint32_t i = 0; i < timed.size(); ++i) {
    program.ops.push_back(timed[i].op);
    if (i > 0) program.dependency.push_back(i - 1);
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
  }
  return program;
}

RankTimeline TimesOf(const std::vector<TimedOp>& timed) {
  RankTimeline times;
  for (const TimedOp& op : timed) {
    times.start.push_back(Time::Us(op.start_us));
    times.ready.push_back(Time::Us(op.ready_us));
    times.end.push_back(Time::Us(op.end_us));
  }
  return times;
}

TimeAccount Account(int64_t compute, int64_t tensor, int64_t pipeline, int64_t bubble,
                    int64_t idle) {
  TimeAccount account;
  account.compute = Time::Us(compute);
  account.exposed[static_cast<int>(Dimension::kTensor)] = Time::Us(tensor);
  account.exposed[static_cast<int>(Dimension::kPipeline)] = Time::Us(pipeline);
  account.bubble = Time::Us(bubble);
  account.idle = Time::Us(idle);
  return account;
}

void FillTables(Workload* w) {
  w->streams = {"compute", "tp", "pp-send", "pp-recv"};
  w->roles = {{"tp", Dimension::kTensor},
              {"pp-next", Dimension::kPipeline},
              {"pp-prev", Dimension::kPipeline}};
  w->groups = {{{0, 1}}, {{2, 3}}, {{0, 2}}, {{1, 3}}};
  w->group_of_rank = {{0, 0, 1, 1}, {2, 3, -1, -1}, {-1, -1, 2, 3}};
  w->submodules.resize(2);
  w->submodules[0].name = "attention.qkv";
  w->submodules[1].name = "attention.qkv";
  w->submodules[1].pass = Pass::kBackward;
  w->blocks = {{"layer.forward", {0}}, {"layer.backward", {1}}};
  const auto fp16 = DataType::kFp16;
  w->calls = {{CollectiveType::kAllReduce, fp16, ReduceOp::kSum, 1000000, 0, 0, 2},
              {CollectiveType::kSendRecv, fp16, ReduceOp::kSum, 500000, 0, 1, 2},
              {CollectiveType::kSendRecv, fp16, ReduceOp::kSum, 500000, 1, 0, 2}};
  w->uses = {{kReduce, 0},      {kReduce, 1},    {kActivations, 2},
             {kActivations, 3}, {kGradients, 2}, {kGradients, 3}};
  w->class_of_rank = {0, 0, 1, 1};
  w->class_count = 2;
  w->totals = {4096, 9.6e10, 1.2e11, 1000000000, "fake-1b", "TP2 PP2 DP1, 1 micro-batch", fp16};
}

FlowPlan Flows(const Workload& workload) {
  FlowPlan flows;
  flows.plans.resize(2);
  flows.plans[0].name = "all-reduce fp16 2 MB over 2";
  flows.plans[0].works[0].protocol = Protocol::kLl128;
  flows.plans[0].works[0].channels = 4;
  flows.plans[0].members.resize(2);
  flows.plans[1].name = "send-recv fp16 1 MB over 2";
  flows.plans[1].works[0].algorithm = Algorithm::kSendRecv;
  flows.plans[1].works[0].channels = 1;
  flows.plans[1].members.resize(2);
  for (const Workload::Use& use : workload.uses) {
    flows.assignments.push_back({use.call, use.group, use.call == kReduce ? 0u : 1u});
  }
  return flows;
}

// Forward 60 + 40 us, backward 150 us.
KernelTimes Times() {
  KernelTimes times;
  const KernelTime gemm = {
      "gemm", "1024x1024x1024 fp16", Time::Us(60), KernelBound::kTensorCores, TimeSource::kProfile,
      "a row"};
  const KernelTime norm = {
      "norm", "1024x1024 fp16", Time::Us(40), KernelBound::kMemory, TimeSource::kModel, "a law"};
  const KernelTime wide = {"gemm",
                           "1024x1024x2048 fp16",
                           Time::Us(150),
                           KernelBound::kTensorCores,
                           TimeSource::kScaled,
                           "another GPU"};
  times.gpus = {{"test-gpu", {{Time::Us(100), {gemm, norm}}, {Time::Us(150), {wide}}}}};
  times.source_count[0] = times.source_count[1] = times.source_count[2] = 1;
  return times;
}

}  // namespace

ClusterInput FakeCluster() {
  return ParseCluster(kClusterYaml, "quad.topo", {{"gpus/test-gpu.yaml", kGpuYaml}}).value();
}

Inputs FakeRun() {
  Inputs inputs;
  inputs.workload.topology = FakeCluster().topology;
  FillTables(&inputs.workload);
  inputs.workload.programs = {ProgramOf(FirstStage(0)), ProgramOf(SecondStage())};
  inputs.flows = Flows(inputs.workload);
  inputs.times = Times();
  Timeline& timeline = inputs.timeline;
  timeline.network = kPacketNetwork;
  timeline.iteration = Time::Us(600);
  timeline.ranks = {TimesOf(FirstStage(0)), TimesOf(FirstStage(10)), TimesOf(SecondStage()),
                    TimesOf(SecondStage())};
  timeline.accounts = {Account(250, 50, 100, 200, 0), Account(260, 40, 100, 200, 0),
                       Account(155, 40, 55, 150, 200), Account(155, 40, 55, 150, 200)};
  timeline.counters = {{"messages", 8}, {"packets", 1000}};
  timeline.links = {{"host 0/nic0", "leaf0", Bandwidth::BitsPerSecond(100'000'000'000),
                     Bytes(1'875'000), Bytes(10'000), 30, 4, 2, Time::Ns(12'500), Time::Us(150)}};
  timeline.slowdowns = {{Bytes(64), 6, 1, 1.25, 1.5, 1.5}, {Bytes(1 << 20), 2, 2, 3, 3, 3}};
  return inputs;
}

void WriteFakeRun(const Inputs& inputs, const std::string& run) {
  CHECK(MakeDirectories(run).ok());
  const auto input = [&run](const char* name) {
    return Provenance::Input{name, Sha256OfFile(run + "/" + name).value()};
  };
  CHECK(WriteWorkload(run, inputs.workload, FakeCluster(), {"workload-gen", {}, {}}).ok());
  const Provenance::Input manifest = input(kManifestName);
  CHECK(WriteFlowPlan(run, inputs.flows, {"simccl", {manifest}, {}}).ok());
  CHECK(WriteKernelTimes(run, inputs.times, {"compute-sim", {manifest}, {}}).ok());
  CHECK(
      WriteTimeline(run, inputs.timeline,
                    {"exec-engine", {manifest, input(kFlowPlanName), input(kKernelTimesName)}, {}})
          .ok());
}

std::string FreshDirectory(const std::string& name) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("drydock-report-" + name + "-" + std::to_string(::getpid()));
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

}  // namespace drydock
