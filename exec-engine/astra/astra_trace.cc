#include "exec-engine/astra/astra_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/files.h"
#include "core/base/yaml.h"
#include "core/schema/foreign/chakra_file.h"

namespace drydock {
namespace {

using Kind = AstraNode::Kind;

constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr int64_t kMostNanoseconds = int64_t{3'600'000'000'000};  // an hour
constexpr size_t kMostNodes = 20'000'000;

class TraceReader {
 public:
  TraceReader(std::string path, int npu, const DimensionNetwork& network,
              const CollectiveSystem& system, const std::map<std::string, int>& groups,
              const std::vector<std::vector<int>>& members)
      : path_(std::move(path)),
        npu_(npu),
        network_(network),
        system_(system),
        groups_(groups),
        members_(members) {}

  Result<std::vector<AstraNode>> Read(const std::string& content) {
    RETURN_IF_ERROR(
        ForEachChakraNode(content, path_, [this](const ChakraNode& node) { return Add(node); }));
    std::vector<size_t> order(nodes_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [this](size_t a, size_t b) { return nodes_[a].id < nodes_[b].id; });
    std::vector<AstraNode> sorted;
    std::vector<std::vector<uint64_t>> deps;
    std::unordered_map<uint64_t, uint32_t> index;
    for (const size_t i : order) {
      if (!index.emplace(nodes_[i].id, static_cast<uint32_t>(sorted.size())).second) {
        return Error(fmt::format("two nodes have the id {}", nodes_[i].id), {path_, 0, 0});
      }
      sorted.push_back(std::move(nodes_[i]));
      deps.push_back(std::move(deps_[i]));
    }
    for (uint32_t i = 0; i < sorted.size(); ++i) {
      std::sort(deps[i].begin(), deps[i].end());
      deps[i].erase(std::unique(deps[i].begin(), deps[i].end()), deps[i].end());
      for (const uint64_t dep : deps[i]) {
        const auto found = index.find(dep);
        if (found == index.end()) {
          return Error(
              fmt::format("node {} waits for node {}, which is not there", sorted[i].id, dep),
              {path_, 0, 0});
        }
        sorted[found->second].next.push_back(i);
        ++sorted[i].waits;
      }
    }
    return sorted;
  }

 private:
  Error Bad(const ChakraNode& node, const std::string& what) const {
    return Error(fmt::format("node {} '{}': {}", node.id, Printable(node.name), what),
                 {path_, 0, 0});
  }

  Status Add(const ChakraNode& node) {
    if (nodes_.size() == kMostNodes) {
      return Error(fmt::format("more than {} nodes", kMostNodes), {path_, 0, 0});
    }
    AstraNode out;
    out.id = node.id;
    out.name = node.name;
    RETURN_IF_ERROR(ReadWork(node, &out));
    nodes_.push_back(std::move(out));
    std::vector<uint64_t> deps = node.deps;
    deps.insert(deps.end(), node.ctrl_deps.begin(), node.ctrl_deps.end());
    deps_.push_back(std::move(deps));
    return OkStatus();
  }

  Status ReadWork(const ChakraNode& node, AstraNode* out) {
    const int64_t* host = node.Integer("is_cpu_op");
    const bool on_host = host != nullptr && *host != 0;
    switch (static_cast<ChakraKind>(node.type)) {
      case ChakraKind::kInvalid:
      case ChakraKind::kMetadata:
        return OkStatus();
      case ChakraKind::kCompute:
        out->kind = on_host ? Kind::kHost : Kind::kCompute;
        if (system_.roofline && !on_host) return ReadRoofline(node, out);
        return ReadDuration(node, out);
      case ChakraKind::kCollective:
        return ReadCollective(node, out);
      case ChakraKind::kSend:
      case ChakraKind::kReceive:
        return ReadMessage(node, out);
      case ChakraKind::kMemoryLoad:
      case ChakraKind::kMemoryStore:
        return Bad(node,
                   "ASTRA-sim's remote memory is not modeled; on a cluster, workload-gen import "
                   "gives the transfer a memory");
    }
    return Bad(node, fmt::format("there is no type {}", node.type));
  }

  // ASTRA-sim takes a nanosecond where a trace states no time.
  Status ReadDuration(const ChakraNode& node, AstraNode* out) {
    if (node.duration_us > static_cast<uint64_t>(kMostNanoseconds / 1000)) {
      return Bad(node, "it takes more than an hour");
    }
    const auto us = static_cast<int64_t>(node.duration_us);
    out->time = Time::Ns(us == 0 ? 1 : us * 1000);
    return OkStatus();
  }

  Status ReadRoofline(const ChakraNode& node, AstraNode* out) {
    const int64_t* ops = node.Integer("num_ops");
    const int64_t* bytes = node.Integer("tensor_size");
    if (ops == nullptr || bytes == nullptr || *ops < 0 || *bytes < 0) {
      return Bad(node, "roofline-enabled needs 'num_ops' and 'tensor_size'");
    }
    if (*bytes == 0) {
      out->kind = Kind::kNothing;
      return OkStatus();
    }
    const double intensity = static_cast<double>(*ops) / static_cast<double>(*bytes);
    const double rate =
        std::min(system_.memory.bytes_per_second() * intensity, system_.peak.flops_per_second());
    const double ns = *ops == 0 ? 0 : std::floor(static_cast<double>(*ops) / rate * 1e9);
    if (!(ns <= static_cast<double>(kMostNanoseconds))) {
      return Bad(node, "it takes more than an hour");
    }
    out->time = Time::Ns(static_cast<int64_t>(ns));
    return OkStatus();
  }

  Result<int64_t> BytesOf(const ChakraNode& node) const {
    const int64_t* bytes = node.Integer("comm_size");
    if (bytes == nullptr || *bytes < 0 || *bytes > kMostBytes) {
      return Bad(node, "'comm_size' is a number of bytes from 0 to 2^50");
    }
    return *bytes;
  }

  Status ReadCollective(const ChakraNode& node, AstraNode* out) {
    const int64_t* type = node.Integer("comm_type");
    if (type == nullptr) return Bad(node, "it has no 'comm_type'");
    const int64_t* dimensions = node.Integer("involved_dim");
    if (dimensions != nullptr && *dimensions == 0) {
      return Bad(node,
                 "calls over some dimensions only ('involved_dim') are not modeled; state "
                 "their groups ('pg_name')");
    }
    ASSIGN_OR_RETURN(out->bytes, BytesOf(node));
    out->kind = Kind::kCollective;
    switch (static_cast<ChakraCollective>(*type)) {
      case ChakraCollective::kAllReduce:
        out->collective = CollectiveType::kAllReduce;
        break;
      case ChakraCollective::kAllGather:
        out->collective = CollectiveType::kAllGather;
        break;
      case ChakraCollective::kReduceScatter:
        out->collective = CollectiveType::kReduceScatter;
        break;
      case ChakraCollective::kAllToAll:
        out->collective = CollectiveType::kAllToAll;
        break;
      case ChakraCollective::kBroadcast:  // ASTRA-sim takes the time that the trace states
        out->kind = Kind::kFixed;
        return ReadDuration(node, out);
      default:
        return Bad(node, fmt::format("ASTRA-sim has no collective of comm_type {}; it has "
                                     "all-reduce (0), all-gather (2), broadcast (5), all-to-all "
                                     "(6) and reduce-scatter (7)",
                                     *type));
    }
    if (const int64_t* priority = node.Integer("comm_priority")) {
      out->priority = static_cast<int>(std::clamp<int64_t>(*priority, 0, INT32_MAX));
    }
    if (out->bytes == 0) out->kind = Kind::kNothing;
    return ReadGroup(node, out);
  }

  Status ReadGroup(const ChakraNode& node, AstraNode* out) {
    const ChakraAttribute* name = node.Find("pg_name");
    if (name == nullptr) return OkStatus();
    const std::string text =
        name->kind == ChakraAttribute::Kind::kText ? name->text : fmt::format("{}", name->integer);
    if (text.empty() || text == "0") return OkStatus();
    const auto group = groups_.find(text);
    if (group == groups_.end()) {
      return Bad(node, fmt::format("there is no group '{}'; --groups names the JSON of ASTRA-sim's "
                                   "--comm-group-configuration",
                                   Printable(text)));
    }
    out->group = group->second;
    const std::vector<int>& members = members_[static_cast<size_t>(out->group)];
    if (std::find(members.begin(), members.end(), npu_) == members.end()) {
      return Bad(node, fmt::format("NPU {} is not a member of the group '{}' of --groups", npu_,
                                   Printable(text)));
    }
    return OkStatus();
  }

  Status ReadMessage(const ChakraNode& node, AstraNode* out) {
    const bool sends = node.type == static_cast<int>(ChakraKind::kSend);
    out->kind = sends ? Kind::kSend : Kind::kReceive;
    ASSIGN_OR_RETURN(out->bytes, BytesOf(node));
    const char* key = sends ? "comm_dst" : "comm_src";
    const int64_t* peer = node.Integer(key);
    if (peer == nullptr || *peer < 0 || *peer >= network_.npus() || *peer == npu_) {
      return Bad(node, fmt::format("'{}' is another NPU from 0 to {}", key, network_.npus() - 1));
    }
    out->peer = static_cast<int>(*peer);
    const int64_t* tag = node.Integer("comm_tag");
    if (tag != nullptr && (*tag < 0 || *tag > INT32_MAX)) {
      return Bad(node, "'comm_tag' is a number from 0 to 2^31 - 1");
    }
    out->tag = tag == nullptr ? 0 : static_cast<int>(*tag);
    return OkStatus();
  }

  const std::string path_;
  const int npu_;
  const DimensionNetwork& network_;
  const CollectiveSystem& system_;
  const std::map<std::string, int>& groups_;      // by name, an index of members_
  const std::vector<std::vector<int>>& members_;  // AstraWorkload::groups
  std::vector<AstraNode> nodes_;
  std::vector<std::vector<uint64_t>> deps_;
};

// {"1": [0, 1], "2": [2, 3]}. JSON is YAML.
Status ReadGroups(const std::string& path, int npus, std::map<std::string, int>* names,
                  AstraWorkload* workload) {
  ASSIGN_OR_RETURN(const YamlNode root, LoadYaml(path));
  if (root.kind != YamlNode::Kind::kMap) {
    return root.ErrorHere("expected groups, as in {\"1\": [0, 1]}");
  }
  for (const auto& [name, list] : root.entries) {
    std::vector<int> members;
    for (const YamlNode& item : list.items) {
      const Result<int64_t> member = AsInteger(item);
      const bool known =
          member.ok() && std::find(members.begin(), members.end(), *member) != members.end();
      if (!member.ok() || *member < 0 || *member >= npus || known) {
        return item.ErrorHere(
            fmt::format("a member of a group is an NPU from 0 to {}, once", npus - 1));
      }
      members.push_back(static_cast<int>(*member));
    }
    if (members.empty()) return name.ErrorHere("a group has members, as in {\"1\": [0, 1]}");
    (*names)[name.scalar] = static_cast<int>(workload->groups.size());
    workload->groups.push_back(std::move(members));
  }
  return OkStatus();
}

}  // namespace

Result<AstraWorkload> ReadAstraWorkload(const std::string& prefix, const std::string& groups,
                                        const DimensionNetwork& network,
                                        const CollectiveSystem& system) {
  AstraWorkload workload;
  workload.groups.resize(1);
  for (int npu = 0; npu < network.npus(); ++npu) workload.groups[0].push_back(npu);
  std::map<std::string, int> names;
  if (!groups.empty()) RETURN_IF_ERROR(ReadGroups(groups, network.npus(), &names, &workload));
  std::string first;
  workload.alike = true;
  size_t nodes = 0;
  for (int npu = 0; npu < network.npus(); ++npu) {
    const std::string path = fmt::format("{}.{}.et", prefix, npu);
    if (!FileExists(path)) {
      return Error(fmt::format("there is no such trace; the network has {} NPUs", network.npus()),
                   {path, 0, 0});
    }
    ASSIGN_OR_RETURN(std::string content, ReadFile(path));
    if (npu > 0 && workload.alike && content == first) continue;  // filled in below
    if (npu > 0 && workload.alike) {
      workload.alike = false;
      workload.of_npu.resize(static_cast<size_t>(npu), workload.of_npu[0]);
    }
    ASSIGN_OR_RETURN(std::vector<AstraNode> read,
                     TraceReader(path, npu, network, system, names, workload.groups).Read(content));
    for (const AstraNode& node : read) {
      const bool messages = node.kind == Kind::kSend || node.kind == Kind::kReceive;
      if (messages || node.group != 0) workload.alike = false;
    }
    nodes += read.size();
    if (nodes > kMostNodes) {
      return Error(fmt::format("the traces have more than {} nodes", kMostNodes), {path, 0, 0});
    }
    workload.of_npu.push_back(std::move(read));
    if (npu == 0) first = std::move(content);
  }
  return workload;
}

}  // namespace drydock
