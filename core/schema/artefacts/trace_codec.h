// What traces of classes (trace_file.h) and of single ranks (rank_trace_file.h) share: how an op
// becomes a Chakra node and back, and the chain of length-prefixed messages that a trace is.
// Internal to core/schema.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_CODEC_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "core/schema/artefacts/chakra.pb.h"

namespace drydock::trace_codec {

namespace chakra = ChakraProtoMsg;

// Larger nodes are refused: what a few bytes of a packed list unfold to stays bounded.
inline constexpr uint32_t kMostNodeBytes = 64 << 20;

chakra::AttributeProto* AddAttribute(const char* name, chakra::Node* node);

// Name, type and attributes. `rank` >= 0: groups and peers are those of that rank, as numbers that
// hold in the whole run (group + 1, rank); -1: roles (role + 1) and members of the rank's group.
void FillNode(const Workload& workload, const Op& op, int rank, chakra::Node* node);

// False if the node's type or "drydock.op" is none, or "drydock.host", which may be absent, says
// what it cannot.
bool ReadOp(const chakra::Node& node, Op* op);
bool InTables(const Workload& workload, const Op& op);

// The trace of `program`: metadata, then a node of each op, filled as above; `add` puts in what
// else the op has.
std::string Encode(const Workload& workload, const Program& program, int rank,
                   const std::function<void(const Op&, chakra::Node*)>& add);

class Reader {
 public:
  // `content` outlives the reader and is at most INT32_MAX long.
  explicit Reader(const std::string& content)
      : content_(content),
        stream_(content.data(), static_cast<int>(content.size())),
        coded_(&stream_) {}
  bool AtEnd() { return Position() >= content_.size(); }
  size_t Position() { return static_cast<size_t>(coded_.CurrentPosition()); }
  // False if the content is no such message; the reader is of no use then.
  bool Read(google::protobuf::MessageLite* message);

 private:
  const std::string& content_;
  google::protobuf::io::ArrayInputStream stream_;
  google::protobuf::io::CodedInputStream coded_;
};

}  // namespace drydock::trace_codec

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_CODEC_H_
