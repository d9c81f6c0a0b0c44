#include "report/output/bottleneck_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/output/compare.h"
#include "report/output/html_table.h"
#include "report/output/load_picture.h"
#include "report/output/path_picture.h"

namespace drydock {
namespace {

constexpr size_t kShares = 12;

std::string SharesTable(const char* title, const char* count, const std::vector<PathShare>& shares,
                        const Summary& summary) {
  if (shares.empty()) return "";
  Table table({Words(title), Number(count), Number("time"), Number("share of the path")});
  for (size_t i = 0; i < std::min(shares.size(), kShares); ++i) {
    const PathShare& share = shares[i];
    table.Add({Words(share.name), Number(fmt::format("{}", share.steps)),
               Number(ToString(share.time)), Number(Percent(summary.ShareOf(share.time)))});
  }
  return std::move(table).Finish();
}

std::string PartsTable(const Summary& summary) {
  Table table({Words("on the critical path"), Number("time"), Number("share")});
  for (int i = 0; i < kPathPartCount; ++i) {
    const Time part = summary.path.parts[static_cast<size_t>(i)];
    if (part == Time()) continue;
    table.Add(
        {Words(PathPartName(i)), Number(ToString(part)), Number(Percent(summary.ShareOf(part)))});
  }
  return std::move(table).Finish();
}

std::string LoadPicture(const char* title, const std::vector<LoadRow>& rows, Time iteration) {
  if (rows.empty()) return "";
  return fmt::format("<h3>{}</h3>\n", title) + LoadSvg(rows, iteration, title);
}

}  // namespace

std::string PathSection(const Inputs& inputs, const Summary& summary) {
  const PathSummary& path = summary.path;
  if (path.steps.empty()) return "";
  return Section(
      "Critical path",
      fmt::format(
          "The chain of ops without a gap that ends with the iteration: {} steps, {} {} "
          "ranks. The iteration can only become shorter if a step of the path does. "
          "critical-path.csv has every step with its links.",
          path.steps.size(),
          path.jumps == 0 ? "on" : fmt::format("{} times from rank to rank, on", path.jumps),
          path.ranks),
      PathSvg(inputs, summary) + PartsTable(summary) +
          SharesTable("ops on it", "steps", path.ops, summary) +
          SharesTable("links that its transfers cross", "transfers", path.links, summary));
}

std::string WhatIfSection(const Summary& summary) {
  if (!summary.what_if) return "";
  const WhatIf& what_if = *summary.what_if;
  Table table({Words("what if"), Number("iteration"), Number("change"), Words("what is faster")});
  for (const WhatIfAnswer& answer : what_if.answers) {
    table.Add({Words(answer.name), Number(ToString(answer.iteration)),
               Number(Change(what_if.iteration.seconds(), answer.iteration.seconds())),
               Words(answer.changed)});
  }
  return Section(
      "What if",
      fmt::format("Replays with one thing {:g} % better. Everything else, NCCL's decisions "
                  "included, is unchanged. Network {}; {} without a change.",
                  what_if.better, what_if.network, ToString(what_if.iteration)),
      std::move(table).Finish());
}

std::string LoadSection(const LinkLoad& load, Time iteration) {
  const std::string content = LoadPicture("Scale-up links of GPUs", load.scale_up, iteration) +
                              LoadPicture("NICs", load.nics, iteration) +
                              LoadPicture("The busiest cables", load.cables, iteration);
  if (content.empty()) return "";
  return Section(
      "Utilization of links",
      "The bytes that calls send over a link, by their plans, spread evenly over the time in "
      "which the data moves, as a share of the link's rate. After the name: the mean of the "
      "iteration. Without the headers of the network.",
      content);
}

}  // namespace drydock
