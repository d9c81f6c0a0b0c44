#include "core/schema/artefacts/trace_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/base/check.h"
#include "core/base/installation.h"
#include "core/schema/artefacts/trace_file.h"

namespace drydock::trace_codec {
namespace {

constexpr const char* kOpAttribute = "drydock.op";
// The host's wait and the part in a CUDA graph, for ops that have one of them.
constexpr const char* kHostAttribute = "drydock.host";
// The values of "drydock.op", in order.
enum OpField { kWork, kRole, kPhase, kStream, kTag, kLayer, kMicrobatch, kChunk, kOpFieldCount };

chakra::CollectiveCommType ChakraType(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return chakra::ALL_REDUCE;
    case CollectiveType::kAllGather:
      return chakra::ALL_GATHER;
    case CollectiveType::kReduceScatter:
      return chakra::REDUCE_SCATTER;
    case CollectiveType::kBroadcast:
      return chakra::BROADCAST;
    case CollectiveType::kReduce:
      return chakra::REDUCE;
    case CollectiveType::kAllToAll:
    case CollectiveType::kAllToAllV:
      return chakra::ALL_TO_ALL;
    case CollectiveType::kGather:
      return chakra::GATHER;
    case CollectiveType::kScatter:
      return chakra::SCATTER;
    case CollectiveType::kSendRecv:
    case CollectiveType::kGrouped:
      break;
  }
  CHECK(false);
}

// Chakra has no grouped calls. A grouped call is written with the type of its largest part, and a
// group of messages as an all-to-all.
chakra::CollectiveCommType ChakraType(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) return ChakraType(call.collective);
  const auto largest =
      std::max_element(call.parts.begin(), call.parts.end(),
                       [](const CommCall& a, const CommCall& b) { return a.bytes() < b.bytes(); });
  return largest->collective == CollectiveType::kSendRecv ? chakra::ALL_TO_ALL
                                                          : ChakraType(largest->collective);
}

chakra::NodeType ChakraType(OpKind kind) {
  switch (kind) {
    case OpKind::kCompute:
    case OpKind::kHostWork:
      return chakra::COMP_NODE;
    case OpKind::kCollective:
      return chakra::COMM_COLL_NODE;
    case OpKind::kSend:
      return chakra::COMM_SEND_NODE;
    case OpKind::kRecv:
      return chakra::COMM_RECV_NODE;
    case OpKind::kLoad:
      return chakra::MEM_LOAD_NODE;
    case OpKind::kStore:
      return chakra::MEM_STORE_NODE;
  }
  CHECK(false);
}

// The size of an all-gather is one rank's shard in Chakra and the gathered output in Drydock.
int64_t ChakraSize(const CommCall& call) {
  const int64_t bytes = call.bytes().count();
  return call.collective == CollectiveType::kAllGather ? bytes / call.group_size : bytes;
}

void AddCompute(const Workload& workload, const Op& op, chakra::Node* node) {
  double flops = 0;
  Bytes bytes;
  for (const uint32_t index : workload.blocks[op.work].submodules) {
    flops += workload.submodules[index].flops;
    bytes += workload.submodules[index].bytes;
  }
  AddAttribute("num_ops", node)->set_int64_val(static_cast<int64_t>(std::min(flops, 9.0e18)));
  AddAttribute("tensor_size", node)->set_uint64_val(static_cast<uint64_t>(bytes.count()));
}

void AddTransfer(const Workload& workload, const Op& op, chakra::Node* node) {
  if (op.kind == OpKind::kHostWork) AddAttribute("num_ops", node)->set_int64_val(0);
  const Bytes bytes = workload.transfers[op.work].bytes;
  AddAttribute("tensor_size", node)->set_uint64_val(static_cast<uint64_t>(bytes.count()));
}

void AddCommunication(const Workload& workload, const Op& op, int rank, chakra::Node* node) {
  const CommCall& call = workload.calls[op.work];
  const int group = rank < 0 ? op.role : workload.group_of_rank[op.role][static_cast<size_t>(rank)];
  AddAttribute("comm_size", node)->set_int64_val(ChakraSize(call));
  AddAttribute("pg_name", node)->set_string_val(fmt::format("{}", group + 1));
  if (op.kind == OpKind::kCollective) {
    AddAttribute("comm_type", node)->set_int64_val(ChakraType(call));
    return;
  }
  const bool sends = op.kind == OpKind::kSend;
  const int member = sends ? call.peer : call.root;
  const int peer =
      rank < 0 ? member
               : workload.groups[static_cast<size_t>(group)].ranks[static_cast<size_t>(member)];
  AddAttribute(sends ? "comm_dst" : "comm_src", node)->set_int32_val(peer);
  AddAttribute("comm_tag", node)->set_int32_val(op.tag);
}

// Returns false if the attribute exists with an invalid value.
bool ReadHostAttribute(const chakra::Node& node, Op* op) {
  for (const chakra::AttributeProto& attribute : node.attr()) {
    if (attribute.name() != kHostAttribute) continue;
    const auto& values = attribute.int64_list().values();
    if (values.size() != 2 || values[0] < 0 ||
        values[0] > static_cast<int64_t>(HostWait::kDeviceSync) || values[1] < 0 ||
        values[1] > static_cast<int64_t>(GraphPart::kLoop)) {
      return false;
    }
    op->host_waits = static_cast<HostWait>(values[0]);
    op->graph = static_cast<GraphPart>(values[1]);
  }
  return true;
}

bool IsOnHost(const chakra::Node& node) {
  const auto& all = node.attr();
  return std::any_of(all.begin(), all.end(), [](const chakra::AttributeProto& attribute) {
    return attribute.name() == "is_cpu_op" && attribute.bool_val();
  });
}

// Returns false if no op has this type.
bool ReadKind(const chakra::Node& node, OpKind* kind) {
  switch (node.type()) {
    case chakra::COMP_NODE:
      *kind = IsOnHost(node) ? OpKind::kHostWork : OpKind::kCompute;
      return true;
    case chakra::COMM_COLL_NODE:
      *kind = OpKind::kCollective;
      return true;
    case chakra::COMM_SEND_NODE:
      *kind = OpKind::kSend;
      return true;
    case chakra::COMM_RECV_NODE:
      *kind = OpKind::kRecv;
      return true;
    case chakra::MEM_LOAD_NODE:
      *kind = OpKind::kLoad;
      return true;
    case chakra::MEM_STORE_NODE:
      *kind = OpKind::kStore;
      return true;
    default:
      return false;
  }
}

}  // namespace

chakra::AttributeProto* AddAttribute(const char* name, chakra::Node* node) {
  chakra::AttributeProto* attribute = node->add_attr();
  attribute->set_name(name);
  return attribute;
}

void FillNode(const Workload& workload, const Op& op, int rank, chakra::Node* node) {
  node->set_name(OpName(workload, op));
  node->set_type(ChakraType(op.kind));
  AddAttribute("is_cpu_op", node)->set_bool_val(op.kind == OpKind::kHostWork);
  if (op.kind == OpKind::kCompute)
    AddCompute(workload, op, node);
  else if (UsesMemory(op.kind))
    AddTransfer(workload, op, node);
  else
    AddCommunication(workload, op, rank, node);
  chakra::Int64List* own = AddAttribute(kOpAttribute, node)->mutable_int64_list();
  const int64_t values[kOpFieldCount] = {op.work,       op.role, static_cast<int64_t>(op.phase),
                                         op.stream,     op.tag,  op.layer,
                                         op.microbatch, op.chunk};
  own->mutable_values()->Add(std::begin(values), std::end(values));
  if (op.host_waits == HostWait::kNothing && op.graph == GraphPart::kNone) return;
  chakra::Int64List* host = AddAttribute(kHostAttribute, node)->mutable_int64_list();
  host->add_values(static_cast<int64_t>(op.host_waits));
  host->add_values(static_cast<int64_t>(op.graph));
}

bool ReadOp(const chakra::Node& node, Op* op) {
  if (!ReadHostAttribute(node, op) || !ReadKind(node, &op->kind)) return false;
  for (const chakra::AttributeProto& attribute : node.attr()) {
    if (attribute.name() != kOpAttribute) continue;
    const auto& values = attribute.int64_list().values();
    if (values.size() != kOpFieldCount) return false;
    const auto narrow = [&values](OpField field, auto* out) {
      *out = static_cast<std::remove_pointer_t<decltype(out)>>(values[field]);
      return static_cast<int64_t>(*out) == values[field];
    };
    return narrow(kWork, &op->work) && narrow(kRole, &op->role) && narrow(kPhase, &op->phase) &&
           narrow(kStream, &op->stream) && narrow(kTag, &op->tag) && narrow(kLayer, &op->layer) &&
           narrow(kMicrobatch, &op->microbatch) && narrow(kChunk, &op->chunk);
  }
  return false;
}

bool InTables(const Workload& workload, const Op& op) {
  const size_t works = op.kind == OpKind::kCompute ? workload.blocks.size()
                       : UsesMemory(op.kind)       ? workload.transfers.size()
                                                   : workload.calls.size();
  if (op.work >= works || op.stream >= workload.streams.size() ||
      static_cast<size_t>(op.phase) >= PhaseNames().size()) {
    return false;
  }
  if (op.kind == OpKind::kHostWork) {
    return workload.transfers[op.work].tier == MemoryTier::kHost;
  }
  if (!IsCommunication(op.kind)) return true;
  const bool to_one = workload.calls[op.work].collective == CollectiveType::kSendRecv;
  return op.role < workload.roles.size() && to_one == (op.kind != OpKind::kCollective);
}

namespace {

// Fills in the ids and dependencies of a program's nodes. REQUIRES: Fill is called in op order.
class DependencyWriter {
 public:
  DependencyWriter(const Workload& workload, const Program& program)
      : program_(program), last_on_stream_(workload.streams.size(), -1) {}

  void Fill(size_t op, chakra::Node* node) {
    node->set_id(op);
    const auto dependencies = program_.dependencies(op);
    for (const uint32_t dependency : dependencies) node->add_data_deps(dependency);
    int64_t& before = last_on_stream_[program_.ops[op].stream];
    if (before >= 0 &&
        std::find(dependencies.begin(), dependencies.end(), before) == dependencies.end()) {
      node->add_ctrl_deps(static_cast<uint64_t>(before));
    }
    before = static_cast<int64_t>(op);
  }

 private:
  const Program& program_;
  std::vector<int64_t> last_on_stream_;
};

class Writer {
 public:
  explicit Writer(std::string* out) : stream_(out), coded_(&stream_) {}

  void Write(const google::protobuf::MessageLite& message) {
    coded_.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
    message.SerializeWithCachedSizes(&coded_);
  }

 private:
  google::protobuf::io::StringOutputStream stream_;
  google::protobuf::io::CodedOutputStream coded_;
};

}  // namespace

std::string Encode(const Workload& workload, const Program& program, int rank,
                   const std::function<void(const Op&, chakra::Node*)>& add) {
  std::string out;
  {  // the destructor of the writer completes the trace
    Writer writer(&out);
    chakra::GlobalMetadata metadata;
    metadata.set_version(kChakraSchema);
    writer.Write(metadata);
    DependencyWriter dependencies(workload, program);
    chakra::Node node;
    for (size_t i = 0; i < program.ops.size(); ++i) {
      node.Clear();
      FillNode(workload, program.ops[i], rank, &node);
      add(program.ops[i], &node);
      dependencies.Fill(i, &node);
      writer.Write(node);
    }
  }
  return out;
}

bool Reader::Read(google::protobuf::MessageLite* message) {
  uint32_t size = 0;
  if (!coded_.ReadVarint32(&size)) return false;
  if (size > kMaxNodeBytes || size > content_.size() - Position()) return false;
  const auto limit = coded_.PushLimit(static_cast<int>(size));
  message->Clear();
  const bool ok = message->MergeFromCodedStream(&coded_) && coded_.ConsumedEntireMessage();
  coded_.PopLimit(limit);
  return ok;
}

}  // namespace drydock::trace_codec
