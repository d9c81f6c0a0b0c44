// Builds a Plan of works, connections by (graph, channel, from, to), patterns by content, and
// programs by member and channel. Asks the communicator which link each connection takes. Keeps the
// first failure for Finish to return. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_EXPAND_PLAN_BUILDER_H_
#define DRYDOCK_SIMCCL_EXPAND_PLAN_BUILDER_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/containers/index_table.h"
#include "core/model/flow_plan.h"
#include "core/nccl/nccl_library.h"

namespace drydock {

class PlanBuilder {
 public:
  // `communicator` must outlive the builder.
  explicit PlanBuilder(const NcclCommunicator& communicator);

  // Starts the next work: connections and programs added from now on belong to it. Until the first
  // call they belong to the first work.
  void NextWork();
  // Offsets of programs added from now on count from `base` bytes.
  void SetBase(int64_t base) { base_ = base; }
  // The current work.
  Work& work() { return plan_.works.back(); }

  // Connections of this work that are made from now on are direct if their bit of HACKNCCL_DIRECT_*
  // is set.
  void SetDirect(int direct) { direct_ = direct; }

  // Call when no connection made so far is needed again: a small table is faster.
  void ForgetConnections() { connections_.Clear(); }
  // Starts another channel of a collective, which has its own connections. Channels are of similar
  // size, so the first channel tells how much memory to reserve for the others.
  void BeginChannel(const hacknccl_collective& work, int channel);

  // Returns the directed connection of the current work on a channel of a HACKNCCL_GRAPH_*. Makes
  // it on first use.
  uint32_t Connect(int graph, int channel, int from, int to);
  // Returns a new connection from a member to itself.
  uint32_t ConnectSelf(int member);
  // Returns a copy of the connection, for use in another work.
  uint32_t Duplicate(uint32_t connection) { return Add(plan_.connections[connection]); }
  // Returns a new connection between a member and a head of its host, which may be the member
  // itself: for the member's contribution, or for the result.
  enum class Nvls : uint8_t { kToHead, kFromHead };
  uint32_t ConnectNvls(int member, int head, Nvls direction);

  // Returns the connection to or from the switches of a member that is joined to CollNet on a
  // channel as `place` says. Its chunks are the reduction's pieces from `first` on.
  enum class Switch : uint8_t { kTo, kFrom };
  uint32_t ConnectSwitch(int channel, int member, const hacknccl_collnet& place, Switch direction,
                         int64_t first = 0);

  // Return the index of the pattern, or order, with this content.
  uint32_t AddPattern(Pattern pattern);
  int16_t AddOrder(const std::vector<int>& members);

  struct Place {
    int64_t base = 0;
    uint16_t position = 0;
    int16_t order = -1;
  };
  // Adds a program. Several programs of a member, work and channel run side by side. A pattern
  // without steps adds no program.
  void AddProgram(int member, int channel, uint32_t pattern, std::span<const uint32_t> operands,
                  Place place);
  void AddProgram(int member, int channel, Pattern pattern, std::span<const uint32_t> operands) {
    AddProgram(member, channel, AddPattern(std::move(pattern)), operands, {});
  }

  const Plan& plan() const { return plan_; }
  const NcclCommunicator& communicator() const { return communicator_; }
  int members() const { return communicator_.shape().ranks; }
  void Fail(const Error& error);

  // Returns the plan, or the first failure. The builder must not be used again.
  Result<Plan> Finish(std::string name = {});

 private:
  uint32_t next_connection() const { return static_cast<uint32_t>(plan_.connections.size()); }
  uint32_t Add(Connection connection);

  Plan plan_;
  int64_t base_ = 0;
  int direct_ = 0;
  // Connections that Connect may return again, by HACKNCCL_GRAPH_* or by a key of plan_builder.cc.
  IndexTable<uint64_t> connections_;
  std::array<size_t, 2> before_ = {};  // numbers of connections and operands before the collective
  std::unordered_multimap<size_t, uint32_t> patterns_;  // by hash of the content
  std::map<std::vector<uint16_t>, int16_t> orders_;
  std::map<std::tuple<size_t, int, int>, int16_t> reductions_;  // by work, channel and rail
  std::optional<Error> error_;
  const NcclCommunicator& communicator_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPAND_PLAN_BUILDER_H_
