#include "tests/fuzz/nccl_call_target.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include "core/base/check.h"
#include "core/model/calls/call_words.h"
#include "core/nccl/nccl_settings.h"
#include "core/nccl/testing/hosts_testing.h"
#include "simccl/expand/expand.h"
#include "simccl/nccl/nccl_calls.h"
#include "simccl/plan/plan_deadlock.h"
#include "simccl/planner/call_shape.h"
#include "simccl/proof/interpreter.h"

namespace drydock::fuzz {
namespace {

constexpr int kMaxHosts = 3, kMaxGpus = 8;
constexpr int64_t kMaxBytes = int64_t{1} << 56;        // as `simccl expand` takes
constexpr int64_t kMaxProvenBytes = int64_t{1} << 20;  // the proof takes a step for each chunk

struct Input {
  NcclSettings settings;
  std::string host = "h100";
  int hosts = 1, gpus = 4;
  hacknccl_config config = UnsetConfig();
  CommCall call;
  uint64_t count = 65536;  // as in the text; can exceed a CommCall's range
  std::string xml;
};

// Reads the next word into `number`; leaves `number` unchanged if the word is not a number.
template <typename T>
void ReadNumber(std::istringstream* words, T* number) {
  std::string word;
  if (*words >> word) std::from_chars(word.data(), word.data() + word.size(), *number);
}

void ReadCall(std::istringstream* words, Input* input) {
  CommCall& call = input->call;
  std::string collective, type, op, place;
  *words >> collective >> type >> op;
  if (const auto parsed = ParseCollective(collective); parsed.ok()) call.collective = *parsed;
  if (const auto parsed = ParseDataType(type); parsed.ok()) call.type = *parsed;
  if (const auto parsed = ParseReduceOp(op); parsed.ok()) call.op = *parsed;
  ReadNumber(words, &input->count);
  ReadNumber(words, &call.root);
  ReadNumber(words, &call.peer);
  call.in_place = static_cast<bool>(*words >> place);
}

void ReadConfig(std::istringstream* words, hacknccl_config* config) {
  for (int32_t* field :
       {&config->min_ctas, &config->max_ctas, &config->nvls_ctas, &config->cga_cluster_size,
        &config->cta_policy, &config->collnet_enable, &config->channels_per_net_peer}) {
    ReadNumber(words, field);
  }
}

Input Read(const std::string& text) {
  Input input;
  input.call.peer = 1;
  const size_t xml = text.find('<');
  if (xml != std::string::npos) input.xml = text.substr(xml);
  std::istringstream lines(text.substr(0, xml));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (const size_t equals = line.find('='); equals != std::string::npos) {
      input.settings.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    } else if (first == "host") {
      words >> input.host;
    } else if (first == "group") {
      ReadNumber(&words, &input.hosts);
      ReadNumber(&words, &input.gpus);
    } else if (first == "config") {
      ReadConfig(&words, &input.config);
    } else if (first == "call") {
      ReadCall(&words, &input);
    }
  }
  input.hosts = std::clamp(input.hosts, 1, kMaxHosts);
  input.gpus = std::clamp(input.gpus, 1, kMaxGpus);
  return input;
}

Result<NcclHost> HostOf(const Input& input) {
  static const std::map<std::string, std::pair<HostKind, int>> kinds = {
      {"h100", {DgxH100(), 90}},
      {"a100", {DgxA100(4), 80}},
      {"v100", {Dgx1V100(), 70}},
      {"pcie", {PcieOnly(), 89}},
      {"gb200", {Gb200Rack(), 100}}};
  const auto found = kinds.find(input.host);
  const auto& [kind, capability] = found == kinds.end() ? kinds.at("h100") : found->second;
  ASSIGN_OR_RETURN(NcclHost host, DescribeHost(kind, TestGpu(capability)));
  host.collnet = true;
  if (input.xml.empty()) return host;
  ASSIGN_OR_RETURN(const NcclHost given, ParseTopologyXml(input.xml, "topology.xml"));
  host.xml = given.xml;
  host.gpu_bus_ids = given.gpu_bus_ids;
  host.nics = given.nics;
  host.trays = 1;
  return host;
}

// The C interface checks its arguments, since a program written against nccl.h can pass any number.
Status LaunchAsItStands(const Input& input, const NcclCommunicator& communicator) {
  if (input.call.collective >= CollectiveType::kAllToAllV) return OkStatus();
  const bool message = input.call.collective == CollectiveType::kSendRecv;
  hacknccl_call call = message ? SendTo(input.call.peer, 0) : AsNcclCall(input.call);
  call.count = input.count;
  const auto plan = communicator.Collective(call);
  return plan.ok() ? OkStatus() : Status(plan.error());
}

// Limits the call as the tools do. Returns false if the tools refuse it.
bool MakeAcceptable(Input* input) {
  CommCall& call = input->call;
  const int64_t size = SizeOf(call.type).count();
  const int members = call.group_size;
  call.count = static_cast<int64_t>(
      std::min<uint64_t>(input->count, static_cast<uint64_t>(kMaxBytes / size)));
  call.count -= call.count % PartsOf(call);
  const bool known = call.collective < CollectiveType::kAllToAllV;
  const bool in_group = call.root >= 0 && call.root < members && call.peer >= 0 &&
                        call.peer < members &&
                        (call.collective != CollectiveType::kSendRecv || call.peer != call.root);
  return known && in_group && members > 1 && call.count > 0;
}

void CheckPlanOf(const Plan& plan, const CommCall& call, const std::string& input) {
  if (call.bytes().count() > kMaxProvenBytes) return;
  const Status free = CheckPlanDeadlock(plan);
  CHECK_NOTE(free.ok(), input + free.error().ToString());
  const std::string wrong = CheckPlan(plan, call);
  CHECK_NOTE(wrong.empty(), input + wrong);
}

Result<std::string> Run(const std::string& text) {
  Input input = Read(text);
  ASSIGN_OR_RETURN(const NcclHost host, HostOf(input));
  ASSIGN_OR_RETURN(const std::shared_ptr<NcclLibrary> library, NcclLibrary::Load());
  ASSIGN_OR_RETURN(const NcclWorld world, NcclWorld::Create(library, {host}, input.settings));
  std::vector<hacknccl_place> places;
  const int gpus = std::min(input.gpus, static_cast<int>(host.gpu_bus_ids.size()));
  for (int rank = 0; rank < input.hosts * gpus; ++rank)
    places.push_back({rank / gpus, 0, rank % gpus});
  ASSIGN_OR_RETURN(const NcclCommunicator communicator,
                   world.CreateCommunicator(places, &input.config));
  input.call.group_size = static_cast<int>(places.size());
  RETURN_IF_ERROR(LaunchAsItStands(input, communicator));
  if (!MakeAcceptable(&input)) return std::string("nothing to plan");
  PlanBuilder builder(communicator);
  RETURN_IF_ERROR(ExpandCalls(CallsOf(input.call), &builder));
  ASSIGN_OR_RETURN(const Plan plan, builder.Finish());
  CheckPlanOf(plan, input.call, text);
  return AlgorithmNames()[static_cast<size_t>(plan.works.front().algorithm)];
}

}  // namespace

std::string OutcomeOfNcclCall(const std::string& input) {
  const Result<std::string> outcome = Run(input);
  return outcome.ok() ? *outcome : "refused: " + outcome.error().ToString();
}

void NcclCall(const std::string& input) {
  for (const char c : OutcomeOfNcclCall(input)) {
    CHECK(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

std::vector<std::string> NcclCallSeeds() {
  return {
      "NCCL_BUFFSIZE=65536\nhost h100\ngroup 2 4\ncall all_reduce bf16 sum 65536\n",
      "NCCL_ALGO=NVLS,Tree\nNCCL_PROTO=^LL128\ncall all_reduce fp32 avg 4096 0 1 in_place\n",
      "NCCL_COLLNET_ENABLE=1\nNCCL_ALGO=CollnetDirect\ngroup 3 4\ncall all_reduce fp16 max 999\n",
      "NCCL_MAX_NCHANNELS=1\nNCCL_NTHREADS=64\nhost pcie\ngroup 1 3\ncall broadcast int8 sum 77 "
      "3\n",
      "NCCL_P2P_NET_CHUNKSIZE=8192\nhost v100\ngroup 2 2\ncall alltoall fp64 sum 12345\n",
      "NCCL_P2P_DISABLE=1\nhost a100\ngroup 2 3\nconfig 2 4\ncall sendrecv int64 sum 31 1 4\n",
      "NCCL_PXN_DISABLE=1\nhost gb200\ngroup 1 8\ncall reduce_scatter bf16 min 8000\n"};
}

}  // namespace drydock::fuzz
