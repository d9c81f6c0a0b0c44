#include "workload-gen/graph/diff/piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "core/model/calls/grouped_call.h"
#include "workload-gen/graph/text/workload_text.h"

namespace drydock {
namespace {

// " accumulate_fp32 bias": the flags that are set.
std::string FlagsOf(const SubmoduleWork& work) {
  std::string text;
  ForEachField(work, [&text](submodule::Field, std::string_view name, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const bool&>) {
      if (value) text += fmt::format("{}{}", text.empty() ? "" : " ", name);
    }
  });
  return text;
}

std::string ExtentsOf(const SubmoduleWork& work) {
  std::string text;
  ForEachField(work, [&text](submodule::Field, std::string_view name, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const int64_t&>) {
      if (value != 0) text += fmt::format(" {} {}", name, value);
    }
  });
  return text;
}

std::string PassText(Pass pass) {
  return pass == Pass::kNone ? "" : " " + PassNames()[static_cast<size_t>(pass)];
}

class Split {
 public:
  explicit Split(const Submodule& submodule) : s_(submodule) {}

  std::vector<PieceText> Pieces() {
    std::visit([this](const auto& work) { Of(work); }, s_.work);
    return std::move(pieces_);
  }

 private:
  void Product(int64_t batch, int64_t m, int64_t n, int64_t k) {
    PieceText piece;
    piece.kind = PieceKind::kProduct;
    piece.meaning = fmt::format("product {} x {} x {} {}", std::min(m, n), std::max(m, n), k,
                                ToString(s_.type));
    if (batch != 1) piece.meaning += fmt::format(", batch of {}", batch);
    piece.sort = piece.meaning;
    piece.details = FlagsOf(s_.work);
    piece.cost = 2.0 * static_cast<double>(batch) * static_cast<double>(m) *
                 static_cast<double>(n) * static_cast<double>(k);
    pieces_.push_back(std::move(piece));
  }

  // The product of a linear layer, and those of its gradients.
  void Layer(int64_t batch, int64_t rows, int64_t n, int64_t k) {
    const bool both = s_.pass == Pass::kBackward;
    if (both || s_.pass == Pass::kBackwardActivation) Product(batch, rows, k, n);
    if (both || s_.pass == Pass::kBackwardWeight) Product(batch, n, k, rows);
    if (s_.pass == Pass::kForward || s_.pass == Pass::kNone) Product(batch, rows, n, k);
  }

  void Of(const submodule::Linear& work) { Layer(1, work.rows, work.n, work.k); }
  void Of(const submodule::Router& work) { Layer(1, work.rows, work.n, work.k); }

  // One kernel for all experts is a batch. Else each expert's product is a piece.
  void Of(const submodule::GroupedLinear& work) {
    const int64_t experts = std::max<int64_t>(work.experts, 1), rows = work.rows / experts;
    if (work.one_kernel) return Layer(experts, rows, work.n, work.k);
    Layer(1, rows, work.n, work.k);
    const std::vector<PieceText> one = pieces_;
    pieces_.clear();
    pieces_.reserve(one.size() * static_cast<size_t>(experts));
    for (int64_t e = 0; e < experts; ++e) pieces_.insert(pieces_.end(), one.begin(), one.end());
  }

  void Of(const submodule::Attention& work) {
    const int64_t batch = work.batch * work.heads, queries = work.sequence, keys = work.keys();
    const bool backward = s_.pass != Pass::kForward && s_.pass != Pass::kNone;
    if (!work.fused) {
      const int64_t width = work.head_dim, values = work.value_width();
      if (backward) {
        Product(batch, keys, values, queries);  // gradient of the values
        Product(batch, queries, keys, values);  // of the probabilities
        Product(batch, queries, width, keys);   // of the queries
        Product(batch, keys, width, queries);   // of the keys
      } else {
        Product(batch, queries, keys, width);
        Product(batch, queries, values, keys);
      }
      return Other(fmt::format("softmax of {} x {} x {}", batch, queries, keys));
    }
    PieceText piece;
    piece.kind = PieceKind::kAttention;
    piece.sort = fmt::format("attention{}", PassText(backward ? Pass::kBackward : Pass::kForward));
    piece.meaning =
        fmt::format("{} {}, batch {}, {} heads of {}, {} of keys", piece.sort, ToString(s_.type),
                    work.batch, work.heads, work.head_dim, work.kv_heads);
    if (work.value_width() != work.head_dim) {
      piece.meaning += fmt::format(", values of {}", work.value_width());
    }
    piece.meaning +=
        fmt::format(", {} queries, {} keys{}", queries, keys, work.causal ? ", causal" : "");
    piece.details = work.dropout ? "dropout" : "";
    piece.cost = s_.flops;
    pieces_.push_back(std::move(piece));
  }

  void Of(const submodule::FixedDuration& work) { Other(ToString(work.duration)); }
  void Of(const submodule::FlopsAndBytes&) { Other(fmt::format("{} FLOP", s_.flops)); }
  void Of(const auto&) { Other(ExtentsOf(s_.work)); }

  void Other(const std::string& extents) {
    PieceText piece;
    piece.sort = s_.kind_name() + PassText(s_.pass);
    piece.meaning = fmt::format("{} {}, {}{}{}", piece.sort, ToString(s_.type), ToString(s_.bytes),
                                extents.empty() || extents[0] == ' ' ? "," : ", ", extents);
    if (piece.meaning.ends_with(",")) piece.meaning.pop_back();
    piece.details = FlagsOf(s_.work);
    piece.cost = static_cast<double>(s_.bytes.count());
    pieces_.push_back(std::move(piece));
  }

  const Submodule& s_;
  std::vector<PieceText> pieces_;
};

// FNV-1a, to tell tables of all-to-all-v apart in a short text.
uint64_t Fingerprint(const std::vector<int64_t>& numbers) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const int64_t number : numbers) {
    hash = (hash ^ static_cast<uint64_t>(number)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

std::vector<PieceText> PiecesOf(const Submodule& submodule) { return Split(submodule).Pieces(); }

PieceText PieceOf(const MemoryTransfer& transfer, OpKind kind) {
  PieceText piece;
  piece.kind = PieceKind::kTransfer;
  piece.sort = OpKindName(kind) + " " + MemoryTierNames()[static_cast<size_t>(transfer.tier)];
  piece.meaning = fmt::format("{}, {} bytes", piece.sort, transfer.bytes.count());
  if (transfer.time > Time()) piece.meaning += " for " + ToString(transfer.time);
  piece.cost = static_cast<double>(transfer.bytes.count());
  return piece;
}

PieceText PieceOf(const CommCall& call, OpKind kind) {
  PieceText piece;
  piece.kind = PieceKind::kCall;
  const bool message = call.collective == CollectiveType::kSendRecv;
  piece.sort =
      message ? OpKindName(kind) : CollectiveTypeNames()[static_cast<size_t>(call.collective)];
  piece.meaning = fmt::format("{} {} x {} = {}", piece.sort, call.count, ToString(call.type),
                              ToString(call.bytes()));
  if (!message) {
    if (call.op != ReduceOp::kSum) {
      piece.meaning += " " + ReduceOpNames()[static_cast<size_t>(call.op)];
    }
    piece.meaning += fmt::format(" over {}", call.group_size);
    if (HasRoot(call.collective)) piece.meaning += fmt::format(" from member {}", call.root);
    if (!call.pair_counts.empty()) {
      piece.meaning += fmt::format(", pairs {:016x}", Fingerprint(call.pair_counts));
    }
  }
  piece.meaning += BuffersText(call);
  if (call.sms > 0) piece.meaning += fmt::format(", {} SMs", call.sms);
  piece.details = call.in_place && !message ? "in place" : "";
  piece.cost = static_cast<double>(call.bytes().count());
  return piece;
}

}  // namespace drydock
