// PAT: binomial trees, one rooted at each rank, their steps laid out so that data of many trees
// shares messages. NCCL itself lists the steps of each rank.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "simccl/expand.h"

namespace drydock {
namespace {

using Local = PlanBuilder::Local;

// A piece of a message: peer, message, place in it.
using Piece = std::tuple<int, int, uint64_t>;

class PatMember {
 public:
  PatMember(const hacknccl_collective& work, int rank, int channel, PlanBuilder* builder)
      : work_(work),
        rank_(rank),
        channel_(channel),
        builder_(builder),
        program_(builder->AddProgram(rank, channel)) {}

  // A piece is kept where it is first read; when NCCL sends it on once more, it comes from there.
  void AllGather(const std::vector<hacknccl_pat_step>& steps) {
    std::set<Piece> read;
    std::set<uint64_t> kept;  // own pieces
    for (const hacknccl_pat_step& step : steps) {
      const bool receives = step.recv_peer != -1;
      const bool first = receives
                             ? read.emplace(step.recv_peer, step.recv_message, step.recv_at).second
                             : kept.insert(step.offset).second;
      Add(step, receives && first, step.send_peer != -1, first ? Local::kStore : Local::kNone);
    }
  }

  // Pieces are sent with the last contribution to them; earlier sums wait in the buffer.
  void ReduceScatter(const std::vector<hacknccl_pat_step>& steps) {
    std::map<Piece, size_t> last;
    const auto target = [](const hacknccl_pat_step& step) {
      return Piece(step.send_peer, step.send_message,
                   step.send_peer == -1 ? step.offset : step.send_at);
    };
    for (size_t i = 0; i < steps.size(); ++i) last[target(steps[i])] = i;
    for (size_t i = 0; i < steps.size(); ++i) {
      const hacknccl_pat_step& step = steps[i];
      const bool receives = step.recv_peer != -1;
      const bool sends = step.send_peer != -1 && last[target(step)] == i;
      if (!receives && !sends) continue;  // its own data alone: in the buffer already
      const Local local = !receives ? Local::kNone : sends ? Local::kReduce : Local::kReduceStore;
      Add(step, receives, sends, local);
    }
  }

 private:
  void Add(const hacknccl_pat_step& step, bool receives, bool sends, Local local) {
    std::array<uint32_t, 1> from = {}, to = {};
    if (receives) from = {builder_->Connect(HACKNCCL_GRAPH_TREE, channel_, step.recv_peer, rank_)};
    if (sends) to = {builder_->Connect(HACKNCCL_GRAPH_TREE, channel_, rank_, step.send_peer)};
    program_.Step(std::span(from).first(receives ? 1 : 0), std::span(to).first(sends ? 1 : 0),
                  static_cast<int64_t>(step.elements) * work_.element_bytes,
                  static_cast<int64_t>(step.offset) * work_.element_bytes, local);
  }

  const hacknccl_collective& work_;
  const int rank_, channel_;
  PlanBuilder* builder_;
  PlanBuilder::Program program_;
};

// The most pieces that share a message.
int PiecesPerMessage(const std::vector<hacknccl_pat_step>& steps) {
  std::map<std::pair<int, int>, std::set<uint64_t>> pieces;
  size_t most = 1;
  for (const hacknccl_pat_step& step : steps) {
    if (step.send_peer == -1) continue;
    auto& in_message = pieces[{step.send_peer, step.send_message}];
    in_message.insert(step.send_at);
    most = std::max(most, in_message.size());
  }
  return static_cast<int>(most);
}

}  // namespace

Status ExpandPat(const hacknccl_collective& work, PlanBuilder* builder) {
  int pieces = 1;
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    for (int rank = 0; rank < builder->members(); ++rank) {
      ASSIGN_OR_RETURN(const std::vector<hacknccl_pat_step> steps,
                       builder->communicator().Pat(work, rank, channel));
      pieces = std::max(pieces, PiecesPerMessage(steps));
      PatMember member(work, rank, channel, builder);
      if (work.function == HACKNCCL_ALL_GATHER) {
        member.AllGather(steps);
      } else {
        member.ReduceScatter(steps);
      }
    }
  }
  // A slot holds a message; here every piece of it takes one.
  builder->plan().slots *= pieces;
  return OkStatus();
}

}  // namespace drydock
