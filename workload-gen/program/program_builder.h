// Writes the Program of one rank class as a training framework issues work: compute goes to one
// stream in order; a communication starts after the compute issued so far; the compute stream waits
// for a communication only on request. Stream order is not repeated as a dependency.
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
#include "workload-gen/job/cuda_graphs.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/work/layer_work.h"
#include "workload-gen/work/work_tables.h"

namespace drydock {

// Workload::streams. The collectives of a communicator follow one another. Each direction of the
// pipeline has its own stream, so that sends and receives do not delay each other.
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
  kHostStream,
  kDataLoaderStream
};
inline constexpr int kStreamCount = 22;
const std::vector<std::string>& StreamNames();

class ProgramBuilder {
 public:
  using OpId = uint32_t;
  static constexpr OpId kNothing = UINT32_MAX;

  explicit ProgramBuilder(WorkTables* tables);

  // Sets the layer, micro-batch or phase of the following ops.
  void SetPhase(Phase phase);
  void SetPlace(int layer, int microbatch, int chunk);
  Phase phase() const { return place_.phase; }
  // An op whose layer, micro-batch, chunk and phase are the current ones.
  const Op& place() const { return place_; }
  // The index of the op that is issued or gathered next, and the submodules gathered for it.
  size_t next_op() const { return program_.ops.size(); }
  size_t gathered() const { return pending_.size(); }

  // Adds a submodule (index in the tables) to the compute op being gathered.
  void Compute(uint32_t submodule) { pending_.push_back(submodule); }
  // Ends the compute op being gathered, if there is any.
  void Flush();

  // Issues a collective that starts after all compute issued so far, and after `after` if given.
  // Compute does not wait for it. Issues nothing if `group_size` < 2.
  OpId StartCollective(Role role, Stream stream, const CommCall& call, OpId after = kNothing);
  // The same for a call of the tables. Issues nothing without a call.
  OpId StartCollective(Role role, Stream stream, std::optional<uint32_t> call,
                       OpId after = kNothing);
  struct Point;
  // Issues a collective that starts after `point` and its stream, not after later compute.
  OpId StartBehind(const Point& point, Role role, Stream stream, const CommCall& call);
  // StartCollective, and the compute stream waits for it.
  void Collective(Role role, Stream stream, const CommCall& call);
  void Collective(Role role, Stream stream, std::optional<uint32_t> call);

  // Issues a send or a receive that starts after all compute issued so far.
  OpId Transfer(OpKind kind, Role role, Stream stream, const CommCall& call, int tag);

  // Issues a load or a store that starts after all compute issued so far, and after `after`. Later
  // work waits for it on request only, also beside the compute stream.
  OpId Move(OpKind kind, const MemoryTransfer& transfer, OpId after = kNothing);
  // Host work that starts after all compute issued so far and after `after`. The host issues
  // nothing else before the work ends.
  OpId HostWork(const MemoryTransfer& work, OpId after = kNothing);
  // Work of the data loader's processes, one after another. Only Wait(id) waits for it.
  OpId LoadData(const MemoryTransfer& work);

  // The next op of the compute stream starts after `op`. kNothing is ignored.
  void Wait(OpId op);

  // The progress of a thread of work: its next op starts after these ops.
  struct Point {
    OpId compute = kNothing;  // of the compute stream
    std::vector<OpId> waits;  // of other streams
  };
  // The point after all compute issued so far.
  Point Here();
  // Until EndBeside, work follows `point` only, beside the compute stream: submodules run on
  // `stream`; communication runs on its own stream, and later work waits for it if that is another
  // stream. EndBeside moves the point after the last op.
  void BeginBeside(Stream stream, const Point& point);
  void EndBeside(Point* point);
  // The next op starts after everything issued so far on any stream: the host synchronizes the
  // device.
  void WaitForAll();
  // The host issues the next ops only after the compute issued so far has ended (it reads a value),
  // or after everything issued so far has ended (it synchronizes the device). Streams themselves do
  // not wait.
  void HostReads() { HostWaits(HostWait::kOpReady); }
  void HostSynchronizes() { HostWaits(HostWait::kDeviceSync); }

  // A loop without Python launches the next ops that are not in a CUDA graph.
  void SetLoop(bool loop);
  // From now on, the ops of these graphs are launched together (training.cuda_graphs).
  void SetGraphs(const GraphRules& graphs, const GraphCopyWork& copies) {
    graphs_ = graphs;
    copies_ = copies;
  }
  // The region of a layer of the following ops. Entering a region that a graph holds, from one that
  // no graph holds, copies the graph's inputs.
  void SetRegion(LayerRegion region);
  // The whole-iteration graph ends here.
  void EndIteration() { in_iteration_ = false; }

  Program Finish();

 private:
  OpId Append(Op op, uint32_t work, OpId after = kNothing);
  GraphPart PartInGraph(const Op& op);
  bool InGraph(const Op& op) const;
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
  GraphRules graphs_;
  GraphCopyWork copies_;
  LayerRegion region_ = LayerRegion::kOutside;
  bool in_iteration_ = true;
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
