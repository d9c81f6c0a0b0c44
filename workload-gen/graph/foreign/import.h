// Imports workloads of other tools (docs/how-to/work-with-traces.md). The reader of a format fills
// a ForeignJob: the ops of each rank and their dependencies, without streams, roles or an issue
// order. AssembleWorkload adds these:
//
//   order     The job is replayed once. Compute takes its stated time and communication takes none.
//             Of the ready ops, a rank's GPU starts the one with the smallest id. Each program
//             lists its ops in the order in which they start, so the added order cannot cause a
//             deadlock.
//   roles     Collectives: by size and stride of the group ("8x1" is eight consecutive ranks).
//             Messages: by the distance of the peer ("p2p+8").
//   streams   One for compute, one for the host and for each further processor, one for loads and
//             one for stores. Each role has one stream for collectives or two for messages.
//   classes   Ranks with equal programs form one class.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// The limit for all ranks together. An op takes about 100 bytes during the replay.
inline constexpr size_t kMaxForeignOps = 50'000'000;

struct ForeignOp {
  OpKind kind = OpKind::kCompute;
  int32_t lane = 0;  // compute: the processor that runs it: 0 the GPU, 1 the host, 2... others
  Phase phase = Phase::kOther;
  CollectiveType collective = CollectiveType::kAllReduce;
  uint64_t id = 0;     // of two ready ops the smaller id starts first
  uint32_t block = 0;  // compute, loads and stores: ImportTables
  int32_t group = -1;  // collective: ForeignJob::groups
  int32_t peer = -1;   // message: the other rank
  int32_t tag = 0;
  int32_t root = 0;   // member
  int64_t bytes = 0;  // with the meaning of CommCall::count
};

// Dependencies are op indices in CSR form.
struct ForeignRank {
  std::vector<ForeignOp> ops;
  std::vector<uint32_t> dependency_begin = {0};
  std::vector<uint32_t> dependency;
};

// Distinct submodules, blocks and calls, numbered by first use.
class ImportTables {
 public:
  // Each returns a block of one submodule. REQUIRES: duration <= kLongestFixedDuration.
  uint32_t FixedDuration(const std::string& name, Time duration);
  uint32_t FlopsAndBytes(const std::string& name, double flops, Bytes bytes, DataType type);
  uint32_t Call(const CommCall& call);
  uint32_t Transfer(const MemoryTransfer& transfer);

  const Submodule& OfBlock(uint32_t block) const { return submodules_[block]; }
  // Ends the table's use.
  void MoveTo(Workload* workload);

 private:
  uint32_t Intern(Submodule submodule);
  std::map<std::string, uint32_t> known_;
  std::map<std::string, uint32_t> known_calls_;
  std::vector<Submodule> submodules_;
  std::vector<CommCall> calls_;
  std::map<std::pair<std::string, int64_t>, uint32_t> known_transfers_;  // of one tier
  std::vector<MemoryTransfer> transfers_;
};

struct ForeignJob {
  std::string name;
  std::string format;
  std::vector<Group> groups;
  std::vector<ForeignRank> ranks;
  ImportTables tables;
};

struct ForeignOptions {
  DataType type = DataType::kBf16;      // of communication where the file states bytes only
  MemoryTier tier = MemoryTier::kHost;  // of loads and stores
};

struct Imported {
  Workload workload;
  std::vector<std::string> warnings;
};

// Builds the workload of a job. Returns an error if there are more ranks than GPUs, or more roles
// or streams than an op can name. Rank i runs on GPU i; a warning counts the idle GPUs.
Result<Imported> AssembleWorkload(ForeignJob job, const Topology& topology,
                                  const ForeignOptions& options);

// Completes a workload whose reader knows the roles: checks that the ranks fit on the cluster, adds
// ranks without ops for the other GPUs, and fills in uses and totals.
Status FinishImport(const std::string& name, const std::string& format, const Topology& topology,
                    const ForeignOptions& options, Imported* imported);

// Returns a call of `bytes` (with the meaning of CommCall::count) in elements of options.type, or
// in bytes if `bytes` does not give each member whole elements. Increments *rounded if the buffer
// grows to be divisible.
CommCall CallOfBytes(CollectiveType collective, int64_t bytes, int root, int members,
                     const ForeignOptions& options, size_t* rounded);

// Returns a name of a foreign file for messages, without unprintable characters.
std::string PrintableName(const std::string& name);

struct ImportInput {
  std::string place;   // a file, or a folder of traces
  std::string groups;  // Chakra: a file of groups; if empty, PREFIX.json, if it exists
};
struct ForeignFormat {
  std::string name;
  std::string summary;
  Result<Imported> (*read)(const ImportInput& input, const Topology& topology,
                           const ForeignOptions& options);
};
const std::vector<ForeignFormat>& ForeignFormats();
Result<const ForeignFormat*> FindForeignFormat(const std::string& name);

Result<Imported> ImportChakra(const ImportInput& input, const Topology& topology,
                              const ForeignOptions& options);
Result<Imported> ImportSimai(const ImportInput& input, const Topology& topology,
                             const ForeignOptions& options);
Result<Imported> ImportAicb(const ImportInput& input, const Topology& topology,
                            const ForeignOptions& options);
Result<Imported> ImportGoal(const ImportInput& input, const Topology& topology,
                            const ForeignOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_H_
