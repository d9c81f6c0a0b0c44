// Workloads that other tools wrote (docs/how-to/work-with-traces.md), as ours. A format's reader
// fills a ForeignJob: what each rank does and what waits for what, without streams, roles or an
// order of issue. AssembleWorkload finds those:
//
//   order     the job is played once, compute in the time it states and communication in none: of
//             what is ready, a rank's GPU takes the op with the smallest id. Ops stand in the order
//             in which they started, so no order that we add can make a rank wait for ever.
//   roles     collectives: by size and stride of the group ("8x1" is eight ranks side by side);
//             messages: by the distance of the peer ("p2p+8")
//   streams   one for compute, one for the host and whatever else computes beside the GPU, one for
//             loads and one for stores, one a role for collectives, two a role for messages
//   classes   ranks whose programs are equal
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

// Of all ranks together; an op takes about 100 bytes while the job is played.
inline constexpr size_t kMostForeignOps = 50'000'000;

struct ForeignOp {
  OpKind kind = OpKind::kCompute;
  int32_t lane = 0;  // compute: what is busy with it: 0 the GPU, 1 the host, 2 and on more beside
  Phase phase = Phase::kOther;
  CollectiveType collective = CollectiveType::kAllReduce;
  uint64_t id = 0;     // the smaller goes first
  uint32_t block = 0;  // compute, loads and stores: ImportTables
  int32_t group = -1;  // collective: ForeignJob::groups
  int32_t peer = -1;   // message: the other rank
  int32_t tag = 0;
  int32_t root = 0;   // member
  int64_t bytes = 0;  // as CommCall::count has it
};

// Dependencies are indices of ops, in CSR.
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
  DataType type = DataType::kBf16;      // of what is communicated, where the file counts bytes only
  MemoryTier tier = MemoryTier::kHost;  // that loads and stores go to
};

struct Imported {
  Workload workload;
  std::vector<std::string> warnings;
};

// More ranks than GPUs, more roles or streams than an op can name: errors that say so. Ranks lie on
// the GPUs in order; GPUs left over do nothing, which is a warning.
Result<Imported> AssembleWorkload(ForeignJob job, const Topology& topology,
                                  const ForeignOptions& options);

// The same for formats whose roles are known: checks that the ranks fit, lets the other GPUs idle,
// fills in uses and totals.
Status FinishImport(const std::string& name, const std::string& format, const Topology& topology,
                    const ForeignOptions& options, Imported* imported);

// A call that moves `bytes` (CommCall::count's meaning) in elements of options.type, or bytes where
// they do not make whole elements for each member; *rounded is counted up where the buffer has to
// grow to be divisible.
CommCall CallOfBytes(CollectiveType collective, int64_t bytes, int root, int members,
                     const ForeignOptions& options, size_t* rounded);

// The place in a foreign file as messages name it; what cannot be printed is left out.
std::string PrintableName(const std::string& name);

struct ImportInput {
  std::string place;   // a file, or a folder of traces
  std::string groups;  // Chakra: a file of groups; empty: the one beside the traces, if any
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
Result<Imported> ImportGoal(const ImportInput& input, const Topology& topology,
                            const ForeignOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_H_
