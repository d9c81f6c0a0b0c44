// Finds which pieces of two programs are the same piece of work.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_PIECE_MATCH_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_PIECE_MATCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "workload-gen/graph/diff/diff_side.h"

namespace drydock {

struct PieceMatch {
  // Indices (in `a`, in `b`) of pieces of equal meaning, ascending in `a`.
  std::vector<std::pair<uint32_t, uint32_t>> same;
  // By pair of `same`: it is out of the order that the most pairs have in common.
  std::vector<bool> moved;
  // Pieces of one sort and different meanings, in order.
  std::vector<std::pair<uint32_t, uint32_t>> changed;
  std::vector<uint32_t> only_a, only_b;
};

// Where the ops of a side stand. A null program tells nothing of places.
struct PlaceKeys {
  const Program* program = nullptr;
  bool layers = false, microbatches = false, phases = false;  // those that both workloads tell
};

// Pairs equal pieces: first in the order of both sequences, of the same place; then in order; then
// of the same place in any order; then in any order. So a piece that only one sequence has is found
// where it is. Of the rest, pairs pieces of one sort and phase in order.
PieceMatch MatchPieces(const std::vector<Piece>& a, const PlaceKeys& of_a,
                       const std::vector<Piece>& b, const PlaceKeys& of_b);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_PIECE_MATCH_H_
