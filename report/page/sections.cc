#include "report/page/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/facts/link_load.h"
#include "report/page/html_table.h"

namespace drydock {
namespace {

constexpr size_t kKernelRows = 500;
constexpr size_t kShares = 50;

std::string PartsTable(const Summary& summary) {
  Table table(
      {Words("part"), Heading("mean"), Heading("share"), Heading("largest"), Heading("rank")});
  const auto add = [&](const std::string& name, const PartSummary& part) {
    if (part.max == Time()) return;
    table.Add({Words(name), Duration(part.mean), Share(summary.ShareOf(part.mean)),
               Duration(part.max), Count(part.max_rank)});
  };
  for (int i = 0; i < kPartCount; ++i) {
    add(PartName(i), summary.parts[static_cast<size_t>(i)]);
    if (i != kHostPart) continue;
    for (size_t cause = 0; cause < summary.host.size(); ++cause) {
      add("host: " + HostCauseNames()[cause], summary.host[cause]);
    }
  }
  return std::move(table).Finish();
}

std::string PathPartsTable(const Summary& summary) {
  Table table({Words("on the critical path"), Heading("time"), Heading("share")});
  for (int i = 0; i < kPathPartCount; ++i) {
    const Time part = summary.path.parts[static_cast<size_t>(i)];
    if (part == Time()) continue;
    table.Add({Words(PathPartName(i)), Duration(part), Share(summary.ShareOf(part))});
  }
  return std::move(table).Finish();
}

std::string SharesTable(const char* title, const char* count, const std::vector<PathShare>& shares,
                        const Summary& summary) {
  if (shares.empty()) return "";
  Table table({Words(title), Heading(count), Heading("time"), Heading("share of the path")});
  for (size_t i = 0; i < std::min(shares.size(), kShares); ++i) {
    const PathShare& share = shares[i];
    table.Add({Words(share.name), Count(share.steps), Duration(share.time),
               Share(summary.ShareOf(share.time))});
  }
  return std::move(table).Finish();
}

Cell GigabytesPerSecond(double rate) { return Number(fmt::format("{:.1f}", rate * 1e-9), rate); }

std::string CollectivesTable(const Summary& summary) {
  Table table({Words("call"), Words("plan"), Heading("channels"), Heading("uses"),
               Heading("median"), Heading("max"), Heading("algorithm GB/s"), Heading("bus GB/s")});
  for (const CollectiveRow& row : summary.collectives) {
    table.Add({Words(row.Name()), Words(row.PlanName()), Count(MaxChannels(row.works)),
               Count(row.uses), Duration(row.median), Duration(row.max),
               GigabytesPerSecond(row.algorithm_bandwidth()),
               GigabytesPerSecond(row.bus_bandwidth())});
  }
  return std::move(table).Finish();
}

std::string TransfersTable(const Summary& summary) {
  if (summary.transfers.empty()) return "";
  Table table({Words("load, store or host work"), Heading("uses"), Heading("median"),
               Heading("max"), Heading("GB/s")});
  for (const TransferRow& row : summary.transfers) {
    table.Add({Words(row.Name()), Count(row.uses), Duration(row.median), Duration(row.max),
               GigabytesPerSecond(row.bandwidth())});
  }
  return std::move(table).Finish();
}

std::string KernelsTable(const KernelSummary& kernels) {
  Table table({Words("kernel"), Words("shape"), Words("GPU"), Heading("launches"), Heading("each"),
               Heading("share"), Words("bound"), Words("source of the time")});
  for (size_t i = 0; i < std::min(kernels.rows.size(), kKernelRows); ++i) {
    const KernelRow& row = kernels.rows[i];
    table.Add({Words(row.name), Words(row.shape), Words(row.gpu), Count(row.launches),
               Duration(row.time), Share(row.share), Words(std::string(ToString(row.bound))),
               Words(TimeSourceNames()[static_cast<size_t>(row.source)])});
  }
  return std::move(table).Finish();
}

std::string SourcesTable(const KernelSummary& kernels) {
  Table table({Words("source of kernel times"), Heading("kernels"), Heading("share of the time")});
  for (size_t i = 0; i < kTimeSourceCount; ++i) {
    if (!IsShown(kernels, i)) continue;
    table.Add({Words(TimeSourceNames()[i]), Count(kernels.by_source[i].kernels),
               Share(kernels.by_source[i].share)});
  }
  return std::move(table).Finish();
}

std::string CountersTable(const Summary& summary) {
  if (summary.network.counters.empty()) return "";
  Table table({Words("counter of the network"), Heading("count")});
  for (const auto& [name, value] : summary.network.counters) {
    table.Add({Words(name), Count(value)});
  }
  return std::move(table).Finish();
}

Cell Size(Bytes bytes) { return Number(ToString(bytes), static_cast<double>(bytes.count())); }

std::string LinkTotalsTable(const Summary& summary) {
  if (summary.network.links.empty()) return "";
  Table table({Words("busiest links"), Heading("rate"), Heading("used"), Heading("longest queue"),
               Heading("marked"), Heading("dropped"), Heading("retransmitted"), Heading("paused")});
  for (const LinkTotal& link : summary.network.links) {
    table.Add({Words(link.from + " to " + link.to),
               Number(ToString(link.rate), link.rate.bytes_per_second()),
               Share(link.Utilization(summary.length.simulated)), Size(link.max_queued),
               Count(link.marked), Count(link.dropped), Count(link.repeated),
               Duration(link.paused)});
  }
  return std::move(table).Finish();
}

std::string SlowdownsTable(const Summary& summary) {
  if (summary.network.slowdowns.empty()) return "";
  Table table({Words("messages, by size"), Heading("count"), Heading("median slowdown"),
               Heading("95 %"), Heading("99 %"), Heading("most")});
  const auto times = [](double value) { return Number(fmt::format("{:.2f}", value), value); };
  for (const SlowdownRow& row : summary.network.slowdowns) {
    table.Add({{"up to " + ToString(row.up_to), false, static_cast<double>(row.up_to.count())},
               Count(row.messages),
               times(row.median),
               times(row.p95),
               times(row.p99),
               times(row.most)});
  }
  return std::move(table).Finish();
}

std::string AssumptionsTable(const Summary& summary) {
  Table table({Words("assumption"), Words("value"), Words("source")});
  const std::optional<CongestionControl> control = summary.network.congestion_control;
  table.Add({Words("network"),
             Words(fmt::format(
                 "{}, fabric {}{}", summary.network.name,
                 summary.cluster.fabric.empty() ? "none" : summary.cluster.fabric,
                 control ? fmt::format(", congestion control {}", ToString(*control)) : "")),
             Words("cluster file")});
  for (const GpuFacts& gpu : summary.cluster.gpus) {
    table.Add(
        {Words(fmt::format("{} × {}", gpu.count, gpu.name)),
         Words(fmt::format("{} dense {}{}", ToString(gpu.dense_rate), summary.job.precision,
                           gpu.reference.empty() ? "" : ", kernels scaled from " + gpu.reference)),
         Words(gpu.source)});
    if (gpu.link_efficiency <= 0) continue;
    table.Add(
        {Words(gpu.name + " collectives"),
         Words(fmt::format("reach {} of the scale-up bandwidth", Percent(gpu.link_efficiency))),
         Words(gpu.collective_source)});
  }
  for (const Assumption& each : summary.assumptions) {
    table.Add({Words(each.name), Words(each.value), Words(each.source)});
  }
  return std::move(table).Finish();
}

std::string TimesTable(const char* title, const std::vector<ComparedTime>& rows) {
  if (rows.empty()) return "";
  Table table({Words(title), Heading("this run"), Heading("the base"), Heading("change")});
  for (const ComparedTime& row : rows) {
    table.Add({Words(row.name), Duration(row.here), Duration(row.there), ChangeCell(row.Change())});
  }
  return std::move(table).Finish();
}

std::string KernelsNote(size_t all) {
  std::string note =
      "Against the roofs of the GPU: a point's area grows with the kernel's share of all kernel "
      "time. FLOPs are those on tensor cores; bytes count every operand once, so a kernel that "
      "reads one again lies below its roof.";
  if (all > kKernelRows) {
    note +=
        fmt::format(" The table has the {} of {} kernels with the most time.", kKernelRows, all);
  }
  return note;
}

}  // namespace

std::string TimeSection(const Summary& summary) {
  return Section(
      "Where the time goes",
      "The mean iteration of each rank class. Communication counts only while no compute runs.",
      Chart("bars", "Where the time of an iteration goes, by class of ranks") +
          PartsTable(summary));
}

std::string TimelineSection() {
  return Section("One iteration",
                 "The streams of ranks, the critical path above them. A thin line before a bar is "
                 "the time in which an op held its stream before its data could move. "
                 "trace.json.gz shows every op.",
                 Chart("timeline", "When ranks compute and communicate"));
}

std::string PathSection(const Summary& summary) {
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
      PathPartsTable(summary) + SharesTable("ops on it", "steps", path.ops, summary) +
          SharesTable("links that its transfers cross", "transfers", path.links, summary));
}

std::string WhatIfSection(const Summary& summary) {
  if (!summary.what_if) return "";
  const WhatIf& what_if = *summary.what_if;
  Table table({Words("what if"), Heading("iteration"), Heading("change"), Words("what is faster")});
  for (const WhatIfAnswer& answer : what_if.answers) {
    const ComparedTime change = {"", answer.iteration, what_if.iteration};
    table.Add({Words(answer.name), Duration(answer.iteration), ChangeCell(change.Change()),
               Words(answer.changed)});
  }
  return Section(
      "What if",
      fmt::format("Replays with one thing {:g} % better. Everything else, NCCL's decisions "
                  "included, is unchanged. Network {}; {} without a change.",
                  what_if.better, what_if.network, ToString(what_if.iteration)),
      std::move(table).Finish());
}

std::string MemorySection(const Summary& summary) {
  if (!summary.memory) {
    return Section("Memory of the fullest rank", "Not known: " + summary.no_memory + ".", "");
  }
  Table table({Words("part at the fullest moment"), Heading("size"), Heading("share of the GPU")});
  const auto capacity = static_cast<double>(summary.memory->verdict.capacity.count());
  for (const MemoryPart& part : summary.memory->parts) {
    if (part.bytes == Bytes()) continue;
    table.Add({Words(part.name), Size(part.bytes),
               Share(static_cast<double>(part.bytes.count()) / capacity)});
  }
  return Section(
      "Memory of the fullest rank",
      "What PyTorch's allocator holds while each op of the compute stream runs. The "
      "upper lines add what the allocator loses and what others hold.",
      Chart("memory", "Memory of the fullest rank over time") + std::move(table).Finish());
}

std::string CommunicationSection(const Summary& summary) {
  return Section(
      "Communication",
      "Durations run from the first movement of data to the end. The bus bandwidth is that of "
      "nccl-tests, at the median.",
      CollectivesTable(summary) + TransfersTable(summary));
}

std::string LinksSection(const Summary& summary) {
  return Section(
      "Load of links",
      fmt::format("The bytes that calls send over a link, by their plans, spread evenly over the "
                  "time in which the data moves, as a share of the link's rate. Calls that "
                  "overlap add up. The peak of a column is its highest load, the 99th percentile "
                  "the load that 99 % of its time does not exceed. Without the headers of the "
                  "network. Cables are the {} with the highest mean, and {} more over which one "
                  "call asks for most. Where the packet network kept a log (--network-log), its "
                  "own bytes on the cables follow, by interval, headers included.",
                  kBusiestCables, kBurstCables),
      Chart("links", "Load of links over time") + LinkTotalsTable(summary) +
          SlowdownsTable(summary));
}

std::string KernelsSection(const Summary& summary) {
  return Section("Kernels", KernelsNote(summary.kernels.rows.size()),
                 Chart("kernels", "Kernels against the roofs of their GPU") +
                     KernelsTable(summary.kernels) + SourcesTable(summary.kernels));
}

std::string AssumptionsSection(const Summary& summary) {
  return Section("Assumptions and counters", "",
                 AssumptionsTable(summary) + CountersTable(summary));
}

std::string ComparisonSection(const Comparison& comparison) {
  return Section(
      "Compared with the base",
      fmt::format("The base is {}: {}. Changes are of the base. Of a time, ▲ says that this run is "
                  "slower, ▼ that it is faster.",
                  comparison.run, comparison.what),
      "<div class=\"alike\">" +
          TimesTable("where the time goes, mean of the ranks", comparison.parts) +
          TimesTable("critical path", comparison.path) +
          TimesTable("call, median", comparison.calls) + "</div>\n");
}

}  // namespace drydock
