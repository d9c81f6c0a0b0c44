// One of two workloads that are compared. Each rank's ops become pieces that can be matched.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_DIFF_SIDE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_DIFF_SIDE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/graph/diff/meanings.h"
#include "workload-gen/graph/diff/piece.h"

namespace drydock {

// One piece of an op. All numbers but `op` are those of Meanings.
struct Piece {
  uint32_t op = 0;
  uint32_t meaning = 0, sort = 0, details = 0;
  double cost = 0;
};

// What a call is ordered with: the calls of a communicator's members, or the messages in one
// direction between two ranks.
struct Channel {
  std::vector<int> ranks;  // the members in order; of messages, the other rank
  OpKind kind = OpKind::kCollective;
  auto operator<=>(const Channel&) const = default;
};

struct ProgramPieces {
  std::vector<Piece> of[kPieceKindCount];  // by kind, in the order of issue; no calls
  std::map<Channel, std::vector<Piece>> calls;
};

// One of the two workloads. Its tables become pieces once.
class DiffSide {
 public:
  // Both arguments must outlive this object.
  DiffSide(const Workload& workload, Meanings* meanings);

  // REQUIRES: the rank is one of the workload, which has its programs.
  ProgramPieces PiecesOf(int rank) const;

  const Program& ProgramOf(int rank) const {
    return w.programs[static_cast<size_t>(w.class_of_rank[static_cast<size_t>(rank)])];
  }
  // Returns the members of a rank's group in a role; null if it has none.
  const std::vector<int>* GroupOf(uint8_t role, int rank) const {
    const int group = w.group_of_rank[role][static_cast<size_t>(rank)];
    return group < 0 ? nullptr : &w.groups[static_cast<size_t>(group)].ranks;
  }

  const Workload& w;
  // What the workload tells of its ops: whether any has a layer, a micro-batch, a phase.
  bool has_layers = false, has_microbatches = false, has_phases = false;

 private:
  struct TablePiece {
    PieceKind kind = PieceKind::kOtherCompute;
    Piece piece;  // without op
  };
  TablePiece Number(const PieceText& text) const;
  void AddCall(const CommCall& call, const Op& op, uint32_t index, int rank,
               ProgramPieces* out) const;

  Meanings* meanings_;
  std::vector<std::vector<TablePiece>> submodules_;
  std::vector<TablePiece> loads_, stores_, host_works_;  // by transfer
  // By call, by part: as a collective or a sent message, and as a received one.
  std::vector<std::vector<TablePiece>> sent_, received_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_DIFF_SIDE_H_
