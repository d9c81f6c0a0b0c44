#include "workload-gen/graph/text/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"
#include "core/schema/artefacts/trace_file.h"
#include "workload-gen/graph/text/sequence_diff.h"

namespace drydock {
namespace {

std::string MeaningOf(const Submodule& submodule) { return FactsOf(submodule); }

std::string MeaningOf(const CommCall& call) {
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {}", static_cast<int>(call.collective),
                                 static_cast<int>(call.type), static_cast<int>(call.op), call.count,
                                 call.root, call.peer, call.group_size, call.in_place,
                                 static_cast<int>(call.buffers), call.sms);
  for (const int64_t count : call.pair_counts) text += fmt::format(" {}", count);
  for (const CommCall& part : call.parts) text += fmt::format(" ({})", MeaningOf(part));
  return text;
}

std::string MeaningOf(const MemoryTransfer& transfer) {
  return fmt::format("{} {} {} {}", transfer.name, static_cast<int>(transfer.tier),
                     transfer.bytes.count(), transfer.time.ps());
}

std::string LaunchText(const HostLaunch& launch) {
  return fmt::format("'{}' {} {} {} {} {} {} {} {} {} {}", launch.name, ToString(launch.kernel),
                     ToString(launch.backward_kernel), ToString(launch.collective),
                     ToString(launch.message), ToString(launch.graph), ToString(launch.loop),
                     ToString(launch.wait), ToString(launch.latency), launch.queue,
                     ToString(launch.expert));
}

std::string MemoryText(const Workload& w, size_t rank_class) {
  if (w.memory.empty()) return "unknown";
  std::string text;
  for (const MemoryPart& part : w.memory[rank_class]) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.name, ToString(part.bytes));
  }
  return text;
}

// Assigns one number per distinct text, over both workloads.
class Meanings {
 public:
  uint32_t NumberOf(const std::string& text) {
    return known_.emplace(text, static_cast<uint32_t>(known_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> known_;
};

// One of the two workloads, with the meanings of its work and programs.
class Side {
 public:
  Side(const Workload& workload, Meanings* meanings) : w(workload), meanings_(meanings) {
    for (const ComputeBlock& block : w.blocks) {
      std::string text = "block " + block.name;
      for (const uint32_t s : block.submodules) text += " | " + MeaningOf(w.submodules[s]);
      blocks_.push_back(meanings->NumberOf(text));
    }
    for (const CommCall& call : w.calls) {
      calls_.push_back(meanings->NumberOf("call " + MeaningOf(call)));
    }
    for (const MemoryTransfer& transfer : w.transfers) {
      transfers_.push_back(meanings->NumberOf("transfer " + MeaningOf(transfer)));
    }
  }

  // By op.
  std::vector<uint32_t> Program(size_t rank_class) const {
    std::vector<uint32_t> out;
    for (const Op& op : w.programs[rank_class].ops) {
      out.push_back(meanings_->NumberOf(fmt::format(
          "{} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(op.kind), static_cast<int>(op.phase),
          w.streams[op.stream], IsCommunication(op.kind) ? w.roles[op.role].name : "",
          WorksOf(op.kind)[op.work], op.tag, op.layer, op.microbatch, op.chunk,
          static_cast<int>(op.host_waits), static_cast<int>(op.graph))));
    }
    return out;
  }

  const std::vector<uint32_t>& WorksOf(OpKind kind) const {
    if (UsesMemory(kind)) return transfers_;
    return kind == OpKind::kCompute ? blocks_ : calls_;
  }

  const std::vector<int>* GroupOf(const std::string& role, size_t rank) const {
    for (size_t r = 0; r < w.roles.size(); ++r) {
      if (w.roles[r].name != role) continue;
      const int group = w.group_of_rank[r][rank];
      return group < 0 ? nullptr : &w.groups[static_cast<size_t>(group)].ranks;
    }
    return nullptr;
  }

  const Workload& w;

 private:
  Meanings* meanings_;
  std::vector<uint32_t> blocks_, calls_, transfers_;
};

class Comparison {
 public:
  Comparison(const Workload& a, const Workload& b, const DiffOptions& options)
      : options_(options), a_(a, &meanings_), b_(b, &meanings_) {}

  std::vector<std::string> Run() {
    Totals();
    if (a_.w.rank_count() != b_.w.rank_count()) {
      Add("ranks: {} and {}", a_.w.rank_count(), b_.w.rank_count());
    }
    Groups();
    Programs();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    out_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename T>
  void Compare(const char* what, const T& a, const T& b) {
    if (a != b) Add("{}: {} and {}", what, a, b);
  }

  void Totals() {
    const WorkloadTotals &a = a_.w.totals, &b = b_.w.totals;
    Compare("model", a.model_name, b.model_name);
    Compare("layout", a.layout, b.layout);
    Compare("parameters", a.parameters, b.parameters);
    Compare("tokens", a.tokens, b.tokens);
    Compare("model FLOP", a.model_flops, b.model_flops);
    Compare("hardware FLOP", a.hardware_flops, b.hardware_flops);
    Compare("precision", ToString(a.precision), ToString(b.precision));
    Compare("launches", LaunchText(a_.w.launch), LaunchText(b_.w.launch));
  }

  static std::string RanksOf(const std::vector<int>* ranks) {
    return ranks == nullptr ? "none" : RanksText(*ranks);
  }

  // By role: the first rank whose group has other members, and the number of such ranks.
  void Groups() {
    std::set<std::string> roles;
    for (const GroupRole& role : a_.w.roles) roles.insert(role.name);
    for (const GroupRole& role : b_.w.roles) roles.insert(role.name);
    const auto ranks = static_cast<size_t>(std::min(a_.w.rank_count(), b_.w.rank_count()));
    for (const std::string& role : roles) {
      size_t differing = 0, first = 0;
      for (size_t rank = 0; rank < ranks; ++rank) {
        const std::vector<int>*one = a_.GroupOf(role, rank), *other = b_.GroupOf(role, rank);
        const bool same = one == nullptr || other == nullptr ? one == other : *one == *other;
        if (!same && ++differing == 1) first = rank;
      }
      if (differing == 0) continue;
      Add("role {}: {} ranks are in other groups; rank {} with {} and {}", role, differing, first,
          RanksOf(a_.GroupOf(role, first)), RanksOf(b_.GroupOf(role, first)));
    }
  }

  void Programs() {
    struct Pair {
      size_t first_rank = 0, ranks = 0;
    };
    std::map<std::pair<int, int>, Pair> pairs;
    const auto ranks = static_cast<size_t>(std::min(a_.w.rank_count(), b_.w.rank_count()));
    for (size_t rank = 0; rank < ranks; ++rank) {
      const std::pair<int, int> classes(a_.w.class_of_rank[rank], b_.w.class_of_rank[rank]);
      Pair& pair = pairs.try_emplace(classes, Pair{rank, 0}).first->second;
      ++pair.ranks;
    }
    for (const auto& [classes, pair] : pairs) {
      ComparePrograms(static_cast<size_t>(classes.first), static_cast<size_t>(classes.second),
                      pair.first_rank, pair.ranks);
    }
  }

  void ComparePrograms(size_t ca, size_t cb, size_t rank, size_t ranks) {
    if (const std::string one = MemoryText(a_.w, ca), other = MemoryText(b_.w, cb); one != other) {
      Add("memory of rank {}: {} and {}", rank, one, other);
    }
    const std::vector<uint32_t> a = a_.Program(ca), b = b_.Program(cb);
    const auto pairs = MatchSequences(a, b);
    std::vector<std::string> lines;
    size_t ia = 0, ib = 0;
    const auto skip = [&](size_t to_a, size_t to_b) {
      for (; ia < to_a; ++ia) lines.push_back("- " + OpText(a_, ca, ia));
      for (; ib < to_b; ++ib) lines.push_back("+ " + OpText(b_, cb, ib));
    };
    std::vector<uint32_t> in_b(a.size(), UINT32_MAX), in_a(b.size(), UINT32_MAX);
    for (const auto& [x, y] : pairs) {
      in_b[x] = y;
      in_a[y] = x;
    }
    for (const auto& [x, y] : pairs) {
      skip(x, y);
      ++ia;
      ++ib;
      CompareDependencies(ca, cb, x, y, in_b, in_a, &lines);
    }
    skip(a.size(), b.size());
    if (lines.empty()) return;
    Add("rank {}{}: {} differences in {} and {} ops", rank,
        ranks > 1 ? fmt::format(" and {} more", ranks - 1) : "", lines.size(), a.size(), b.size());
    for (size_t i = 0; i < std::min(lines.size(), options_.shown); ++i) Add("  {}", lines[i]);
    if (lines.size() > options_.shown) Add("  ... and {} more", lines.size() - options_.shown);
  }

  static std::string OpText(const Side& side, size_t rank_class, size_t op) {
    const Op& the_op = side.w.programs[rank_class].ops[op];
    std::string text =
        fmt::format("op {}: {} on {}", op, OpName(side.w, the_op), side.w.streams[the_op.stream]);
    if (IsCommunication(the_op.kind)) {
      text += ", " + NameOf(side.w.calls[the_op.work]);
    }
    return text;
  }

  // Reports dependencies that only one of two equal ops has, among ops of both workloads.
  void CompareDependencies(size_t ca, size_t cb, uint32_t x, uint32_t y,
                           const std::vector<uint32_t>& in_b, const std::vector<uint32_t>& in_a,
                           std::vector<std::string>* lines) const {
    std::set<uint32_t> left, right;  // indices in a
    for (const uint32_t before : a_.w.programs[ca].dependencies(x)) {
      if (in_b[before] != UINT32_MAX) left.insert(before);
    }
    for (const uint32_t before : b_.w.programs[cb].dependencies(y)) {
      if (in_a[before] != UINT32_MAX) right.insert(in_a[before]);
    }
    if (left == right) return;
    const auto only = [](const std::set<uint32_t>& of, const std::set<uint32_t>& not_of) {
      std::string text;
      for (const uint32_t before : of) {
        if (not_of.count(before) == 0)
          text += fmt::format("{}{}", text.empty() ? "" : ", ", before);
      }
      return text.empty() ? "nothing" : "op " + text;
    };
    lines->push_back(fmt::format("! {} waits for {} in the first, {} in the second",
                                 OpText(a_, ca, x), only(left, right), only(right, left)));
  }

  const DiffOptions& options_;
  Meanings meanings_;
  Side a_, b_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> Differences(const Workload& a, const Workload& b,
                                     const DiffOptions& options) {
  return Comparison(a, b, options).Run();
}

}  // namespace drydock
