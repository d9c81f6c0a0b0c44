// All-gather and reduce-scatter by CollNet. Every rank of a host is a head, each on its own rail.
// The parts of a rail's ranks, host after host, form one row of bytes, and the channels take
// windows of the row in turn. A window is cut into pieces where a host's part ends. A piece has one
// owner: the owner sends the piece to all heads of the rail in an all-gather, and receives the
// piece's sum in a reduce-scatter. Inside a host a head exchanges whole windows with the other
// ranks, over separate connections (CollNetDirect) or over its multicast object (NVLS).
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

using Ids = std::vector<uint32_t>;
using Switch = PlanBuilder::Switch;
using Nvls = PlanBuilder::Nvls;

// The bytes of one host's part in a window.
struct Piece {
  int host = 0;
  int64_t begin = 0, bytes = 0;  // within the part
};

// Windows that are cut the same, `stride` bytes from one to the next.
struct Windows {
  int64_t repeat = 1, stride = 0;
  std::vector<Piece> pieces;  // of the first
};

// Returns the windows of a channel. `part` is the size of a rank's part.
std::vector<Windows> WindowsOf(const EvenShare& share, int64_t part) {
  std::vector<Windows> out;
  for (int64_t done = 0; done < share.total;) {
    const int64_t at = share.base + done;
    const int64_t end = at + std::min(share.window, share.total - done);
    Windows windows = {1, share.stride, {}};
    for (int64_t begin = at; begin < end;) {
      const int64_t host = begin / part;
      const int64_t next = std::min(end, (host + 1) * part);
      windows.pieces.push_back({static_cast<int>(host), begin - host * part, next - begin});
      begin = next;
    }
    if (windows.pieces.size() == 1 && end - at == share.window) {
      const int64_t left = (windows.pieces.front().host + 1) * part - end;
      windows.repeat += left / share.stride;
    }
    done += windows.repeat * share.stride;
    out.push_back(std::move(windows));
  }
  return out;
}

// Returns the index of the first of the channel's pieces that the host owns.
int64_t FirstOwned(const std::vector<Windows>& all, int host) {
  int64_t index = 0;
  for (const Windows& windows : all) {
    for (const Piece& piece : windows.pieces) {
      if (piece.host >= host) return index;
      index += windows.pieces.size() == 1 ? windows.repeat : 1;
    }
  }
  return index;
}

// One channel of the collective.
struct Parts {
  const hacknccl_collective& work;
  std::vector<std::vector<int>> heads;  // by host and rail
  bool nvls = false;
  std::map<std::tuple<int, int, Nvls>, uint32_t> links;  // of NVLS, made on first use

  bool gathers() const { return work.function == HACKNCCL_ALL_GATHER; }
  int64_t part() const { return static_cast<int64_t>(work.count) * work.element_bytes; }
  uint32_t ConnectNvls(int member, int head, Nvls direction, PlanBuilder* builder) {
    const auto [link, added] = links.try_emplace({member, head, direction}, 0);
    if (added) link->second = builder->ConnectNvls(member, head, direction);
    return link->second;
  }
  // Returns the offset of a rail's piece in the user's buffer.
  int64_t OffsetOf(const Piece& piece, size_t rail) const {
    return heads[static_cast<size_t>(piece.host)][rail] * part() + piece.begin;
  }
};

// The programs of one head on one channel.
class Head {
 public:
  Head(Parts& parts, const std::vector<Windows>& windows, int channel, size_t host, size_t rail,
       const hacknccl_collnet& place, PlanBuilder* builder)
      : parts_(parts),
        windows_(windows),
        channel_(channel),
        host_(host),
        rail_(rail),
        place_(place),
        builder_(builder) {}

  void AllGather() {
    Own({}, {Network(Switch::kTo)}, Local::kNone);
    const Ids from = {Network(Switch::kFrom)};
    EveryPiece(from, Results(), parts_.nvls ? Local::kNone : Local::kStore);
    OverRails([this](size_t rail) { return Result(rail, rail_); }, /*sends=*/false);
  }
  void ReduceScatter() {
    OverRails([this](size_t rail) { return Contribution(rail_, rail); }, /*sends=*/true);
    EveryPiece(Contributions(), {Network(Switch::kTo)},
               parts_.nvls || own_host().size() > 1 ? Local::kReduce : Local::kNone);
    Own({Network(Switch::kFrom)}, {}, Local::kStore);
  }

 private:
  const std::vector<int>& own_host() const { return parts_.heads[host_]; }
  int rank() const { return own_host()[rail_]; }
  // The connection to or from the switches. In one direction the head moves only its own pieces.
  uint32_t Network(Switch direction) const {
    const bool own = (direction == Switch::kTo) == parts_.gathers();
    const int64_t first = own ? FirstOwned(windows_, static_cast<int>(host_)) : 0;
    return builder_->ConnectSwitch(channel_, rank(), place_, direction, first);
  }
  // The connection from the head of one rail to the rank of another, for data from the network.
  uint32_t Result(size_t head, size_t to) const {
    const int from = own_host()[head], other = own_host()[to];
    return parts_.nvls ? parts_.ConnectNvls(other, from, Nvls::kFromHead, builder_)
                       : builder_->Connect(HACKNCCL_GRAPH_COLLNET_DOWN, channel_, from, other);
  }
  // The connection from a rank to the head of another rail, for data to the network.
  uint32_t Contribution(size_t from, size_t head) const {
    const int member = own_host()[from], to = own_host()[head];
    return parts_.nvls ? parts_.ConnectNvls(member, to, Nvls::kToHead, builder_)
                       : builder_->Connect(HACKNCCL_GRAPH_COLLNET_UP, channel_, member, to);
  }
  // The other rails in cyclic order from the next; with NVLS all rails, from the first.
  std::vector<size_t> Rails() const {
    const size_t rails = own_host().size();
    std::vector<size_t> out;
    for (size_t i = 0; i < rails; ++i) {
      if (parts_.nvls) {
        out.push_back(i);
      } else if (i > 0) {
        out.push_back((rail_ + i) % rails);
      }
    }
    return out;
  }
  Ids Results() const {
    Ids ids;
    for (const size_t rail : Rails()) ids.push_back(Result(rail_, rail));
    return ids;
  }
  Ids Contributions() const {
    Ids ids;
    for (const size_t rail : Rails()) ids.push_back(Contribution(rail, rail_));
    return ids;
  }

  // Adds a program that calls `body(writer, piece, first)` for each piece. `first` marks the first
  // piece of a window.
  template <typename Body>
  void Program(const Ids& operands, const Body& body) {
    PatternWriter writer;
    for (const Windows& windows : windows_) {
      writer.BeginLoop(windows.repeat, windows.repeat > 1 ? windows.stride : 0);
      bool first = true;
      for (const Piece& piece : windows.pieces) body(&writer, piece, std::exchange(first, false));
    }
    builder_->AddProgram(rank(), channel_, builder_->AddPattern(writer.Take()), operands, {});
  }

  // Moves every piece of the rail from the connections `from` to `to`.
  void EveryPiece(const Ids& from, const Ids& to, Local local) {
    Program(Joined(from, to), [&](PatternWriter* writer, const Piece& piece, bool first) {
      writer->JoinedStep(First(from), Then(from, to), piece.bytes, parts_.OffsetOf(piece, rail_),
                         local, first);
    });
  }
  // The same for the pieces that the head's host owns.
  void Own(const Ids& from, const Ids& to, Local local) {
    Program(Joined(from, to), [&](PatternWriter* writer, const Piece& piece, bool) {
      if (piece.host != static_cast<int>(host_)) return;
      writer->Step(First(from), Then(from, to), piece.bytes, parts_.OffsetOf(piece, rail_), local);
    });
  }
  // Moves every rail's window to its head, or from it.
  template <typename Connect>
  void OverRails(const Connect& connect, bool sends) {
    const std::vector<size_t> rails = Rails();
    Ids operands;
    for (const size_t rail : rails) operands.push_back(connect(rail));
    PatternWriter writer;
    for (const Windows& windows : windows_) {
      writer.BeginLoop(windows.repeat, windows.repeat > 1 ? windows.stride : 0);
      bool first = true;
      // Piece by piece, as the heads do. Here each piece takes a slot, where NCCL takes one slot
      // per window; a window of more pieces than there are slots must not wait for itself.
      for (const Piece& piece : windows.pieces) {
        for (size_t i = 0; i < rails.size(); ++i) {
          const Slots one = {static_cast<uint32_t>(i), 1};
          writer.JoinedStep(sends ? Slots() : one, sends ? one : Slots(), piece.bytes,
                            parts_.OffsetOf(piece, rails[i]), sends ? Local::kNone : Local::kStore,
                            std::exchange(first, false));
        }
      }
    }
    builder_->AddProgram(rank(), channel_, builder_->AddPattern(writer.Take()), operands, {});
  }

  static Ids Joined(Ids a, const Ids& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Slots First(const Ids& from) { return {0, static_cast<uint32_t>(from.size())}; }
  static Slots Then(const Ids& from, const Ids& to) {
    return {static_cast<uint32_t>(from.size()), static_cast<uint32_t>(to.size())};
  }

  Parts& parts_;
  const std::vector<Windows>& windows_;
  const int channel_;
  const size_t host_, rail_;
  const hacknccl_collnet& place_;
  PlanBuilder* builder_;
};

// Returns the heads by host and rail. NCCL numbers the ranks of a rail as if every host had as many
// ranks as there are heads (collNetInitRailRankMap).
Result<std::vector<std::vector<int>>> HeadsOf(const hacknccl_collective& work, int channel,
                                              const std::vector<hacknccl_collnet>& places,
                                              const NcclCommunicator& comm) {
  const hacknccl_shape& shape = comm.shape();
  const bool nvls = work.algorithm == HACKNCCL_NVLS;
  const std::vector<hacknccl_nvls> by_nvls =
      nvls ? comm.Nvls(channel) : std::vector<hacknccl_nvls>();
  const auto heads = static_cast<size_t>(nvls ? shape.nvls_heads : shape.collnet_heads);
  std::vector<std::vector<int>> out(static_cast<size_t>(shape.hosts), std::vector<int>(heads, -1));
  for (size_t rank = 0; rank < places.size(); ++rank) {
    const int head = nvls ? by_nvls[rank].head : places[rank].head;
    if (head < 0 || static_cast<size_t>(head) >= heads) {
      return Error(
          "NCCL chose CollNet for the parts of ranks that it has not joined to the network");
    }
    out[static_cast<size_t>(comm.hosts()[rank])][static_cast<size_t>(head)] =
        static_cast<int>(rank);
  }
  for (const std::vector<int>& host : out) {
    if (std::find(host.begin(), host.end(), -1) == host.end()) continue;
    return Error("NCCL chose CollNet for parts on hosts with different numbers of ranks");
  }
  return out;
}

}  // namespace

Status ExpandCollNetGatherScatter(const hacknccl_collective& work, PlanBuilder* builder) {
  const NcclCommunicator& comm = builder->communicator();
  for (int channel = work.channel_lo; channel <= work.channel_hi; ++channel) {
    ASSIGN_OR_RETURN(const std::vector<hacknccl_collnet> places, comm.CollNet(channel));
    Parts parts = {work, {}, work.algorithm == HACKNCCL_NVLS, {}};
    builder->BeginChannel(work, channel);
    ASSIGN_OR_RETURN(parts.heads, HeadsOf(work, channel, places, comm));
    EvenShare share = EvenShareOf(work, channel, 1);
    share.total = std::max<int64_t>(comm.shape().hosts * parts.part() - share.base, 0);
    const std::vector<Windows> windows = WindowsOf(share, parts.part());
    for (size_t host = 0; host < parts.heads.size(); ++host) {
      for (size_t rail = 0; rail < parts.heads[host].size(); ++rail) {
        const auto rank = static_cast<size_t>(parts.heads[host][rail]);
        Head head(parts, windows, channel, host, rail, places[rank], builder);
        parts.gathers() ? head.AllGather() : head.ReduceScatter();
      }
    }
  }
  return OkStatus();
}

}  // namespace drydock
