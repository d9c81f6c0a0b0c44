// Reads one rank's Chakra trace into ops of a foreign job. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_CHAKRA_TRACE_READER_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_CHAKRA_TRACE_READER_H_

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/schema/foreign/chakra_file.h"
#include "workload-gen/graph/foreign/group_file.h"
#include "workload-gen/graph/foreign/import.h"

namespace drydock {

// Counts over all ranks, for the warnings of the import.
struct ChakraCounts {
  size_t empty = 0;  // ops without time, operations and bytes
  size_t barriers = 0;
  size_t timed_calls = 0;  // communication with a duration
  size_t counted = 0;      // compute without one
  size_t memory_ops = 0;
  size_t host_calls = 0;  // communication nodes of the host's side, without communication
  size_t callers = 0;     // control dependencies that state callers
};

// Reads one trace. Adds the groups of its metadata to *groups and its compute to the job's tables.
// The groups of its collectives stay unresolved (group_names), because another trace may define
// them.
class ChakraTraceReader {
 public:
  // REQUIRES: all arguments outlive the reader. `ops_before` is the number of ops read so far.
  ChakraTraceReader(const std::string& path, int rank, int rank_count, size_t ops_before,
                    const ForeignOptions& options, NamedGroups* groups, ImportTables* tables,
                    ChakraCounts* counts)
      : path_(path),
        rank_(rank),
        rank_count_(rank_count),
        ops_before_(ops_before),
        options_(options),
        groups_(groups),
        tables_(tables),
        counts_(counts) {}

  Status Read(const std::string& content);

  // Pairs of an op and its pg_name: collectives, and messages without a peer (-1). "" is the group
  // of all ranks.
  const std::vector<std::pair<uint32_t, std::string>>& group_names() const { return group_names_; }
  ForeignRank TakeRank() { return std::move(out_); }

 private:
  struct NodeEntry {
    uint64_t id = 0;
    int64_t op = -1;  // index; -1 if no op has to wait for the node
    std::vector<uint64_t> deps;
  };

  Error Fail(const ChakraNode& node, const std::string& what) const;
  Status Add(const ChakraNode& node);
  Status ReadOp(const ChakraNode& node, ForeignOp* op);
  Status ReadCompute(const ChakraNode& node, ForeignOp* op);
  Status ReadCounts(const ChakraNode& node, const std::string& name, ForeignOp* op);
  Status ReadSize(const ChakraNode& node, ForeignOp* op);
  Status ReadCollective(const ChakraNode& node, ForeignOp* op);
  Status ReadMessage(const ChakraNode& node, ForeignOp* op);
  // mlcommons' converter gives the host's call of a collective the type of the collective, too. The
  // kernel has the size.
  static bool IsHostCall(const ChakraNode& node);
  Result<int64_t> CollectiveType(const ChakraNode& node) const;
  Status ReadTransfer(const ChakraNode& node, ForeignOp* op);
  void AddGroupName(const ChakraNode& node);  // of the op that comes next
  void MakeNothing(const char* name, ForeignOp* op);
  // Replaces the ids of dependencies by indices.
  Status Link();
  Status CheckNoCycle() const;

  const std::string& path_;
  const int rank_, rank_count_;
  const size_t ops_before_;
  const ForeignOptions& options_;
  NamedGroups* groups_;
  ImportTables* tables_;
  ChakraCounts* counts_;
  std::vector<NodeEntry> nodes_;
  std::unordered_map<uint64_t, size_t> by_id_;
  std::vector<std::pair<uint32_t, std::string>> group_names_;
  ForeignRank out_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_CHAKRA_TRACE_READER_H_
