// Chakra execution traces of other tools (docs/how-to/work-with-traces.md): the nodes in the order
// of the file, with the fields that Drydock uses. The reader makes no assumption about
// order, ids or attributes, as the file may be hostile. Not thread-safe.
#ifndef DRYDOCK_CORE_SCHEMA_FOREIGN_CHAKRA_FILE_H_
#define DRYDOCK_CORE_SCHEMA_FOREIGN_CHAKRA_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

enum class ChakraKind : uint8_t {
  kInvalid,
  kMetadata,
  kMemoryLoad,
  kMemoryStore,
  kCompute,
  kSend,
  kReceive,
  kCollective
};
// Chakra's own names: "COMM_COLL_NODE".
const std::vector<std::string>& ChakraKindNames();

// The values are Chakra's.
enum class ChakraCollective : int64_t {
  kAllReduce,
  kReduce,
  kAllGather,
  kGather,
  kScatter,
  kBroadcast,
  kAllToAll,
  kReduceScatter,
  kReduceScatterBlock,
  kBarrier
};

struct ChakraAttribute {
  enum class Kind : uint8_t { kOther, kInteger, kReal, kText };
  std::string name;
  Kind kind = Kind::kOther;
  // Any integer or boolean, or whether all of a list of booleans are true; beyond 64 signed bits:
  // INT64_MAX.
  int64_t integer = 0;
  double real = 0;
  std::string text;
};

struct ChakraNode {
  uint64_t id = 0;
  std::string name;
  int type = 0;                // a ChakraKind, if it is in range
  std::vector<uint64_t> deps;  // data
  std::vector<uint64_t> ctrl_deps;
  uint64_t duration_us = 0;
  std::string input_values;
  std::vector<ChakraAttribute> attributes;

  const ChakraAttribute* Find(std::string_view name) const;
  // Returns the integer attribute of this name; null if there is none.
  const int64_t* Integer(std::string_view name) const;
};

// Calls `visit` with each node; an error of `visit` ends the reading. Other errors state the number
// of the unreadable node, from 0.
Status ForEachChakraNode(const std::string& content, const std::string& path,
                         const std::function<Status(const ChakraNode&)>& visit);

// Returns a text attribute of the trace itself, which its first message states; "" if there is
// none.
Result<std::string> ChakraTraceText(const std::string& content, const std::string& path,
                                    std::string_view name);

// The same as ForEachChakraNode for a trace in JSON, as the jsonizer and the feeder of mlcommons'
// Chakra have it.
Status ForEachChakraJsonNode(const std::string& content, const std::string& path,
                             const std::function<Status(const ChakraNode&)>& visit);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FOREIGN_CHAKRA_FILE_H_
