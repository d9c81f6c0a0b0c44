#include "capture/classes/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "capture/classes/role_names.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/model/calls/rank_list.h"

namespace drydock::capture {
namespace {

// "TP2, PP2, DP4": the sizes of the groups of one dimension each that rank 0 is in.
std::string LayoutOf(const WorldGroups& groups) {
  std::vector<std::pair<std::string, int>> sizes;
  for (const char* name : {"tp", "pp", "cp", "ep", "dp", "dp-replicate", "dp-shard"}) {
    for (const Membership& own : groups.Of(0)) {
      const int size = groups.size_of(own.group);
      if (own.kind.ordinal > 0 || size < 2) continue;
      if (RoleOfDescription(own.kind.description).name == name) sizes.emplace_back(name, size);
    }
  }
  std::string layout;
  for (const auto& [name, size] : sizes) {
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    layout += fmt::format("{}{}, ", upper, size);
  }
  return layout;
}

// "rank 0", "ranks 0, 4"
std::string NameRanks(const std::set<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks",
                     RanksText(std::vector<int>(ranks.begin(), ranks.end())));
}

// Of the representatives of all classes.
std::map<std::string, TapeEstimate> EstimatesOf(const std::vector<WorldClass>& classes) {
  std::map<std::string, TapeEstimate> all;
  for (const WorldClass& of_ranks : classes) {
    for (const auto& [kernel, estimate] : of_ranks.tape->estimates) {
      TapeEstimate& sum = all[kernel];
      sum.launches += estimate.launches;
      sum.bytes += estimate.bytes;
      sum.unknown += estimate.unknown;
    }
  }
  return all;
}

// Products of the representatives that no model of kernels knows, by type.
std::map<DataType, size_t> ProductsAtRates(const std::vector<WorldClass>& classes) {
  std::map<DataType, size_t> count;
  for (const WorldClass& of_ranks : classes) {
    const ClassTape& tape = *of_ranks.tape;
    for (size_t i = 0; i < tape.entries.size(); ++i) {
      if (tape.entries[i].kind != RecordKind::kWork || tape.places[i].transfer >= 0) continue;
      for (const uint32_t index : tape.blocks[tape.entries[i].count].submodules) {
        const Submodule& submodule = tape.submodules[index];
        if (submodule.Is<submodule::FlopsAndBytes>()) ++count[submodule.type];
      }
    }
  }
  return count;
}

// Of the representatives of all classes, the commonest first.
std::vector<TapeRead> ReadsOf(const std::vector<WorldClass>& classes) {
  std::vector<TapeRead> all;
  for (const WorldClass& of_ranks : classes) {
    for (const TapeRead& read : of_ranks.tape->reads) {
      const auto known = std::find_if(all.begin(), all.end(),
                                      [&](const TapeRead& other) { return other.IsLike(read); });
      if (known == all.end()) {
        all.push_back(read);
        continue;
      }
      known->count += read.count;
      if (known->value != read.value) known->value.clear();
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const TapeRead& a, const TapeRead& b) { return a.count > b.count; });
  return all;
}

// "train.py:41 reads fp32[] that depends on aten::sum of Float[4096,4096]; it is 0: 12 times"
std::string TextOf(const TapeRead& read) {
  std::string text =
      fmt::format("{} reads {}", read.line.empty() ? "a library" : read.line, read.shape);
  if (!read.origin.empty()) text += " that depends on " + read.origin;
  text += read.value.empty() ? "; it is zero or balanced" : fmt::format("; it is {}", read.value);
  return text + ": " + Plural(static_cast<size_t>(read.count), "time");
}

constexpr size_t kShownReads = 5;

}  // namespace

void CaptureSummary::Compare(const ClassTape& stands, const ClassTape& other) {
  const auto note = [](Bytes a, Bytes b, double* most) {
    if (a == b) return;
    const auto larger = static_cast<double>(std::max(a, b).count());
    *most = std::max(*most, std::abs(static_cast<double>((a - b).count())) / larger);
  };
  note(stands.optimizer, other.optimizer, &optimizer_differs);
  note(stands.memory.allocated, other.memory.allocated, &memory_differs);
}

std::string NameOfCommand(const std::vector<std::string>& command) {
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-m" && i + 1 < command.size()) return command[i + 1];
    if (command[i] == "-c") return "python -c";
    if (command[i] == "-W" || command[i] == "-X") {
      ++i;  // and its value
    } else if (!command[i].starts_with("-")) {
      return BaseName(command[i]);
    }
  }
  return command.empty() ? "" : BaseName(command.front());
}

void Describe(const std::vector<std::string>& command, const WorldGroups& groups,
              const std::vector<WorldClass>& classes, const CaptureSummary& summary,
              Workload* workload, std::vector<std::string>* notes) {
  size_t world = 0;
  for (const WorldClass& of_ranks : classes) world += of_ranks.ranks.size();
  WorkloadTotals& totals = workload->totals;
  totals.model_name = NameOfCommand(command);
  totals.layout = fmt::format("{}captured: {} in {}", LayoutOf(groups), Plural(world, "rank"),
                              Plural(classes.size(), "class"));
  const auto assume = [&](const char* name, std::string value) {
    workload->assumptions.push_back({name, std::move(value), ""});
  };
  assume("captured with", fmt::format("PyTorch {}", summary.torch_version));
  assume("iteration", std::to_string(summary.iteration));
  if (!summary.processor.empty()) {
    assume("host times", fmt::format("of this program on {}{}", summary.processor,
                                     summary.observed.empty() ? "" : ", some beside observers"));
  }
  if (!summary.observed.empty()) {
    notes->push_back(fmt::format(
        "the host's times of {} are those of a run that also records operators, and up to twice as "
        "long as they should be: without observers the program did something else",
        NameRanks(summary.observed)));
  }
  // No assumption: with more of them, the workload is the same.
  notes->push_back(fmt::format("{} of {} ran", summary.ranks_run, Plural(world, "rank")));
  for (const std::string& why : summary.splits) notes->push_back("classes are split: " + why);
  if (summary.optimizer_differs > 0 || summary.memory_differs > 0) {
    notes->push_back(fmt::format(
        "ranks of a class differ by up to {:.2f} % in what their optimizer moves and {:.2f} % in "
        "memory, as shards do; the first rank stands for all",
        100 * summary.optimizer_differs, 100 * summary.memory_differs));
  }
  const std::map<std::string, TapeEstimate> estimates = EstimatesOf(classes);
  TapeEstimate all;
  for (const auto& [kernel, estimate] : estimates) {
    all.launches += estimate.launches;
    all.unknown += estimate.unknown;
  }
  if (all.launches > 0) {
    const std::string text =
        fmt::format("{} of {}, by the bytes of their operators", Plural(all.launches, "launch"),
                    Plural(estimates.size(), "kernel"));
    assume("estimated kernels", text);
    notes->push_back("estimated: " + text);
  }
  for (const auto& [type, count] : ProductsAtRates(classes)) {
    const DataType rate = TypeOfRate(type, workload->topology);
    std::string text = fmt::format("{} of {} at the dense rate of {} that the GPU's file states",
                                   Plural(count, "product"), ToString(type), ToString(rate));
    if (rate != type) text += fmt::format(", as it states none of {}", ToString(type));
    assume("products without a model", text);
    notes->push_back("no model of kernels: " + text);
  }
  if (all.unknown > 0) {
    const std::string text =
        fmt::format("{}, as long as an empty kernel", Plural(all.unknown, "launch"));
    assume("unknown kernels", text);
    notes->push_back("unknown: " + text);
  }
  const std::vector<TapeRead> reads = ReadsOf(classes);
  if (!reads.empty()) {
    size_t count = 0;
    for (const TapeRead& read : reads) count += static_cast<size_t>(read.count);
    std::string text =
        fmt::format("{} by the host at {}", Plural(count, "read"), Plural(reads.size(), "place"));
    notes->push_back("values that nobody computed: " + text + "; the program may branch on them");
    const size_t shown = std::min(reads.size(), kShownReads);
    for (size_t i = 0; i < shown; ++i) {
      notes->push_back(TextOf(reads[i]));
      text += (i == 0 ? ": " : "; ") + TextOf(reads[i]);
    }
    if (shown < reads.size()) text += "; ...";
    assume("values not computed", text);
  }
  if (!summary.lacked.empty()) {
    const std::string text = "of " + NameRanks(summary.lacked);
    assume("unknown broadcasts", text);
    notes->push_back("broadcasts whose values nobody knew: " + text);
  }
  for (const auto& [function, ranks] : summary.refused) {
    notes->push_back(fmt::format("{} {} {}, which a capture does not have; the program went on",
                                 NameRanks(ranks), ranks.size() == 1 ? "calls" : "call", function));
  }
}

}  // namespace drydock::capture
