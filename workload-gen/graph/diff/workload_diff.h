// Compares two workloads op by op, by what their ranks do and not by how the workloads name it. It
// is made for a pair of which one comes from a program's own operators and the other from a model
// of the framework (docs/how-to/compare-workloads.md says what is equal).
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_WORKLOAD_DIFF_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_WORKLOAD_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

enum class DiffSubject : uint8_t {
  kCalls,          // communication: kind, members, size, type, order in its communicator
  kProducts,       // matrix products
  kAttention,      // FlashAttention and other attention in one kernel
  kOtherCompute,   // all other kernels
  kTransfers,      // loads, stores and the host's own work
  kCallStarts,     // what must have ended before a call starts
  kComputeStarts,  // what must have ended before a product or attention starts
  kHostWaits,      // what the host waits for
  kLaunches,       // ops of CUDA graphs and of loops without Python
  kMemory,
  kTotals
};
inline constexpr int kDiffSubjectCount = 11;
const std::vector<std::string>& DiffSubjectNames();

struct DiffPlace {
  int rank = -1;     // -1: of no rank
  int64_t op = -1;   // index in the rank's program
  std::string text;  // "forward micro-batch 0 layer 3, attention.forward on compute"
};

// All differences of one text.
struct Difference {
  DiffSubject subject = DiffSubject::kCalls;
  // What the workloads have. Empty: nothing.
  std::string a, b;
  std::string note;        // what differs, where `a` and `b` do not say it
  int64_t times = 0;       // in the ranks that were compared
  int64_t rank_times = 0;  // in all ranks
  double cost = 0;         // in all ranks: FLOP of products and attention, else bytes
  DiffPlace at_a, at_b;    // the first of them; op -1: nowhere
};

struct DiffCount {
  int64_t equal = 0, only_a = 0, only_b = 0, differ = 0;
  int64_t differences() const { return only_a + only_b + differ; }
};

struct DiffOptions {
  double memory_tolerance = 0;  // a share of the larger value
};

struct WorkloadDiff {
  int ranks_a = 0, ranks_b = 0;
  int64_t compared_ranks = 0;  // of each workload, each represents others with the same programs
  int64_t same_ranks = 0;      // ranks, of all, that differ in nothing
  DiffCount counts[kDiffSubjectCount];
  std::vector<Difference> differences;  // by subject, the most costly first
  std::vector<std::string> notes;       // what could not be compared
  bool equal() const { return differences.empty(); }
};

WorkloadDiff CompareWorkloads(const Workload& a, const Workload& b, const DiffOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_WORKLOAD_DIFF_H_
