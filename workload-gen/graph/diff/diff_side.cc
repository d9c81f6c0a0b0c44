#include "workload-gen/graph/diff/diff_side.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace drydock {
namespace {

// Calls the function for the parts of a grouped call, or else for the call itself.
template <typename Visit>
void ForEachPart(const CommCall& call, Visit&& visit) {
  if (call.collective != CollectiveType::kGrouped) return visit(call);
  for (const CommCall& part : call.parts) visit(part);
}

}  // namespace

DiffSide::DiffSide(const Workload& workload, Meanings* meanings)
    : w(workload), meanings_(meanings) {
  for (const Submodule& submodule : w.submodules) {
    submodules_.emplace_back();
    for (const PieceText& text : drydock::PiecesOf(submodule)) {
      submodules_.back().push_back(Number(text));
    }
  }
  for (const MemoryTransfer& transfer : w.transfers) {
    loads_.push_back(Number(PieceOf(transfer, OpKind::kLoad)));
    stores_.push_back(Number(PieceOf(transfer, OpKind::kStore)));
    host_works_.push_back(Number(PieceOf(transfer, OpKind::kHostWork)));
  }
  for (const CommCall& call : w.calls) {
    sent_.emplace_back();
    received_.emplace_back();
    ForEachPart(call, [this](const CommCall& part) {
      sent_.back().push_back(Number(PieceOf(part, OpKind::kSend)));
      received_.back().push_back(Number(PieceOf(part, OpKind::kRecv)));
    });
  }
  Phase first = Phase::kOther;
  bool any = false;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      has_layers |= op.layer >= 0;
      has_microbatches |= op.microbatch >= 0;
      if (!any) first = op.phase;
      any = true;
      has_phases |= op.phase != first;
    }
  }
}

DiffSide::TablePiece DiffSide::Number(const PieceText& text) const {
  return {text.kind,
          {0, meanings_->NumberOf(text.meaning), meanings_->NumberOf(text.sort),
           meanings_->NumberOf(text.details), text.cost}};
}

void DiffSide::AddCall(const CommCall& call, const Op& op, uint32_t index, int rank,
                       ProgramPieces* out) const {
  static const std::vector<int> kNobody;
  const std::vector<int>* members = GroupOf(op.role, rank);
  if (members == nullptr) members = &kNobody;
  const auto member_at = [members](int position) {
    const auto at = static_cast<size_t>(position);
    return at < members->size() ? (*members)[at] : -1;
  };
  size_t part_index = 0;
  ForEachPart(call, [&](const CommCall& part) {
    const size_t at = part_index++;
    const auto add = [&](const TablePiece& table, Channel channel) {
      Piece piece = table.piece;
      piece.op = index;
      out->calls[std::move(channel)].push_back(piece);
    };
    if (part.collective != CollectiveType::kSendRecv) {
      return add(sent_[op.work][at], Channel{*members, OpKind::kCollective});
    }
    const int sender = member_at(part.root), receiver = member_at(part.peer);
    if (op.kind == OpKind::kSend || (op.kind == OpKind::kCollective && sender == rank)) {
      add(sent_[op.work][at], Channel{{receiver}, OpKind::kSend});
    }
    if (op.kind == OpKind::kRecv || (op.kind == OpKind::kCollective && receiver == rank)) {
      add(received_[op.work][at], Channel{{sender}, OpKind::kRecv});
    }
  });
}

ProgramPieces DiffSide::PiecesOf(int rank) const {
  ProgramPieces out;
  const Program& program = ProgramOf(rank);
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const auto add = [&](const TablePiece& table) {
      Piece piece = table.piece;
      piece.op = i;
      out.of[static_cast<size_t>(table.kind)].push_back(piece);
    };
    if (op.kind == OpKind::kCompute) {
      for (const uint32_t s : w.blocks[op.work].submodules) {
        for (const TablePiece& piece : submodules_[s]) add(piece);
      }
    } else if (UsesMemory(op.kind)) {
      add((op.kind == OpKind::kLoad    ? loads_
           : op.kind == OpKind::kStore ? stores_
                                       : host_works_)[op.work]);
    } else {
      AddCall(w.calls[op.work], op, i, rank, &out);
    }
  }
  return out;
}

}  // namespace drydock
