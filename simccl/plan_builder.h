// Puts a Plan together: connections by (graph, channel, from, to), programs by member and channel.
// Asks the communicator how each connection runs. The first failure is kept and returned by Finish.
// Not thread-safe.
#ifndef DRYDOCK_SIMCCL_PLAN_BUILDER_H_
#define DRYDOCK_SIMCCL_PLAN_BUILDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/nccl/nccl_library.h"

namespace drydock {

class PlanBuilder {
 public:
  // `communicator` must outlive the builder.
  explicit PlanBuilder(const NcclCommunicator& communicator);

  // The directed connection on a channel of a HACKNCCL_GRAPH_*; made when first asked for.
  uint32_t Connect(int graph, int channel, int from, int to);
  // Between a member and a head of its host, itself perhaps: its contribution, or the result.
  enum class Nvls : uint8_t { kToHead, kFromHead };
  uint32_t ConnectNvls(int channel, int member, int head, Nvls direction);

  enum class Local : uint8_t {
    kNone,    // pass on what came, or send the local buffer if nothing came
    kReduce,  // combine what came with the local buffer
    kStore,   // keep what came (or the local buffer) in the output
    kReduceStore,
  };
  // Adds steps to one program. A step of no bytes is left out, at both ends of its connections.
  class Program {
   public:
    void Step(std::span<const uint32_t> receives, std::span<const uint32_t> sends, int64_t bytes,
              int64_t offset, Local local);
    // The same primitive as the step before goes on with another piece of data.
    void JoinedStep(std::span<const uint32_t> receives, std::span<const uint32_t> sends,
                    int64_t bytes, int64_t offset, Local local, bool first);

   private:
    friend class PlanBuilder;
    Program(std::vector<ChannelProgram>* programs, size_t index)
        : programs_(programs), index_(index) {}
    ChannelProgram& program() { return (*programs_)[index_]; }
    std::vector<ChannelProgram>* programs_;
    size_t index_;
  };
  // A new program of this member on this channel; it may have several, which run side by side.
  Program AddProgram(int member, int channel);

  Plan& plan() { return plan_; }
  const NcclCommunicator& communicator() const { return communicator_; }
  int members() const { return communicator_.shape().ranks; }
  void Fail(const Error& error);

  // Drops programs without steps. The builder is spent.
  Result<Plan> Finish();

 private:
  uint32_t Add(const std::tuple<int, int, int, int>& key, Connection connection);

  Plan plan_;
  std::map<std::tuple<int, int, int, int>, uint32_t> connections_;
  std::optional<Error> error_;
  const NcclCommunicator& communicator_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_BUILDER_H_
