// Puts a Plan together: works, connections by (graph, channel, from, to), patterns by content,
// programs by member and channel. Asks the communicator how each connection runs. The first failure
// is kept and returned by Finish. Not thread-safe.
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

  // Connections and programs from here on are of a further work, which follows those before.
  // Without it, all are of the first.
  void NextWork();
  // From here on the offsets of programs count from `base` bytes.
  void SetBase(int64_t base) { base_ = base; }
  // The present one.
  Work& work() { return plan_.works.back(); }

  // From here on connections of this work are direct where these HACKNCCL_DIRECT_* say so.
  void SetDirect(int direct) { direct_ = direct; }

  // Those made so far are not asked for again; a short memory is a fast one.
  void ForgetConnections() { connections_.Clear(); }
  // What follows is of another channel of a collective, with connections of its own. Channels are
  // alike, so the first tells how much room all take.
  void BeginChannel(const hacknccl_collective& work, int channel);

  // The directed connection of the present work on a channel of a HACKNCCL_GRAPH_*; made when first
  // asked for.
  uint32_t Connect(int graph, int channel, int from, int to);
  // Another like it, for what follows on it in another work.
  uint32_t Duplicate(uint32_t connection) { return Add(plan_.connections[connection]); }
  // Between a member and a head of its host, itself perhaps: its contribution, or the result. New
  // at every call.
  enum class Nvls : uint8_t { kToHead, kFromHead };
  uint32_t ConnectNvls(int member, int head, Nvls direction);

  // From a member that is joined to CollNet on a channel, as `place` says, to the switches and
  // back. Its chunks are the reduction's pieces from `first` on.
  enum class Switch : uint8_t { kTo, kFrom };
  uint32_t ConnectSwitch(int channel, int member, const hacknccl_collnet& place, Switch direction,
                         int64_t first = 0);

  // The index of the pattern, or order, with this content.
  uint32_t AddPattern(Pattern pattern);
  int16_t AddOrder(const std::vector<int>& members);

  struct Place {
    int64_t base = 0;
    uint16_t position = 0;
    int16_t order = -1;
  };
  // A member may have several of a work on a channel, which run side by side. A pattern without
  // steps adds none.
  void AddProgram(int member, int channel, uint32_t pattern, std::span<const uint32_t> operands,
                  Place place);
  void AddProgram(int member, int channel, Pattern pattern, std::span<const uint32_t> operands) {
    AddProgram(member, channel, AddPattern(std::move(pattern)), operands, {});
  }

  const Plan& plan() const { return plan_; }
  const NcclCommunicator& communicator() const { return communicator_; }
  int members() const { return communicator_.shape().ranks; }
  void Fail(const Error& error);

  // The builder is spent.
  Result<Plan> Finish(std::string name = {});

 private:
  uint32_t next_connection() const { return static_cast<uint32_t>(plan_.connections.size()); }
  uint32_t Add(Connection connection);

  Plan plan_;
  int64_t base_ = 0;
  int direct_ = 0;
  // Those that may be asked for again, by HACKNCCL_GRAPH_* or a key beside them.
  IndexTable<uint64_t> connections_;
  std::array<size_t, 2> before_ = {};                   // the collective: connections and operands
  std::unordered_multimap<size_t, uint32_t> patterns_;  // by hash of the content
  std::map<std::vector<uint16_t>, int16_t> orders_;
  std::map<std::tuple<size_t, int, int>, int16_t> reductions_;  // by work, channel and rail
  std::optional<Error> error_;
  const NcclCommunicator& communicator_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPAND_PLAN_BUILDER_H_
