// Functions that traces of classes (trace_file.h) and of ranks (rank_trace_file.h) share: ops as
// Chakra nodes, and the sequence of length-prefixed messages of a trace. Internal to core/schema.
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

// Larger nodes are errors. The limit bounds the memory to which a short packed list can expand.
inline constexpr uint32_t kMaxNodeBytes = 64 << 20;

chakra::AttributeProto* AddAttribute(const char* name, chakra::Node* node);

// Sets name, type and attributes. If `rank` >= 0, groups and peers are numbers of the whole run
// (group + 1, rank). If it is -1, they are roles (role + 1) and members of the rank's group.
void FillNode(const Workload& workload, const Op& op, int rank, chakra::Node* node);

// Returns false if the node's type, its "drydock.op" or its optional "drydock.host" has an invalid
// value.
bool ReadOp(const chakra::Node& node, Op* op);
bool InTables(const Workload& workload, const Op& op);

// Returns the trace of `program`: metadata, then a node for each op from FillNode, to which `add`
// may add attributes.
std::string Encode(const Workload& workload, const Program& program, int rank,
                   const std::function<void(const Op&, chakra::Node*)>& add);

class Reader {
 public:
  // REQUIRES: `content` outlives the reader and has at most INT32_MAX bytes.
  explicit Reader(const std::string& content)
      : content_(content),
        stream_(content.data(), static_cast<int>(content.size())),
        coded_(&stream_) {}
  bool AtEnd() { return Position() >= content_.size(); }
  size_t Position() { return static_cast<size_t>(coded_.CurrentPosition()); }
  // Returns false if the content is not a message; the reader is then at its end.
  bool Read(google::protobuf::MessageLite* message);

 private:
  const std::string& content_;
  google::protobuf::io::ArrayInputStream stream_;
  google::protobuf::io::CodedInputStream coded_;
};

}  // namespace drydock::trace_codec

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRACE_CODEC_H_
