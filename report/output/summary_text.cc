#include "report/output/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "core/base/plural.h"
#include "report/output/compare.h"

namespace drydock {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kCollectiveLines = 12;
constexpr size_t kTransferLines = 8;
constexpr size_t kKernelLines = 8;
constexpr size_t kLinkLines = 4;
constexpr size_t kBandParts = 2;

std::string Percent(double share) { return fmt::format("{:.1f} %", share * 100); }

// Returns at least four digits, without an exponent.
std::string PerSecond(double rate) {
  return rate < 1000 ? fmt::format("{:.4g}", rate) : fmt::format("{:.0f}", rate);
}

// "8 × a100-sxm-80g"
std::string GpusText(const Summary& summary) {
  std::string out;
  for (const GpuFacts& gpu : summary.cluster.gpus) {
    if (gpu.count == 0) continue;
    out += fmt::format("{}{} × {}", out.empty() ? "" : ", ", gpu.count, gpu.name);
  }
  return out;
}

std::string IterationsText(const std::vector<Time>& each) {
  const auto [least, most] = std::minmax_element(each.begin(), each.end());
  const Time sum = std::accumulate(each.begin(), each.end(), Time());
  const auto count = static_cast<int64_t>(each.size());
  return fmt::format(
      "iterations       {}, from {} to {}, {} on average; rates use the average, the rest the "
      "last iteration\n",
      count, ToString(*least), ToString(*most), ToString(Time::Ps(sum.ps() / count)));
}

// "80 % band        1.371 s to 1.538 s", and the errors that widen the band most.
std::string BandText(const Band& band) {
  std::string out = fmt::format("{:<17}{} to {}\n{:<17}whole run {}",
                                fmt::format("{:g} % band", band.coverage * 100), ToString(band.low),
                                ToString(band.high), "  errors", Percent(band.whole_run));
  for (const TimeShare& each : LargestErrors(band.shares, kBandParts)) {
    out += fmt::format(", {} {}", each.name, Percent(each.share * each.error));
  }
  out += "\n";
  for (const TimeShare& each : band.shares) {
    if (!each.assumed) continue;
    out += fmt::format("{:<17}{} decides {} of the time; nobody measured its rates, ± {}\n",
                       "  not measured", each.name.substr(0, each.name.find(" (")),
                       Percent(each.share), Percent(each.error));
  }
  return out;
}

// "1.234": at least four digits, without an exponent for what a person pays.
std::string Amount(double amount) {
  return amount < 1000 ? fmt::format("{:.4g}", amount) : fmt::format("{:.0f}", amount);
}

// What the run costs and draws, each by the hour and, below, by iteration and token.
std::string CostText(const CostFacts& cost) {
  std::string out;
  if (cost.per_hour) {
    out += fmt::format("cost             {} {} an hour", Amount(*cost.per_hour), cost.currency);
    const char* before = " (";
    for (const auto& [name, amount] : cost.hourly) {
      if (cost.hourly.size() < 2) break;
      out += fmt::format("{}{} {}", before, name, Amount(amount));
      before = ", ";
    }
    out += cost.hourly.size() > 1 ? ")\n" : "\n";
  }
  if (cost.iteration) {
    out +=
        fmt::format("  of training    {} {} an iteration", Amount(*cost.iteration), cost.currency);
    if (cost.token) out += fmt::format(", {} a million tokens", Amount(*cost.token * 1e6));
    out += "\n";
  }
  if (cost.watts) {
    out += fmt::format("power            {} kW at the meter\n", Amount(*cost.watts / 1000));
  }
  if (cost.iteration_joules) {
    out +=
        fmt::format("  energy         {} kWh an iteration", Amount(*cost.iteration_joules / 3.6e6));
    if (cost.token_joules) out += fmt::format(", {} J a token", Amount(*cost.token_joules));
    out += "\n";
  }
  return out;
}

std::string HeadText(const Summary& summary) {
  const Rates& rates = summary.rates;
  std::string out =
      fmt::format("{} on {}: {} in {}, network {}\n{}\n", summary.job.model, summary.cluster.name,
                  GpusText(summary), Plural(summary.cluster.hosts, "host"), summary.network.name,
                  summary.job.layout);
  for (const std::string& note : summary.notes) out += note + "\n";
  out += "\n";
  if (summary.length.stopped > Time()) {
    return out + fmt::format("stopped at       {}: {} of {} ops had ended\n",
                             ToString(summary.length.stopped), summary.length.ops_ended,
                             summary.length.ops);
  }
  out += fmt::format("iteration time   {}\n", ToString(rates.iteration));
  if (summary.band) out += BandText(*summary.band);
  if (!summary.length.iterations.empty()) out += IterationsText(summary.length.iterations);
  // A workload that was captured, recorded or imported does not state its tokens.
  if (summary.job.tokens > 0) {
    out += fmt::format("tokens           {} /s, {} /s per GPU\n",
                       PerSecond(rates.tokens_per_second), PerSecond(rates.tokens_per_gpu_second));
  }
  out += fmt::format("model FLOPs      {:.1f} TFLOP/s per GPU",
                     rates.model.flops_per_second() * 1e-12);
  out += rates.mfu ? fmt::format(", MFU {} of {} dense {}\n", Percent(*rates.mfu),
                                 ToString(rates.peak), summary.job.precision)
                   : fmt::format(", MFU unknown: some GPU has no {} rate\n", summary.job.precision);
  if (summary.memory) {
    out += fmt::format("memory           {} on the fullest ranks\n",
                       ToString(summary.memory->verdict));
    if (summary.memory->pytorch) {
      out += fmt::format("  PyTorch        {}\n", ToString(*summary.memory->pytorch));
    }
  }
  if (rates.recompute) {
    out += fmt::format("with recompute   {:.1f} TFLOP/s per GPU",
                       rates.hardware.flops_per_second() * 1e-12);
    out += rates.hfu ? fmt::format(", HFU {}\n", Percent(*rates.hfu)) : "\n";
  }
  return out + (summary.cost ? CostText(*summary.cost) : "");
}

std::string PartText(const std::string& name, const PartSummary& part, const Summary& summary) {
  if (part.max == Time()) return fmt::format("{:<28}{:>12}\n", name, "none");
  return fmt::format("{:<28}{:>12}{:>10}{:>16}  rank {}\n", name, ToString(part.mean),
                     Percent(summary.ShareOf(part.mean)), ToString(part.max), part.max_rank);
}

// What the host does in its part, below that part.
std::string HostText(const Summary& summary) {
  std::string out;
  for (size_t i = 0; i < summary.host.size(); ++i) {
    if (summary.host[i].max == Time()) continue;
    out += PartText("    " + HostCauseNames()[i], summary.host[i], summary);
  }
  return out;
}

// Skips dimensions without exposed time on any rank, and hosts that never delay their GPU.
std::string PartsText(const Summary& summary) {
  std::string out = fmt::format("\n{:<28}{:>12}{:>10}{:>16}\n", "where the time goes", "mean",
                                "share", "largest");
  for (int i = 0; i < kPartCount; ++i) {
    const PartSummary& part = summary.parts[static_cast<size_t>(i)];
    const bool optional = i > 0 && i < kPartCount - 2;
    if (optional && part.max == Time()) continue;
    out += PartText("  " + PartName(i), part, summary);
    if (i == kHostPart) out += HostText(summary);
  }
  return out;
}

// "critical path: 81.2 % compute, 12.0 % tensor communication; 4 times to another rank"
std::string PathText(const PathSummary& path, const Summary& summary) {
  if (path.steps.empty()) return "";
  std::string out = "\ncritical path:";
  size_t column = out.size();
  for (int i = 0; i < kPathPartCount; ++i) {
    const Time part = path.parts[static_cast<size_t>(i)];
    if (part == Time()) continue;
    const std::string item =
        fmt::format(" {} {},", Percent(summary.ShareOf(part)), PathPartName(i));
    if (column + item.size() > kColumns) {
      out += "\n ";
      column = 1;
    }
    out += item;
    column += item.size();
  }
  out.back() = '\n';
  if (summary.host_share) {
    out += fmt::format("  {}: the host decides {} of the iteration\n", summary.host_share->verdict,
                       Percent(summary.host_share->decides));
  }
  return out + fmt::format("  {}, {} from rank to rank, {} visited\n",
                           Plural(static_cast<int64_t>(path.steps.size()), "step"), path.jumps,
                           Plural(path.ranks, "rank"));
}

std::string WhatIfText(const Summary& summary) {
  if (!summary.what_if) return "";
  const WhatIf& what_if = *summary.what_if;
  std::string out =
      fmt::format("\nwhat if this were {:g} % better ({} network, {} without a change)\n",
                  what_if.better, what_if.network, ToString(what_if.iteration));
  for (const WhatIfAnswer& answer : what_if.answers) {
    out += fmt::format("  {:<9}{:>12}{:>10}  {}\n", answer.name, ToString(answer.iteration),
                       Change(what_if.iteration.seconds(), answer.iteration.seconds()),
                       answer.changed);
  }
  return out;
}

std::string GigabytesPerSecond(double rate) { return fmt::format("{:.1f}", rate * 1e-9); }

std::string CollectivesText(const Summary& summary) {
  if (summary.collectives.empty()) return "";
  std::string out = fmt::format("\n{:<41}{:<16}{:>4}{:>6}{:>9}{:>9}{:>7}{:>8}\n",
                                "communication (bandwidths in GB/s)", "plan", "ch", "uses",
                                "median", "max", "alg", "bus");
  const size_t shown = std::min(summary.collectives.size(), kCollectiveLines);
  for (size_t i = 0; i < shown; ++i) {
    const CollectiveRow& row = summary.collectives[i];
    const bool several = row.works.size() > 1;  // then the plan has its own line
    out += fmt::format("  {:<38} {:<16}{:>4}{:>6}{:>9}{:>9}{:>7}{:>8}\n", row.Name(),
                       several ? "several" : row.PlanName(), MaxChannels(row.works), row.uses,
                       ToString(row.median), ToString(row.max),
                       GigabytesPerSecond(row.algorithm_bandwidth()),
                       GigabytesPerSecond(row.bus_bandwidth()));
    if (several) out += fmt::format("    {}\n", row.PlanName());
  }
  return out + MoreInJson(summary.collectives.size(), shown, "call");
}

std::string KernelsText(const KernelSummary& kernels) {
  std::string out =
      fmt::format("\n{:<62}{:>9}{:>12}{:>8}\n", "kernels", "launches", "each", "share");
  const size_t shown = std::min(kernels.rows.size(), kKernelLines);
  for (size_t i = 0; i < shown; ++i) {
    const KernelRow& row = kernels.rows[i];
    out += fmt::format("  {:<60}{:>9}{:>12}{:>8}  {}\n", row.name + " " + row.shape, row.launches,
                       ToString(row.time), Percent(row.share),
                       TimeSourceNames()[static_cast<size_t>(row.source)]);
  }
  out += MoreInJson(kernels.rows.size(), shown, "kernel");
  out += "  times by source:";
  for (size_t i = 0; i < kTimeSourceCount; ++i) {
    if (!IsShown(kernels, i)) continue;
    out += fmt::format("{} {} {} ({})", i == 0 ? "" : ",", kernels.by_source[i].kernels,
                       TimeSourceNames()[i], Percent(kernels.by_source[i].share));
  }
  return out + "\n";
}

std::string TransfersText(const Summary& summary) {
  if (summary.transfers.empty()) return "";
  std::string out =
      fmt::format("\n{:<62}{:>6}{:>10}{:>10}{:>8}\n", "loads, stores and the host's work (GB/s)",
                  "uses", "median", "max", "rate");
  const size_t shown = std::min(summary.transfers.size(), kTransferLines);
  for (size_t i = 0; i < shown; ++i) {
    const TransferRow& row = summary.transfers[i];
    out +=
        fmt::format("  {:<60}{:>6}{:>10}{:>10}{:>8}\n", row.Name(), row.uses, ToString(row.median),
                    ToString(row.max), GigabytesPerSecond(row.bandwidth()));
  }
  return out + MoreInJson(summary.transfers.size(), shown, "row");
}

// An entry a line, "name  value [source]"; a long one goes on below its value.
std::string AssumptionsText(const Summary& summary) {
  if (summary.assumptions.empty()) return "";
  size_t width = 0;
  for (const Assumption& each : summary.assumptions) width = std::max(width, each.name.size());
  std::string out = "\nassumptions\n";
  for (const Assumption& each : summary.assumptions) {
    std::string line = fmt::format("  {:<{}} ", each.name, width);
    std::istringstream words(each.value + (each.source.empty() ? "" : " [" + each.source + "]"));
    for (std::string word; words >> word;) {
      if (line.size() > width + 3 && line.size() + 1 + word.size() > kColumns) {
        out += line + "\n";
        line.assign(width + 3, ' ');
      }
      line += " " + word;
    }
    out += line + "\n";
  }
  return out;
}

std::string CountersText(const Summary& summary) {
  if (summary.network.counters.empty()) return "";
  std::string out = "\n";
  std::string line = "counted:";
  for (size_t i = 0; i < summary.network.counters.size(); ++i) {
    const auto& [name, value] = summary.network.counters[i];
    const std::string item =
        fmt::format(" {} {}{}", value, name, i + 1 < summary.network.counters.size() ? "," : "");
    if (line.size() + item.size() > kColumns) {
      out += line + "\n";
      line.assign(1, ' ');
    }
    line += item;
  }
  return out + line + "\n";
}

std::string LinksText(const Summary& summary) {
  if (summary.network.links.empty()) return "";
  std::string out = fmt::format("\n{:<50}{:>6}{:>12}{:>9}{:>9}{:>12}\n", "busiest links", "used",
                                "queue", "marked", "dropped", "paused");
  const size_t shown = std::min(summary.network.links.size(), kLinkLines);
  for (size_t i = 0; i < shown; ++i) {
    const LinkTotal& link = summary.network.links[i];
    out += fmt::format("  {:<46}{:>8}{:>12}{:>9}{:>9}{:>12}\n", link.from + " to " + link.to,
                       Percent(link.Utilization(summary.length.simulated)),
                       ToString(link.max_queued), link.marked, link.dropped, ToString(link.paused));
  }
  return out + MoreInJson(summary.network.links.size(), shown, "link");
}

std::string SlowdownsText(const Summary& summary) {
  if (summary.network.slowdowns.empty()) return "";
  std::string out = fmt::format("\n{:<50}{:>9}{:>9}{:>8}{:>8}{:>8}\n",
                                "slowdown of messages over an idle network", "messages", "median",
                                "95 %", "99 %", "most");
  for (const SlowdownRow& row : summary.network.slowdowns) {
    out += fmt::format("  up to {:<42}{:>9}{:>9.2f}{:>8.2f}{:>8.2f}{:>8.2f}\n", ToString(row.up_to),
                       row.messages, row.median, row.p95, row.p99, row.most);
  }
  return out;
}

}  // namespace

std::string MoreInJson(size_t all, size_t shown, const char* noun) {
  if (all <= shown) return "";
  return fmt::format("  and {} more in summary.json\n",
                     Plural(static_cast<int64_t>(all - shown), noun));
}

std::string SummaryText(const Summary& summary) {
  return HeadText(summary) + PartsText(summary) + PathText(summary.path, summary) +
         WhatIfText(summary) + CollectivesText(summary) + KernelsText(summary.kernels) +
         TransfersText(summary) + LinksText(summary) + SlowdownsText(summary) +
         CountersText(summary) + AssumptionsText(summary);
}

}  // namespace drydock
