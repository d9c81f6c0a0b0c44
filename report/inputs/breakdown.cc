#include "report/inputs/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace drydock {
namespace {

// The sum of a part over 100,000 ranks exceeds 64 bits of picoseconds.
template <size_t kParts>
struct Sums {
  std::array<__int128, kParts> ps = {};
  int64_t count = 0;

  void Add(const std::array<Time, kParts>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) ps[i] += parts[i].ps();
    ++count;
  }
  Time Mean(size_t part) const {
    return count == 0 ? Time() : Time::Ps(static_cast<int64_t>(ps[part] / count));
  }
};

using PartSums = Sums<kPartCount>;

// Summarizes what `parts_of` makes of the account of each rank that works.
template <size_t kParts, typename PartsOfAccount>
std::array<PartSummary, kParts> SummarizeAccounts(const Inputs& inputs,
                                                  const PartsOfAccount& parts_of) {
  std::array<PartSummary, kParts> out;
  Sums<kParts> sums;
  for (int rank = 0; rank < inputs.workload.rank_count(); ++rank) {
    if (!inputs.works(rank)) continue;
    const std::array<Time, kParts> parts =
        parts_of(inputs.timeline.accounts[static_cast<size_t>(rank)]);
    sums.Add(parts);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] > out[i].max) out[i] = {Time(), parts[i], rank};
    }
  }
  for (size_t i = 0; i < out.size(); ++i) out[i].mean = sums.Mean(i);
  return out;
}

std::vector<int> LayersOf(const Program& program) {
  std::set<int> layers;
  for (const Op& op : program.ops) {
    if (op.layer >= 0) layers.insert(op.layer);
  }
  return {layers.begin(), layers.end()};
}

}  // namespace

Parts PartsOf(const TimeAccount& account) {
  Parts parts;
  parts[0] = account.compute;
  std::copy(std::begin(account.exposed), std::end(account.exposed), parts.begin() + 1);
  parts[kPartCount - 5] = account.memory;
  parts[kPartCount - 4] = account.host;
  parts[kPartCount - 3] = account.straggler;
  parts[kPartCount - 2] = account.bubble;
  parts[kPartCount - 1] = account.idle;
  return parts;
}

std::string PartName(int part) {
  if (part == 0) return "compute";
  if (part == kPartCount - 5) return "exposed memory";
  if (part == kPartCount - 4) return "host";
  if (part == kPartCount - 3) return "straggler wait";
  if (part == kPartCount - 2) return "bubble";
  if (part == kPartCount - 1) return "idle";
  return "exposed " + DimensionNames()[static_cast<size_t>(part - 1)];
}

std::array<PartSummary, kPartCount> SummarizeParts(const Inputs& inputs) {
  return SummarizeAccounts<kPartCount>(inputs, PartsOf);
}

std::array<PartSummary, kHostCauseCount> SummarizeHost(const Inputs& inputs) {
  return SummarizeAccounts<kHostCauseCount>(
      inputs, [](const TimeAccount& account) { return std::to_array(account.host_time.by_cause); });
}

std::vector<ClassBreakdown> BreakdownByClass(const Inputs& inputs) {
  const Workload& workload = inputs.workload;
  std::vector<ClassBreakdown> out(workload.programs.size());
  std::vector<PartSums> sums(out.size());
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const auto index = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
    out[index].ranks.push_back(rank);
    sums[index].Add(PartsOf(inputs.timeline.accounts[static_cast<size_t>(rank)]));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].ranks.empty()) continue;
    out[i].layers = LayersOf(workload.programs[i]);
    for (size_t part = 0; part < kPartCount; ++part) out[i].mean[part] = sums[i].Mean(part);
  }
  std::erase_if(out, [](const ClassBreakdown& each) { return each.ranks.empty(); });
  return out;
}

std::string RangesOf(const std::vector<int>& numbers) {
  std::string out;
  for (size_t begin = 0, end; begin < numbers.size(); begin = end) {
    end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!out.empty()) out += ", ";
    out += end == begin + 1 ? fmt::format("{}", numbers[begin])
                            : fmt::format("{}-{}", numbers[begin], numbers[end - 1]);
  }
  return out;
}

}  // namespace drydock
