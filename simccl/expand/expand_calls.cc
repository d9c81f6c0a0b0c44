// Expands what NCCL launches for a group of calls, kernel by kernel.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "simccl/expand/expand.h"

namespace drydock {
namespace {

// Returns the kernel of each collective or broadcast.
std::vector<int> KernelsOf(const NcclPlan& plan, int works, size_t count) {
  std::vector<int> kernels(count, 0);
  for (const hacknccl_batch& batch : plan.batches) {
    if (batch.works != works) continue;
    for (uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
      kernels[plan.batch_works[i]] = batch.kernel;
    }
  }
  return kernels;
}

// Returns a rank whose GPU is next to a NIC on a ring of these channels; -1: there is none.
int RankAtNic(const NcclCommunicator& communicator, const hacknccl_collective& work) {
  const std::vector<int>& host_of = communicator.hosts();
  const auto host = [&host_of](int rank) { return host_of[static_cast<size_t>(rank)]; };
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    const std::vector<int> ring = communicator.Ring(channel);
    for (size_t i = 0; i < ring.size(); ++i) {
      if (host(ring[i]) != host(ring[(i + 1) % ring.size()])) return ring[i];
    }
  }
  return -1;
}

// Returns the ranks to ask how NCCL uses registered buffers: one next to a NIC, and the first rank
// of one host for each number of ranks per host.
std::set<int> RanksToAsk(const NcclCommunicator& communicator, const NcclPlan& plan) {
  const std::vector<int>& host_of = communicator.hosts();
  std::map<int, std::pair<int, int>> hosts;  // first rank, members
  for (int rank = 0; rank < communicator.shape().ranks; ++rank) {
    ++hosts.try_emplace(host_of[static_cast<size_t>(rank)], rank, 0).first->second.second;
  }
  std::map<int, int> first_with;  // by members
  for (const auto& [host, of] : hosts) first_with.try_emplace(of.second, of.first);
  std::set<int> ranks;
  for (const auto& [members, rank] : first_with) ranks.insert(rank);
  for (const hacknccl_collective& work : plan.collectives) {
    if (work.algorithm == HACKNCCL_RING) ranks.insert(RankAtNic(communicator, work));
  }
  ranks.erase(-1);
  ranks.erase(0);  // has been asked already
  return ranks;
}

// A rank knows whether NICs read and write the buffers only if it is next to a NIC, and whether
// peers do only if its host has other ranks. Otherwise all ranks have the same works.
Status AskOtherRanksOf(const GroupOfCalls& group, const NcclCommunicator& communicator,
                       NcclPlan* plan) {
  const std::vector<hacknccl_call>& own = group.members.front().calls;
  const bool registered = std::any_of(own.begin(), own.end(), [](const hacknccl_call& call) {
    return call.buffers != HACKNCCL_BUFFERS_PLAIN;
  });
  if (!registered || communicator.shape().hosts == 1 || plan->collectives.empty()) {
    return OkStatus();
  }
  for (const int rank : RanksToAsk(communicator, *plan)) {
    const size_t member = group.has_messages ? static_cast<size_t>(rank) : 0;
    ASSIGN_OR_RETURN(const NcclPlan there, communicator.Launch(rank, group.members[member].calls));
    CHECK(there.collectives.size() == plan->collectives.size());
    for (size_t i = 0; i < plan->collectives.size(); ++i) {
      plan->collectives[i].direct |= there.collectives[i].direct;
    }
  }
  return OkStatus();
}

// Starts the works of a plan one after another.
class Sequence {
 public:
  explicit Sequence(PlanBuilder* builder) : builder_(builder) {}

  void Begin(int launch, int64_t base) {
    if (begun_) builder_->NextWork();
    begun_ = true;
    builder_->work().launch = launch;
    builder_->SetBase(base);
  }

 private:
  PlanBuilder* builder_;
  bool begun_ = false;
};

}  // namespace

Status ExpandCalls(const GroupOfCalls& group, PlanBuilder* builder) {
  NcclPlan first;  // the part that does not depend on the member
  if (!group.members.front().calls.empty()) {
    ASSIGN_OR_RETURN(first, builder->communicator().Launch(0, group.members.front().calls));
  }
  RETURN_IF_ERROR(CheckKernels(first, group.members.front().calls.size()));
  RETURN_IF_ERROR(AskOtherRanksOf(group, builder->communicator(), &first));
  Sequence works(builder);
  const std::vector<int> kernels = KernelsOf(first, HACKNCCL_COLLECTIVES, first.collectives.size());
  for (size_t i = 0; i < first.collectives.size(); ++i) {
    const hacknccl_collective& collective = first.collectives[i];
    works.Begin(kernels[i], group.bases[static_cast<size_t>(collective.call)]);
    RETURN_IF_ERROR(ExpandCollective(collective, builder));
  }
  const std::vector<int> broadcast_kernels =
      KernelsOf(first, HACKNCCL_BROADCASTS, first.broadcasts.size());
  for (size_t begin = 0; begin < first.broadcasts.size();) {
    const auto from = broadcast_kernels.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count =
        static_cast<size_t>(std::upper_bound(from, broadcast_kernels.end(), *from) - from);
    works.Begin(*from, 0);
    RETURN_IF_ERROR(
        ExpandBroadcasts(std::span(first.broadcasts).subspan(begin, count), group.bases, builder));
    begin += count;
  }
  if (!group.has_messages) return OkStatus();
  works.Begin(builder->work().launch, 0);
  return ExpandMessages(group, first, builder);
}

}  // namespace drydock
