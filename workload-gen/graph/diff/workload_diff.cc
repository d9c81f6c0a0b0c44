#include "workload-gen/graph/diff/workload_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/model/calls/rank_list.h"
#include "core/schema/artefacts/trace_file.h"
#include "workload-gen/graph/diff/diff_side.h"
#include "workload-gen/graph/diff/meanings.h"
#include "workload-gen/graph/diff/op_order.h"
#include "workload-gen/graph/diff/piece_match.h"
#include "workload-gen/graph/diff/rank_pairs.h"

namespace drydock {
namespace {

constexpr DiffSubject kSubjectOfPiece[] = {DiffSubject::kCalls, DiffSubject::kProducts,
                                           DiffSubject::kAttention, DiffSubject::kOtherCompute,
                                           DiffSubject::kTransfers};

// Collects equal differences.
class Findings {
 public:
  void Equal(DiffSubject subject, int64_t times = 1) { CountOf(subject).equal += times; }

  // Returns the entry of a difference that occurs once more. If it is new, its places are empty.
  Difference& Add(DiffSubject subject, std::string a, std::string b, std::string note,
                  int64_t ranks, double cost) {
    DiffCount& count = CountOf(subject);
    ++(a.empty() ? count.only_b : b.empty() ? count.only_a : count.differ);
    const auto [entry, is_new] =
        index_.try_emplace({subject, std::move(a), std::move(b), std::move(note)}, all_.size());
    if (is_new) {
      const auto& [its_subject, its_a, its_b, its_note] = entry->first;
      Difference difference;
      difference.subject = its_subject;
      difference.a = its_a;
      difference.b = its_b;
      difference.note = its_note;
      all_.push_back(std::move(difference));
    }
    Difference& difference = all_[entry->second];
    ++difference.times;
    difference.rank_times += ranks;
    difference.cost += cost * static_cast<double>(ranks);
    ++total_;
    return difference;
  }

  int64_t total() const { return total_; }

  void MoveTo(WorkloadDiff* diff) {
    std::copy(std::begin(counts_), std::end(counts_), std::begin(diff->counts));
    std::stable_sort(all_.begin(), all_.end(), [](const Difference& x, const Difference& y) {
      if (x.subject != y.subject) return x.subject < y.subject;
      if (x.cost != y.cost) return x.cost > y.cost;
      return x.rank_times > y.rank_times;
    });
    diff->differences = std::move(all_);
  }

 private:
  DiffCount& CountOf(DiffSubject subject) { return counts_[static_cast<size_t>(subject)]; }

  DiffCount counts_[kDiffSubjectCount];
  std::map<std::tuple<DiffSubject, std::string, std::string, std::string>, size_t> index_;
  std::vector<Difference> all_;
  int64_t total_ = 0;
};

std::string PlaceText(const Workload& w, const Op& op) {
  std::string text = PhaseNames()[static_cast<size_t>(op.phase)];
  if (op.microbatch >= 0) text += fmt::format(" micro-batch {}", op.microbatch);
  if (op.layer >= 0) text += fmt::format(" layer {}", op.layer);
  std::string name;
  if (op.kind == OpKind::kCompute) {
    name = w.blocks[op.work].name;
  } else if (UsesMemory(op.kind)) {
    name = w.transfers[op.work].name;
  } else {
    name = "'" + w.roles[op.role].name + "'";
  }
  return text + fmt::format(", {} on {}", name, w.streams[op.stream]);
}

std::string ChannelText(const Channel& channel) {
  const std::string ranks = RanksText(channel.ranks);
  if (channel.kind == OpKind::kCollective) return ", ranks " + ranks;
  return (channel.kind == OpKind::kSend ? " to rank " : " from rank ") + ranks;
}

// One rank of both workloads.
class PairComparison {
 public:
  PairComparison(const DiffSide& a, const DiffSide& b, const Meanings& meanings,
                 const RankPair& pair, Findings* findings, std::set<std::string>* notes)
      : a_(a), b_(b), meanings_(meanings), pair_(pair), findings_(*findings), notes_(*notes) {
    const bool phases = a.has_phases && b.has_phases;
    const bool layers = a.has_layers && b.has_layers;
    const bool microbatches = a.has_microbatches && b.has_microbatches;
    keys_a_ = {&a.ProgramOf(pair.rank), layers, microbatches, phases};
    keys_b_ = {&b.ProgramOf(pair.rank), layers, microbatches, phases};
  }

  void Run() {
    matched_a_.assign(keys_a_.program->ops.size(), {});
    matched_b_.assign(keys_b_.program->ops.size(), {});
    ProgramPieces in_a = a_.PiecesOf(pair_.rank), in_b = b_.PiecesOf(pair_.rank);
    CompareCalls(in_a, in_b);
    for (int kind = 1; kind < kPieceKindCount; ++kind) {
      const auto at = static_cast<size_t>(kind);
      ComparePieces(static_cast<PieceKind>(kind), in_a.of[at], in_b.of[at]);
      in_a.of[at] = {};
      in_b.of[at] = {};
    }
    CompareLaunches();
    if (!OpOrder::IsSmall(*keys_a_.program) || !OpOrder::IsSmall(*keys_b_.program)) {
      notes_.insert(
          "what calls and products start after, and what hosts wait for, is not compared: "
          "the programs have too many ops on too many streams");
      return;
    }
    CompareOrder();
  }

 private:
  struct Pairing {
    uint32_t op_a = 0, op_b = 0;
    DiffSubject subject = DiffSubject::kCallStarts;
    uint32_t meaning = 0;
    const Channel* channel = nullptr;  // of calls
    double cost = 0;
  };

  DiffPlace PlaceIn(const DiffSide& side, const PlaceKeys& keys, uint32_t op) const {
    return {pair_.rank, op, PlaceText(side.w, keys.program->ops[op])};
  }

  void CompareCalls(const ProgramPieces& in_a, const ProgramPieces& in_b) {
    static const std::vector<Piece> kNone;
    std::set<Channel> all;
    for (const auto& [channel, pieces] : in_a.calls) all.insert(channel);
    for (const auto& [channel, pieces] : in_b.calls) all.insert(channel);
    for (const Channel& each : all) {
      channels_.push_back(std::make_unique<Channel>(each));
      const Channel& channel = *channels_.back();
      const auto a = in_a.calls.find(channel), b = in_b.calls.find(channel);
      channel_ = &channel;
      ComparePieces(PieceKind::kCall, a == in_a.calls.end() ? kNone : a->second,
                    b == in_b.calls.end() ? kNone : b->second);
      channel_ = nullptr;
    }
  }

  // Texts of calls have the number of members, so that equal differences of many groups are one.
  // The places name the members.
  std::string TextOf(const Piece& piece) const { return meanings_.TextOf(piece.meaning); }

  void ComparePieces(PieceKind kind, const std::vector<Piece>& a, const std::vector<Piece>& b) {
    const DiffSubject subject = kSubjectOfPiece[static_cast<size_t>(kind)];
    const PieceMatch match = MatchPieces(a, keys_a_, b, keys_b_);
    for (size_t i = 0; i < match.same.size(); ++i) {
      const Piece &x = a[match.same[i].first], &y = b[match.same[i].second];
      Pair(kind, x, y);
      std::string note;
      if (kind == PieceKind::kCall && match.moved[i]) note = "in another order";
      const Phase phase_a = keys_a_.program->ops[x.op].phase;
      const Phase phase_b = keys_b_.program->ops[y.op].phase;
      if (keys_a_.phases && phase_a != phase_b && kind != PieceKind::kCall) {
        note = fmt::format("{} in A, {} in B", PhaseNames()[static_cast<size_t>(phase_a)],
                           PhaseNames()[static_cast<size_t>(phase_b)]);
      }
      if (x.details != y.details) {
        note += fmt::format("{}A has '{}', B has '{}'", note.empty() ? "" : "; ",
                            meanings_.TextOf(x.details), meanings_.TextOf(y.details));
      }
      if (note.empty()) {
        findings_.Equal(subject);
        continue;
      }
      Report(subject, TextOf(x), TextOf(y), note, x.cost, x.op, y.op);
    }
    for (const auto& [i, j] : match.changed) {
      Report(subject, TextOf(a[i]), TextOf(b[j]), "", std::max(a[i].cost, b[j].cost), a[i].op,
             b[j].op);
    }
    for (const uint32_t i : match.only_a) {
      Report(subject, TextOf(a[i]), "", "", a[i].cost, a[i].op, std::nullopt);
    }
    for (const uint32_t j : match.only_b) {
      Report(subject, "", TextOf(b[j]), "", b[j].cost, std::nullopt, b[j].op);
    }
  }

  void Report(DiffSubject subject, std::string a, std::string b, std::string note, double cost,
              std::optional<uint32_t> op_a, std::optional<uint32_t> op_b) {
    Difference& difference =
        findings_.Add(subject, std::move(a), std::move(b), std::move(note), pair_.ranks, cost);
    if (difference.times > 1) return;
    const std::string members = channel_ == nullptr ? "" : ChannelText(*channel_);
    if (op_a) {
      difference.at_a = PlaceIn(a_, keys_a_, *op_a);
      difference.at_a.text += members;
    }
    if (op_b) {
      difference.at_b = PlaceIn(b_, keys_b_, *op_b);
      difference.at_b.text += members;
    }
  }

  // Notes that two pieces are one. Other compute orders nothing: its kernels may be cut otherwise.
  void Pair(PieceKind kind, const Piece& x, const Piece& y) {
    if (kind == PieceKind::kOtherCompute) return;
    Pairing pairing;
    pairing.op_a = x.op;
    pairing.op_b = y.op;
    pairing.subject =
        kind == PieceKind::kCall ? DiffSubject::kCallStarts : DiffSubject::kComputeStarts;
    pairing.meaning = x.meaning;
    pairing.channel = channel_;
    pairing.cost = x.cost;
    const auto number = static_cast<uint32_t>(pairings_.size());
    pairings_.push_back(std::move(pairing));
    matched_a_[x.op].push_back(number);
    matched_b_[y.op].push_back(number);
  }

  void CompareLaunches() {
    const auto count = [](const Program& program, GraphPart part) {
      return std::count_if(program.ops.begin(), program.ops.end(),
                           [part](const Op& op) { return op.graph == part; });
    };
    const std::pair<GraphPart, const char*> parts[] = {
        {GraphPart::kFirst, "launches of CUDA graphs"},
        {GraphPart::kRest, "other ops in CUDA graphs"},
        {GraphPart::kLoop, "ops launched by loops without Python"}};
    for (const auto& [part, name] : parts) {
      const auto a = count(*keys_a_.program, part), b = count(*keys_b_.program, part);
      if (a == 0 && b == 0) continue;
      if (a == b) {
        findings_.Equal(DiffSubject::kLaunches);
      } else {
        Difference& difference =
            findings_.Add(DiffSubject::kLaunches, fmt::format("{} {}", a, name),
                          fmt::format("{} {}", b, name), "", pair_.ranks, 0);
        if (difference.times == 1) difference.at_a.rank = difference.at_b.rank = pair_.rank;
      }
    }
  }

  // What comes before a piece, as numbers of pairings: the previous piece of its op, or the last
  // pieces of the nearest ops.
  static std::vector<uint32_t> Before(const std::vector<std::vector<uint32_t>>& matched,
                                      const OpOrder& order, uint32_t op, uint32_t pairing) {
    const std::vector<uint32_t>& own = matched[op];
    const auto at = std::find(own.begin(), own.end(), pairing);
    if (at != own.begin()) return {*std::prev(at)};
    return LastOf(matched, order.NearestBefore(op));
  }
  static std::vector<uint32_t> LastOf(const std::vector<std::vector<uint32_t>>& matched,
                                      const std::vector<uint32_t>& ops) {
    std::vector<uint32_t> out;
    out.reserve(ops.size());
    for (const uint32_t each : ops) out.push_back(matched[each].back());
    std::sort(out.begin(), out.end());
    return out;
  }

  static OpOrder OrderOf(const Program& program,
                         const std::vector<std::vector<uint32_t>>& matched) {
    OpOrder order(program);
    std::vector<bool> chosen(program.ops.size());
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = !matched[i].empty();
    order.Choose(chosen);
    return order;
  }

  // "product ..., all-reduce ...": what one list has more than the other.
  std::string MoreIn(const std::vector<uint32_t>& list, const std::vector<uint32_t>& other) const {
    std::map<std::string, int> texts;
    for (const uint32_t each : list) {
      if (std::binary_search(other.begin(), other.end(), each)) continue;
      ++texts[meanings_.TextOf(pairings_[each].meaning)];
    }
    std::string out;
    for (const auto& [text, times] : texts) {
      out += fmt::format("{}{}{}", out.empty() ? "" : " and ",
                         times > 1 ? fmt::format("{} times ", times) : "", text);
    }
    return out.empty() ? "nothing more" : out;
  }

  void CompareOrder() {
    const auto by_op = [this](bool in_a) {
      return [this, in_a](uint32_t x, uint32_t y) {
        const Pairing &p = pairings_[x], &q = pairings_[y];
        return std::tuple(in_a ? p.op_b : p.op_a, x) < std::tuple(in_a ? q.op_b : q.op_a, y);
      };
    };
    // Pieces of one op have the order of the other side, if that has them in several ops.
    for (auto& list : matched_a_) std::sort(list.begin(), list.end(), by_op(true));
    for (auto& list : matched_b_) std::sort(list.begin(), list.end(), by_op(false));
    const OpOrder order_a = OrderOf(*keys_a_.program, matched_a_);
    const OpOrder order_b = OrderOf(*keys_b_.program, matched_b_);
    for (uint32_t i = 0; i < pairings_.size(); ++i) {
      const Pairing& p = pairings_[i];
      const std::vector<uint32_t> a = Before(matched_a_, order_a, p.op_a, i);
      const std::vector<uint32_t> b = Before(matched_b_, order_b, p.op_b, i);
      if (a == b) {
        findings_.Equal(p.subject);
        continue;
      }
      channel_ = p.channel;
      const std::string more = "after " + MoreIn(a, b);
      std::string others = "after " + MoreIn(b, a);
      if (others == more) others += " (another one)";
      Report(p.subject, more, others, meanings_.TextOf(p.meaning) + " starts", p.cost, p.op_a,
             p.op_b);
      channel_ = nullptr;
    }
    CompareHostWaits(order_a, order_b);
  }

  struct Waits {
    std::vector<Piece> pieces;
    std::vector<std::vector<uint32_t>> after;  // by piece
  };
  static Waits WaitsOf(const Program& program, const OpOrder& order,
                       const std::vector<std::vector<uint32_t>>& matched) {
    Waits waits;
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      if (program.ops[i].host_waits == HostWait::kNothing) continue;
      Piece piece;
      piece.op = i;
      piece.meaning = piece.sort = static_cast<uint32_t>(program.ops[i].host_waits);
      waits.pieces.push_back(piece);
      waits.after.push_back(LastOf(matched, order.NearestBeforeHost(i)));
    }
    return waits;
  }

  void CompareHostWaits(const OpOrder& order_a, const OpOrder& order_b) {
    const Waits a = WaitsOf(*keys_a_.program, order_a, matched_a_);
    const Waits b = WaitsOf(*keys_b_.program, order_b, matched_b_);
    const PieceMatch match = MatchPieces(a.pieces, keys_a_, b.pieces, keys_b_);
    constexpr const char* kWaits[] = {"", "host reads a value", "host synchronizes the device"};
    const auto text = [&kWaits](const Piece& piece) { return kWaits[piece.meaning]; };
    for (const auto& [i, j] : match.same) {
      if (a.after[i] == b.after[j]) {
        findings_.Equal(DiffSubject::kHostWaits);
        continue;
      }
      Report(DiffSubject::kHostWaits, "after " + MoreIn(a.after[i], b.after[j]),
             "after " + MoreIn(b.after[j], a.after[i]), text(a.pieces[i]), 0, a.pieces[i].op,
             b.pieces[j].op);
    }
    for (const uint32_t i : match.only_a) {
      Report(DiffSubject::kHostWaits, text(a.pieces[i]), "", "", 0, a.pieces[i].op, std::nullopt);
    }
    for (const uint32_t j : match.only_b) {
      Report(DiffSubject::kHostWaits, "", text(b.pieces[j]), "", 0, std::nullopt, b.pieces[j].op);
    }
  }

  const DiffSide &a_, &b_;
  const Meanings& meanings_;
  const RankPair& pair_;
  Findings& findings_;
  std::set<std::string>& notes_;
  PlaceKeys keys_a_, keys_b_;
  std::vector<std::unique_ptr<Channel>> channels_;
  const Channel* channel_ = nullptr;  // of the calls that are being compared
  std::vector<Pairing> pairings_;
  std::vector<std::vector<uint32_t>> matched_a_, matched_b_;  // by op: its pairings
};

// True if the values differ by at most `tolerance`, a share of the larger.
bool IsNear(Bytes a, Bytes b, double tolerance) {
  const auto x = static_cast<double>(a.count()), y = static_cast<double>(b.count());
  return std::abs(x - y) <= tolerance * std::max(x, y);
}

class Comparison {
 public:
  Comparison(const Workload& a, const Workload& b, const DiffOptions& options)
      : a_(a), b_(b), options_(options) {}

  WorkloadDiff Run() {
    WorkloadDiff diff;
    diff.ranks_a = a_.rank_count();
    diff.ranks_b = b_.rank_count();
    Totals();
    Meanings meanings;
    const DiffSide side_a(a_, &meanings), side_b(b_, &meanings);
    if (side_a.has_phases != side_b.has_phases) {
      notes_.insert(
          fmt::format("phases are not compared: {} has none", side_a.has_phases ? "B" : "A"));
    }
    for (const RankPair& pair : RankPairs(a_, b_)) {
      const int64_t before = findings_.total();
      Memory(pair);
      PairComparison(side_a, side_b, meanings, pair, &findings_, &notes_).Run();
      ++diff.compared_ranks;
      if (findings_.total() == before) diff.same_ranks += pair.ranks;
    }
    findings_.MoveTo(&diff);
    diff.notes.assign(notes_.begin(), notes_.end());
    return diff;
  }

 private:
  void Total(const char* name, const std::string& a, const std::string& b) {
    if (a == b) return findings_.Equal(DiffSubject::kTotals);
    findings_.Add(DiffSubject::kTotals, fmt::format("{} {}", name, a),
                  fmt::format("{} {}", name, b), "", 1, 0);
  }
  // A number that is 0 is unknown: a program that runs does not tell it.
  template <typename Number>
  void Known(const char* name, Number a, Number b) {
    if (a != Number() && b != Number())
      return Total(name, fmt::format("{}", a), fmt::format("{}", b));
    if (a != b)
      notes_.insert(
          fmt::format("{} are not compared: {} states none", name, a == Number() ? "A" : "B"));
  }

  static std::string LaunchText(const HostLaunch& launch) {
    return fmt::format(
        "'{}', kernel {}, backward {}, collective {}, message {}, graph {}, loop {}, "
        "wait {}, latency {}, queue {}, expert {}",
        launch.name, ToString(launch.kernel), ToString(launch.backward_kernel),
        ToString(launch.collective), ToString(launch.message), ToString(launch.graph),
        ToString(launch.loop), ToString(launch.wait), ToString(launch.latency), launch.queue,
        ToString(launch.expert));
  }

  void Totals() {
    Total("ranks", fmt::format("{}", a_.rank_count()), fmt::format("{}", b_.rank_count()));
    Known("parameters", a_.totals.parameters, b_.totals.parameters);
    Known("tokens", a_.totals.tokens, b_.totals.tokens);
    Known("model FLOP", a_.totals.model_flops, b_.totals.model_flops);
    Known("hardware FLOP", a_.totals.hardware_flops, b_.totals.hardware_flops);
    if (a_.launch.modeled() && b_.launch.modeled()) {
      Total("launches", LaunchText(a_.launch), LaunchText(b_.launch));
    } else if (a_.launch.modeled() != b_.launch.modeled()) {
      notes_.insert(fmt::format("costs of launches are not compared: {} states none",
                                a_.launch.modeled() ? "B" : "A"));
    }
  }

  void Size(const RankPair& pair, const std::string& name, Bytes a, Bytes b) {
    if (IsNear(a, b, options_.memory_tolerance)) return findings_.Equal(DiffSubject::kMemory);
    const auto cost = static_cast<double>(std::abs(a.count() - b.count()));
    Difference& difference =
        findings_.Add(DiffSubject::kMemory, fmt::format("{} {}", name, ToString(a)),
                      fmt::format("{} {}", name, ToString(b)), "", pair.ranks, cost);
    if (difference.times > 1) return;
    difference.at_a.rank = difference.at_b.rank = pair.rank;
  }

  void Memory(const RankPair& pair) {
    const auto rank = static_cast<size_t>(pair.rank);
    const auto ca = static_cast<size_t>(a_.class_of_rank[rank]);
    const auto cb = static_cast<size_t>(b_.class_of_rank[rank]);
    if (!a_.pytorch.empty() && !b_.pytorch.empty()) {
      Size(pair, "max_memory_allocated", a_.pytorch[ca].allocated, b_.pytorch[cb].allocated);
      Size(pair, "max_memory_reserved", a_.pytorch[ca].reserved, b_.pytorch[cb].reserved);
    } else if (a_.pytorch.empty() != b_.pytorch.empty()) {
      notes_.insert(fmt::format("PyTorch's memory is not compared: {} states none",
                                a_.pytorch.empty() ? "A" : "B"));
    }
    if (a_.memory.empty() != b_.memory.empty()) {
      notes_.insert(fmt::format("parts of memory are not compared: {} states none",
                                a_.memory.empty() ? "A" : "B"));
    }
    if (a_.memory.empty() || b_.memory.empty()) return;
    std::map<std::string, std::pair<Bytes, Bytes>> parts;
    for (const MemoryPart& part : a_.memory[ca]) parts[part.name].first = part.bytes;
    for (const MemoryPart& part : b_.memory[cb]) parts[part.name].second = part.bytes;
    for (const auto& [name, sizes] : parts) Size(pair, name, sizes.first, sizes.second);
  }

  const Workload &a_, &b_;
  const DiffOptions& options_;
  Findings findings_;
  std::set<std::string> notes_;
};

}  // namespace

const std::vector<std::string>& DiffSubjectNames() {
  static const std::vector<std::string> names = {
      "calls",           "products",           "attention",  "other compute", "loads, stores",
      "starts of calls", "starts of products", "host waits", "launches",      "memory",
      "totals"};
  return names;
}

WorkloadDiff CompareWorkloads(const Workload& a, const Workload& b, const DiffOptions& options) {
  return Comparison(a, b, options).Run();
}

}  // namespace drydock
