// Writes one rank class's Program the way a training framework issues work: compute goes to one
// stream in order; a communication starts after what the compute stream has been given so far; the
// compute stream waits for a communication only when told to. What stream order already implies is
// not written as a dependency.
//
// Compute between two communications becomes one op. Not thread-safe; one builder, one program.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_PROGRAM_BUILDER_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_PROGRAM_BUILDER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/work/work_tables.h"

namespace drydock {

// Workload::streams. The collectives of a communicator follow one another; each direction of the
// pipeline has its own stream, so that what is sent and what is received do not hold each other up.
enum Stream : uint8_t {
  kComputeStream,
  kTensorStream,
  kDataStream,
  kModelStream,
  kWorldStream,
  kEmbeddingStream,
  kSendNextStream,
  kRecvPrevStream,
  kSendPrevStream,
  kRecvNextStream,
  kStageStream,
  kContextStream,
  kTensorContextStream,
  kExpertStream,
  kExpertTensorStream,
  kTensorExpertStream,
  kExpertDataStream,
  kReplicaStream,
  kLoadStream,
  kStoreStream,
  kHostStream
};
inline constexpr int kStreamCount = 21;
const std::vector<std::string>& StreamNames();

class ProgramBuilder {
 public:
  using OpId = uint32_t;
  static constexpr OpId kNothing = UINT32_MAX;

  explicit ProgramBuilder(WorkTables* tables);

  // What the following ops belong to.
  void SetPhase(Phase phase);
  void SetPlace(int layer, int microbatch, int chunk);
  Phase phase() const { return place_.phase; }

  // Adds a submodule (index in the tables) to the compute op being gathered.
  void Compute(uint32_t submodule) { pending_.push_back(submodule); }
  // Ends the compute op being gathered, if there is any.
  void Flush();

  // Issues a collective behind everything the compute stream was given, and goes on without
  // waiting. `group_size` < 2: nothing is issued. It starts after `after` as well, if given.
  OpId StartCollective(Role role, Stream stream, const CommCall& call, OpId after = kNothing);
  // The same for a call of the tables; without one, nothing is issued.
  OpId StartCollective(Role role, Stream stream, std::optional<uint32_t> call,
                       OpId after = kNothing);
  struct Point;
  // Issues a collective that starts behind `point` and its stream, whatever compute does since.
  OpId StartBehind(const Point& point, Role role, Stream stream, const CommCall& call);
  // The same as StartCollective, with the compute stream waiting for it.
  void Collective(Role role, Stream stream, const CommCall& call);
  void Collective(Role role, Stream stream, std::optional<uint32_t> call);

  // Issues a send or a receive behind everything the compute stream was given.
  OpId Transfer(OpKind kind, Role role, Stream stream, const CommCall& call, int tag);

  // Issues a load or a store behind everything the compute stream was given, and after `after`.
  OpId Move(OpKind kind, const MemoryTransfer& transfer, OpId after = kNothing);
  // The host itself works, once the compute stream has come so far and `after` has ended; nothing
  // that follows is issued before it is done.
  OpId HostWork(const MemoryTransfer& work, OpId after = kNothing);

  // The compute stream's next op starts after `op`. kNothing is ignored.
  void Wait(OpId op);

  // How far a thread of work has come: what goes on with it starts behind these.
  struct Point {
    OpId compute = kNothing;  // of the compute stream
    std::vector<OpId> waits;  // of other streams
  };
  // Behind all that the compute stream was given.
  Point Here();
  // Until EndBeside, work follows `point` alone, beside whatever else the compute stream does:
  // submodules run on `stream`, communication on its own, which the rest waits for if it is
  // another. EndBeside moves the point behind the last of it.
  void BeginBeside(Stream stream, const Point& point);
  void EndBeside(Point* point);
  // The next op starts after everything issued so far on any stream: the host waits for it.
  void WaitForAll();
  // The host issues what follows only when the compute stream has come so far (it reads a value
  // back), or when all before it has ended (it synchronises the device). Streams are held up by
  // that alone.
  void HostReads() { HostWaits(HostWait::kOpReady); }
  void HostSynchronises() { HostWaits(HostWait::kDeviceSync); }

  // What follows is launched by a loop without Python, where no CUDA graph has it.
  void SetLoop(bool loop);
  // From here on, what this scope holds is launched as CUDA graphs (training.cuda_graphs).
  void SetGraphs(GraphScope scope) { graphs_ = scope; }

  Program Finish();

 private:
  OpId Append(Op op, uint32_t work, OpId after = kNothing);
  GraphPart PartInGraph(const Op& op);
  void HostWaits(HostWait wait);
  void AddDependencies(Stream stream, OpId after);

  // Work beside the compute stream.
  struct Beside {
    Stream stream = kComputeStream;
    OpId compute = kNothing;
    std::vector<OpId> waits;  // not yet taken by an op of its stream
    OpId last = kNothing;
  };

  WorkTables* tables_;
  Program program_;
  Op place_;
  std::vector<uint32_t> pending_;
  HostWait host_waits_ = HostWait::kNothing;  // before the next op
  GraphScope graphs_ = GraphScope::kNone;
  bool loop_ = false;
  std::optional<Op> in_graph_;  // the last op, if it is in a graph
  std::optional<Beside> beside_;
  std::vector<OpId> waits_;      // of the compute stream, not yet taken by a compute op
  OpId last_[kStreamCount];      // last op of each stream
  OpId waited_[kStreamCount];    // last op of each stream that compute has waited for
  OpId followed_[kStreamCount];  // last compute op that each stream has waited for
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_PROGRAM_BUILDER_H_
