#include "report/output/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/facts/link_load.h"
#include "report/facts/trace_ranks.h"
#include "report/output/bottleneck_sections.h"
#include "report/output/escape.h"
#include "report/output/html_table.h"
#include "report/output/pictures.h"

namespace drydock {
namespace {

constexpr size_t kKernelRows = 20;
constexpr size_t kLoadRanks = 16;
constexpr int kLoadColumns = 240;

constexpr const char* kStyle = R"(
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 1200px; padding: 28px 24px 60px; background: #fff; color: #1d2430;
       font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 26px; margin: 0; } h2 { font-size: 18px; margin: 40px 0 8px; }
h3 { font-size: 14px; margin: 16px 0 4px; }
p { margin: 4px 0 12px; color: #566070; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 22px 0; }
.tile { flex: 1 1 160px; border: 1px solid #e1e5eb; border-radius: 8px; padding: 12px 16px; }
.tile b { display: block; font-size: 23px; font-weight: 600; }
.tile span { color: #566070; font-size: 13px; }
.wide { overflow-x: auto; margin-bottom: 18px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: #566070; border-bottom: 1px solid #cfd5dd; }
td, th { padding: 5px 16px 5px 0; vertical-align: top; } td { border-bottom: 1px solid #eef0f3; }
.alike table { table-layout: fixed; } .alike th:first-child { width: 46%; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: #1d2430; }
svg .in { text-anchor: middle; fill: #fff; } svg .dark { fill: #39414d; }
svg .tick { stroke: #e8eaee; }
)";

std::string Tile(const std::string& value, const std::string& what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", Html(value),
                     Html(what));
}

std::string Tiles(const Summary& summary) {
  const Rates& rates = summary.rates;
  std::string out = "<div class=\"tiles\">\n";
  out += Tile(ToString(rates.iteration),
              summary.length.stopped > Time() ? "until the run was stopped" : "iteration time");
  if (summary.band) {
    const Band& band = *summary.band;
    out += Tile(fmt::format("{} to {}", ToString(band.low), ToString(band.high)),
                fmt::format("holds {:g} % of measured runs", band.coverage * 100));
  }
  if (summary.job.tokens > 0) {
    out += Tile(fmt::format("{:.0f}", rates.tokens_per_second), "tokens per second");
  }
  out += Tile(fmt::format("{:.1f} TFLOP/s", rates.model.flops_per_second() * 1e-12),
              "model FLOPs per GPU");
  out += Tile(rates.mfu ? Percent(*rates.mfu) : "unknown",
              fmt::format("MFU, of {} dense {}", ToString(rates.peak), summary.job.precision));
  if (rates.hfu) out += Tile(Percent(*rates.hfu), "HFU, recompute included");
  if (summary.host_share) {
    out += Tile(Percent(summary.host_share->decides),
                "of the iteration the host decides: " + summary.host_share->verdict);
  }
  if (summary.memory) {
    const MemoryFacts& memory = *summary.memory;
    out += Tile(ToString(memory.verdict),
                "memory of the fullest ranks" +
                    (memory.pytorch ? "; PyTorch's " + ToString(*memory.pytorch) : ""));
  }
  return out + "</div>\n";
}

std::string PartsTable(const Summary& summary) {
  Table table({Words("part"), Number("mean"), Number("share"), Number("largest"), Number("rank")});
  for (int i = 0; i < kPartCount; ++i) {
    const PartSummary& part = summary.parts[static_cast<size_t>(i)];
    if (part.max == Time()) continue;
    table.Add({Words(PartName(i)), Number(ToString(part.mean)),
               Number(Percent(summary.ShareOf(part.mean))), Number(ToString(part.max)),
               Number(fmt::format("{}", part.max_rank))});
    if (i != kHostPart) continue;
    for (size_t cause = 0; cause < summary.host.size(); ++cause) {
      const PartSummary& host = summary.host[cause];
      if (host.max == Time()) continue;
      table.Add({Words("host: " + HostCauseNames()[cause]), Number(ToString(host.mean)),
                 Number(Percent(summary.ShareOf(host.mean))), Number(ToString(host.max)),
                 Number(fmt::format("{}", host.max_rank))});
    }
  }
  return std::move(table).Finish();
}

std::string CollectivesTable(const Summary& summary) {
  Table table({Words("call"), Words("plan"), Number("channels"), Number("uses"), Number("median"),
               Number("max"), Number("algorithm GB/s"), Number("bus GB/s")});
  for (const CollectiveRow& row : summary.collectives) {
    table.Add({Words(row.Name()), Words(row.PlanName()),
               Number(fmt::format("{}", MaxChannels(row.works))),
               Number(fmt::format("{}", row.uses)), Number(ToString(row.median)),
               Number(ToString(row.max)),
               Number(fmt::format("{:.1f}", row.algorithm_bandwidth() * 1e-9)),
               Number(fmt::format("{:.1f}", row.bus_bandwidth() * 1e-9))});
  }
  return std::move(table).Finish();
}

std::string KernelsTable(const KernelSummary& kernels) {
  Table table({Words("kernel"), Words("shape"), Words("GPU"), Number("launches"), Number("each"),
               Number("share"), Words("bound"), Words("source of the time")});
  for (size_t i = 0; i < std::min(kernels.rows.size(), kKernelRows); ++i) {
    const KernelRow& row = kernels.rows[i];
    table.Add({Words(row.name), Words(row.shape), Words(row.gpu),
               Number(fmt::format("{}", row.launches)), Number(ToString(row.time)),
               Number(Percent(row.share)), Words(std::string(ToString(row.bound))),
               Words(TimeSourceNames()[static_cast<size_t>(row.source)])});
  }
  return std::move(table).Finish();
}

std::string SourcesTable(const KernelSummary& kernels) {
  Table table({Words("source of kernel times"), Number("kernels"), Number("share of the time")});
  for (size_t i = 0; i < kTimeSourceCount; ++i) {
    if (!IsShown(kernels, i)) continue;
    table.Add({Words(TimeSourceNames()[i]), Number(fmt::format("{}", kernels.by_source[i].kernels)),
               Number(Percent(kernels.by_source[i].share))});
  }
  return std::move(table).Finish();
}

std::string CountersTable(const Summary& summary) {
  Table table({Words("counter of the network"), Number("")});
  for (const auto& [name, value] : summary.network.counters) {
    table.Add({Words(name), Number(fmt::format("{}", value))});
  }
  return std::move(table).Finish();
}

std::string LinksTable(const Summary& summary) {
  Table table({Words("busiest links"), Number("rate"), Number("used"), Number("longest queue"),
               Number("marked"), Number("dropped"), Number("retransmitted"), Number("paused")});
  for (const LinkTotal& link : summary.network.links) {
    table.Add({Words(link.from + " to " + link.to), Number(ToString(link.rate)),
               Number(Percent(link.Utilization(summary.length.simulated))),
               Number(ToString(link.max_queued)), Number(fmt::format("{}", link.marked)),
               Number(fmt::format("{}", link.dropped)), Number(fmt::format("{}", link.repeated)),
               Number(ToString(link.paused))});
  }
  return std::move(table).Finish();
}

std::string SlowdownsTable(const Summary& summary) {
  Table table({Words("messages, by size"), Number("count"), Number("median slowdown"),
               Number("95 %"), Number("99 %"), Number("most")});
  for (const SlowdownRow& row : summary.network.slowdowns) {
    table.Add({Words("up to " + ToString(row.up_to)), Number(fmt::format("{}", row.messages)),
               Number(fmt::format("{:.2f}", row.median)), Number(fmt::format("{:.2f}", row.p95)),
               Number(fmt::format("{:.2f}", row.p99)), Number(fmt::format("{:.2f}", row.most))});
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

std::string SubsetNote(size_t all, const char* of) {
  if (all <= kMaxPictureRows) return "";
  return fmt::format(" {} of {} {} are shown.", kMaxPictureRows, all, of);
}

}  // namespace

std::string PageOf(const Inputs& inputs, const Summary& summary, const PageOptions& options) {
  const std::vector<int> ranks =
      options.ranks.empty() ? ClassRepresentatives(inputs.workload) : options.ranks;
  std::vector<int> loaded;  // their links are shown
  for (const size_t row : PictureRows(ranks.size())) loaded.push_back(ranks[row]);
  if (loaded.size() > kLoadRanks) loaded.resize(kLoadRanks);
  const std::string title = fmt::format("{} on {}", summary.job.model, summary.cluster.name);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n<p>{} GPU{} in {} host{} · {} · network "
      "{}</p>\n",
      Html(title), kStyle, Html(title), summary.cluster.ranks,
      summary.cluster.ranks == 1 ? "" : "s", summary.cluster.hosts,
      summary.cluster.hosts == 1 ? "" : "s", Html(summary.job.layout), Html(summary.network.name));
  for (const std::string& note : summary.notes) out += "<p>" + Html(note) + "</p>\n";
  out += Tiles(summary);
  out +=
      Section("Where the time goes",
              "The mean iteration of each rank class. Communication counts only while no compute "
              "runs." +
                  SubsetNote(summary.classes.size(), "classes"),
              BarsSvg(summary) + PartsTable(summary));
  out += Section(
      "One iteration",
      "The upper lane of a rank shows compute, the thin lower lane transfers. A paler color "
      "means a smaller share of the time. trace.json.gz shows every op." +
          SubsetNote(ranks.size(), "ranks"),
      TimelineSvg(inputs, ranks));
  out += PathSection(inputs, summary);
  out += WhatIfSection(summary);
  out += Section(
      "Communication",
      "Durations run from the first movement of data to the end. The bus bandwidth is that of "
      "nccl-tests, at the median.",
      CollectivesTable(summary));
  out += LoadSection(MeasureLinkLoad(inputs, loaded, kLoadColumns), summary.rates.iteration);
  out += Section("Kernels", "The kernels with the most time over all ranks.",
                 KernelsTable(summary.kernels) + SourcesTable(summary.kernels));
  out += Section("Assumptions and counters", "",
                 AssumptionsTable(summary) + CountersTable(summary) +
                     (summary.network.links.empty() ? "" : LinksTable(summary)) +
                     (summary.network.slowdowns.empty() ? "" : SlowdownsTable(summary)));
  if (options.comparison != nullptr) out += ComparisonSection(*options.comparison);
  return out + "</body>\n</html>\n";
}

}  // namespace drydock
