// PAT: one binomial tree is rooted at each rank, and messages carry data of many trees. NCCL itself
// lists the steps of a rank. The steps of rank r are those of rank 0 under a cyclic shift of all
// ranks by r, so all ranks share a pattern.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

// A piece of a message: peer, message, offset.
using Piece = std::tuple<int, int, uint64_t>;

// The steps of rank 0 on a channel.
class PatSteps {
 public:
  PatSteps(const hacknccl_collective& work, int ranks)
      : work_(work), ranks_(ranks), writer_(ranks) {}

  // A piece is stored when it is first read. If NCCL sends it again, it comes from the buffer.
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

  // A piece is sent with the last contribution to it. Earlier sums wait in the buffer.
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
      if (!receives && !sends) continue;  // only own data, which is in the buffer
      const Local local = !receives ? Local::kNone : sends ? Local::kReduce : Local::kReduceStore;
      Add(step, receives, sends, local);
    }
  }

  // Adds the program of every rank on this channel.
  void AddPrograms(int channel, PlanBuilder* builder) {
    const uint32_t pattern = builder->AddPattern(writer_.Take());
    std::vector<uint32_t> operands(ends_.size());
    for (int rank = 0; rank < ranks_; ++rank) {
      for (size_t i = 0; i < ends_.size(); ++i) {
        const int peer = (ends_[i].peer + rank) % ranks_;
        operands[i] = builder->Connect(HACKNCCL_GRAPH_TREE, channel, ends_[i].sends ? rank : peer,
                                       ends_[i].sends ? peer : rank);
      }
      builder->AddProgram(rank, channel, pattern, operands,
                          {.position = static_cast<uint16_t>(rank)});
    }
  }

 private:
  // One end of a transfer: an operand of the pattern.
  struct End {
    int peer = 0;  // of rank 0
    bool sends = false;
    friend bool operator==(const End&, const End&) = default;
  };

  Slots SlotOf(const End& end) {
    const auto found = std::find(ends_.begin(), ends_.end(), end);
    const auto slot = static_cast<uint32_t>(found - ends_.begin());
    if (found == ends_.end()) ends_.push_back(end);
    return {slot, 1};
  }

  // Adds a piece of the part of rank step.offset / count, which is the distance from rank 0.
  void Add(const hacknccl_pat_step& step, bool receives, bool sends, Local local) {
    Slots from, to;
    if (receives) from = SlotOf({step.recv_peer, false});
    if (sends) to = SlotOf({step.send_peer, true});
    Chunks parts;
    parts.bytes = static_cast<int64_t>(step.elements) * work_.element_bytes;
    parts.total = parts.bytes * ranks_;
    parts.pitch = static_cast<int64_t>(work_.count) * work_.element_bytes;
    parts.offset = static_cast<int64_t>(step.offset % work_.count) * work_.element_bytes;
    writer_.Run(from, to, parts, static_cast<int>(step.offset / work_.count), 1, local);
  }

  const hacknccl_collective& work_;
  const int ranks_;
  PatternWriter writer_;
  std::vector<End> ends_;
};

// Returns the largest number of pieces in a message.
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
    builder->BeginChannel(work, channel);
    ASSIGN_OR_RETURN(const std::vector<hacknccl_pat_step> listed,
                     builder->communicator().Pat(work, /*rank=*/0, channel));
    pieces = std::max(pieces, PiecesPerMessage(listed));
    PatSteps steps(work, builder->members());
    if (work.function == HACKNCCL_ALL_GATHER) {
      steps.AllGather(listed);
    } else {
      steps.ReduceScatter(listed);
    }
    steps.AddPrograms(channel, builder);
  }
  // In NCCL a message takes one slot; here each of its pieces takes one.
  builder->work().slots *= pieces;
  return OkStatus();
}

}  // namespace drydock
