// The pieces of work that two workloads are compared by. A program of ops becomes a list of pieces
// that neither the names of blocks, streams and roles nor the tables' order decide. One op may have
// several pieces: the products of a block, the parts of a grouped call.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_PIECE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_PIECE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

enum class PieceKind : uint8_t { kCall, kProduct, kAttention, kOtherCompute, kTransfer };
inline constexpr int kPieceKindCount = 5;

// A piece before it becomes numbers.
struct PieceText {
  PieceKind kind = PieceKind::kOtherCompute;
  std::string meaning;  // pieces are equal if their meanings are: "product 64 x 512 x 128 bf16"
  std::string sort;     // pieces of one sort may be a pair that differs: "norm fwd"
  std::string details;  // compared between two pieces of one meaning: "accumulate_fp32"
  double cost = 0;      // FLOP of products and attention, bytes of all else
};

// Returns the pieces of a submodule. A product is the same for any order and transposition of its
// operands: the gradients of a linear layer are products of their own. Attention without
// FlashAttention is two products forward and four backward.
std::vector<PieceText> PiecesOf(const Submodule& submodule);

PieceText PieceOf(const MemoryTransfer& transfer, OpKind kind);

// Returns the piece of a call that is no group of calls. `kind` says what the rank does in a
// message. In place or not is a detail.
PieceText PieceOf(const CommCall& call, OpKind kind);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_PIECE_H_
