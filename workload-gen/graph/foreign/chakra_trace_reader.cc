#include "workload-gen/graph/foreign/chakra_trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "workload-gen/graph/foreign/import_order.h"

namespace drydock {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 50;
constexpr size_t kCycleShown = 8;

bool SetCollective(int64_t type, ForeignOp* op) {
  static constexpr CollectiveType kTypes[] = {
      CollectiveType::kAllReduce, CollectiveType::kReduce,        CollectiveType::kAllGather,
      CollectiveType::kGather,    CollectiveType::kScatter,       CollectiveType::kBroadcast,
      CollectiveType::kAllToAll,  CollectiveType::kReduceScatter, CollectiveType::kReduceScatter,
      CollectiveType::kAllReduce};
  if (type < 0 || static_cast<size_t>(type) >= std::size(kTypes)) return false;
  op->collective = kTypes[type];
  return true;
}

}  // namespace

Status ChakraTraceReader::Read(const std::string& content) {
  const auto visit = [this](const ChakraNode& node) { return Add(node); };
  RETURN_IF_ERROR(path_.ends_with(".json") ? ForEachChakraJsonNode(content, path_, visit)
                                           : ForEachChakraNode(content, path_, visit));
  return Link();
}

Status ChakraTraceReader::Add(const ChakraNode& node) {
  if (ops_before_ + nodes_.size() >= kMaxForeignOps) {
    return Fail(node, fmt::format("there are more than {} nodes", kMaxForeignOps));
  }
  if (!by_id_.emplace(node.id, nodes_.size()).second) {
    return Fail(node, "another node has the same id");
  }
  nodes_.push_back({node.id, -1, node.deps});
  // What PyTorch called from where is no order: the converter of mlcommons has the order in the
  // data dependencies, and its feeder reads no others.
  if (node.Find("rf_id") != nullptr || node.Find("tid") != nullptr) {
    counts_->callers += node.ctrl_deps.size();
  } else {
    std::vector<uint64_t>& deps = nodes_.back().deps;
    deps.insert(deps.end(), node.ctrl_deps.begin(), node.ctrl_deps.end());
  }
  if (node.type <= 0 || static_cast<size_t>(node.type) >= ChakraKindNames().size()) {
    return Fail(node, fmt::format("its type {} is unknown", node.type));
  }
  const auto kind = static_cast<ChakraKind>(node.type);
  ForeignOp op;
  op.id = node.id;
  if (kind == ChakraKind::kMetadata) {
    RETURN_IF_ERROR(AddMetadataGroups(node.input_values, path_, rank_count_, groups_));
    if (nodes_.back().deps.empty()) return OkStatus();
    MakeNothing("metadata", &op);
  } else {
    RETURN_IF_ERROR(ReadOp(node, &op));
  }
  nodes_.back().op = static_cast<int64_t>(out_.ops.size());
  out_.ops.push_back(op);
  return OkStatus();
}

Status ChakraTraceReader::ReadOp(const ChakraNode& node, ForeignOp* op) {
  switch (static_cast<ChakraKind>(node.type)) {
    case ChakraKind::kCompute:
      return ReadCompute(node, op);
    case ChakraKind::kCollective:
      if (!IsHostCall(node)) return ReadCollective(node, op);
      ++counts_->host_calls;
      return ReadCompute(node, op);
    case ChakraKind::kMemoryLoad:
    case ChakraKind::kMemoryStore:
      return ReadTransfer(node, op);
    default:
      return ReadMessage(node, op);
  }
}

Error ChakraTraceReader::Fail(const ChakraNode& node, const std::string& what) const {
  return Error(fmt::format("node {} ('{}'): {}", node.id, PrintableName(node.name), what),
               {path_, 0, 0});
}

Status ChakraTraceReader::ReadCompute(const ChakraNode& node, ForeignOp* op) {
  const std::string name = node.name.empty() ? "compute" : PrintableName(node.name);
  const int64_t* on_host = node.Integer("is_cpu_op");
  op->lane = on_host != nullptr && *on_host != 0 ? 1 : 0;
  const int64_t* ps = node.Integer("duration_ps");
  if (ps != nullptr || node.duration_us > 0) {
    const auto longest = static_cast<uint64_t>(submodule::kLongestFixedDuration.ps()) / 1'000'000;
    if (ps != nullptr ? *ps < 0 || *ps > submodule::kLongestFixedDuration.ps()
                      : node.duration_us > longest) {
      return Fail(node, "its duration is not between 0 and an hour");
    }
    const auto us = static_cast<int64_t>(node.duration_us);
    op->block = tables_->FixedDuration(name, ps != nullptr ? Time::Ps(*ps) : Time::Us(us));
    return OkStatus();
  }
  return ReadCounts(node, name, op);
}

Status ChakraTraceReader::ReadCounts(const ChakraNode& node, const std::string& name,
                                     ForeignOp* op) {
  const int64_t* bytes = node.Integer("tensor_size");
  const ChakraAttribute* ops = node.Find("num_ops");
  double flops = 0;
  if (ops != nullptr) {
    flops =
        ops->kind == ChakraAttribute::Kind::kReal ? ops->real : static_cast<double>(ops->integer);
  }
  if (!(flops >= 0 && flops < 1e30)) return Fail(node, "its num_ops is not between 0 and 1e30");
  if (bytes != nullptr && (*bytes < 0 || *bytes > kMaxBytes)) {
    return Fail(node, fmt::format("its tensor_size of {} bytes is not between 0 and 2^50", *bytes));
  }
  if (flops == 0 && (bytes == nullptr || *bytes == 0)) {
    ++counts_->empty;
    op->block = tables_->FixedDuration(name, Time());
    return OkStatus();
  }
  ++counts_->counted;
  op->block =
      tables_->FlopsAndBytes(name, flops, Bytes(bytes == nullptr ? 0 : *bytes), options_.type);
  return OkStatus();
}

Status ChakraTraceReader::ReadTransfer(const ChakraNode& node, ForeignOp* op) {
  const std::string& kind = ChakraKindNames()[static_cast<size_t>(node.type)];
  const int64_t* bytes = node.Integer("tensor_size");
  if (bytes == nullptr) return Fail(node, fmt::format("a {} needs a tensor_size", kind));
  if (*bytes < 0 || *bytes > kLargestTransfer.count()) {
    return Fail(node, fmt::format("its tensor_size of {} bytes is not between 0 and 2^50", *bytes));
  }
  const bool loads = static_cast<ChakraKind>(node.type) == ChakraKind::kMemoryLoad;
  ++counts_->memory_ops;
  op->kind = loads ? OpKind::kLoad : OpKind::kStore;
  const std::string name = node.name.empty() ? "data" : PrintableName(node.name);
  op->block = tables_->Transfer({name, options_.tier, Bytes(*bytes)});
  return OkStatus();
}

Status ChakraTraceReader::ReadSize(const ChakraNode& node, ForeignOp* op) {
  const int64_t* size = node.Integer("comm_size");
  if (size == nullptr) {
    return Fail(node, fmt::format("a {} needs a comm_size: the bytes that it moves",
                                  ChakraKindNames()[static_cast<size_t>(node.type)]));
  }
  if (*size < 0 || *size > kMaxBytes) {
    return Fail(node, fmt::format("its comm_size of {} is not between 0 and 2^50", *size));
  }
  op->bytes = *size;
  if (node.duration_us > 0) ++counts_->timed_calls;
  return OkStatus();
}

bool ChakraTraceReader::IsHostCall(const ChakraNode& node) {
  const int64_t* on_host = node.Integer("is_cpu_op");
  return on_host != nullptr && *on_host != 0 && node.Find("comm_type") == nullptr;
}

Result<int64_t> ChakraTraceReader::CollectiveType(const ChakraNode& node) const {
  if (const int64_t* type = node.Integer("comm_type")) return *type;
  // NCCL's kernels have the name of the collective: ncclDevKernel_AllReduce_Sum_f32_RING_LL(...).
  static constexpr std::pair<std::string_view, ChakraCollective> kKernels[] = {
      {"_AllReduce_", ChakraCollective::kAllReduce},
      {"_AllGather_", ChakraCollective::kAllGather},
      {"_ReduceScatter_", ChakraCollective::kReduceScatter},
      {"_Broadcast_", ChakraCollective::kBroadcast},
      {"_Reduce_", ChakraCollective::kReduce},
      {"_SendRecv", ChakraCollective::kAllToAll}};
  if (node.name.starts_with("nccl")) {
    for (const auto& [part, type] : kKernels) {
      if (node.name.find(part) != node.name.npos) return static_cast<int64_t>(type);
    }
  }
  return Fail(node, "a COMM_COLL_NODE needs a comm_type");
}

Status ChakraTraceReader::ReadCollective(const ChakraNode& node, ForeignOp* op) {
  ASSIGN_OR_RETURN(const int64_t type, CollectiveType(node));
  if (!SetCollective(type, op)) {
    return Fail(node, fmt::format("its comm_type {} is unknown", type));
  }
  op->kind = OpKind::kCollective;
  if (const int64_t* root = node.Integer("root")) {
    if (*root < 0 || *root >= rank_count_) {
      return Fail(node, fmt::format("its root is {}, but there are {} ranks", *root, rank_count_));
    }
    op->root = static_cast<int32_t>(*root);
  }
  if (static_cast<ChakraCollective>(type) == ChakraCollective::kBarrier) {
    ++counts_->barriers;
    op->bytes = 4;  // an all-reduce of one number, as PyTorch's barrier over NCCL is
  } else {
    RETURN_IF_ERROR(ReadSize(node, op));
  }
  AddGroupName(node);
  return OkStatus();
}

void ChakraTraceReader::AddGroupName(const ChakraNode& node) {
  std::string group;
  if (const ChakraAttribute* name = node.Find("pg_name")) {
    group =
        name->kind == ChakraAttribute::Kind::kText ? name->text : fmt::format("{}", name->integer);
  }
  group_names_.emplace_back(static_cast<uint32_t>(out_.ops.size()), group == "0" ? "" : group);
}

Status ChakraTraceReader::ReadMessage(const ChakraNode& node, ForeignOp* op) {
  const bool sends = static_cast<ChakraKind>(node.type) == ChakraKind::kSend;
  const char* key = sends ? "comm_dst" : "comm_src";
  const int64_t* peer = node.Integer(key);
  const std::string& kind = ChakraKindNames()[static_cast<size_t>(node.type)];
  if (peer == nullptr && node.Find("pg_name") == nullptr) {
    return Fail(node, fmt::format("a {} needs a {}: the other rank", kind, key));
  }
  if (peer == nullptr) {  // mlcommons' converter: ResolveGroups finds the other rank of a pair
    AddGroupName(node);
  } else if (*peer < 0 || *peer >= rank_count_) {
    return Fail(node, fmt::format("its {} is {}, but there are {} ranks", key, *peer, rank_count_));
  }
  if (peer != nullptr && *peer == rank_) {
    return Fail(node, fmt::format("its {} is its own rank", key));
  }
  RETURN_IF_ERROR(ReadSize(node, op));
  const int64_t* tag = node.Integer("comm_tag");
  if (tag != nullptr && (*tag < INT32_MIN || *tag > INT32_MAX)) {
    return Fail(node, fmt::format("its comm_tag {} has more than 32 bits", *tag));
  }
  op->kind = sends ? OpKind::kSend : OpKind::kRecv;
  op->peer = peer == nullptr ? -1 : static_cast<int32_t>(*peer);
  op->tag = tag == nullptr ? 0 : static_cast<int32_t>(*tag);
  if (op->bytes == 0) MakeNothing("empty message", op);
  return OkStatus();
}

void ChakraTraceReader::MakeNothing(const char* name, ForeignOp* op) {
  ++counts_->empty;
  op->kind = OpKind::kCompute;
  op->lane = 1;
  op->block = tables_->FixedDuration(name, Time());
}

Status ChakraTraceReader::Link() {
  for (const NodeEntry& node : nodes_) {
    if (node.op < 0) continue;
    const size_t begin = out_.dependency.size();
    for (const uint64_t dependency : node.deps) {
      const auto found = by_id_.find(dependency);
      if (found == by_id_.end()) {
        return Error(
            fmt::format("node {} waits for node {}, which does not exist", node.id, dependency),
            {path_, 0, 0});
      }
      const int64_t op = nodes_[found->second].op;
      if (op >= 0) out_.dependency.push_back(static_cast<uint32_t>(op));
    }
    const auto from = out_.dependency.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(from, out_.dependency.end());
    out_.dependency.erase(std::unique(from, out_.dependency.end()), out_.dependency.end());
    out_.dependency_begin.push_back(static_cast<uint32_t>(out_.dependency.size()));
  }
  return CheckNoCycle();
}

Status ChakraTraceReader::CheckNoCycle() const {
  const std::vector<uint32_t> cycle = FindCycle(out_);
  if (cycle.empty()) return OkStatus();
  std::string text;
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (i == kCycleShown) {
      text += fmt::format(", ... ({} in all)", cycle.size());
      break;
    }
    text += fmt::format("{}{}", i == 0 ? "" : ", ", out_.ops[cycle[i]].id);
  }
  return Error("its nodes wait for each other in a cycle: " + text, {path_, 0, 0});
}

}  // namespace drydock
