// summary.json: keys and units as docs/reference/report.md lists them. Times in seconds are for
// reading; the iteration stands in picoseconds as well, which is exact.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/model/calls/grouped_call.h"
#include "report/facts/summary.h"
#include "report/output/path_json.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// Divisions by exact powers of ten, so that a round time is written as one.
Json Seconds(Time time) { return static_cast<double>(time.ps()) / 1e12; }
Json Us(Time time) { return static_cast<double>(time.ps()) / 1e6; }
Json TeraFlops(FlopRate rate) { return rate.flops_per_second() / 1e12; }

Json PartsJson(const Summary& summary) {
  Json out = Json::object();
  for (int i = 0; i < kPartCount; ++i) {
    const PartSummary& part = summary.parts[static_cast<size_t>(i)];
    out[JsonKey(PartName(i))] = {{"mean_s", Seconds(part.mean)},
                                 {"mean_share", summary.ShareOf(part.mean)},
                                 {"max_s", Seconds(part.max)},
                                 {"max_rank", part.max_rank}};
  }
  return out;
}

Json ClassesJson(const Summary& summary) {
  Json out = Json::array();
  for (const ClassBreakdown& each : summary.classes) {
    Json mean = Json::object();
    for (int i = 0; i < kPartCount; ++i) {
      mean[JsonKey(PartName(i)) + "_s"] = Seconds(each.mean[static_cast<size_t>(i)]);
    }
    out.push_back({{"ranks", RangesOf(each.ranks)},
                   {"rank_count", each.ranks.size()},
                   {"layers", RangesOf(each.layers)},
                   {"mean", std::move(mean)}});
  }
  return out;
}

Json WorkJson(const WorkKind& kind) {
  return {{"algorithm", AlgorithmNames()[static_cast<size_t>(kind.algorithm)]},
          {"protocol", ProtocolNames()[static_cast<size_t>(kind.protocol)]},
          {"channels", kind.channels},
          {"works", kind.works}};
}

// What a grouped call is made of, and the works that NCCL makes of a call if they are several.
void AddParts(const CollectiveRow& row, Json* out) {
  if (row.call.collective == CollectiveType::kGrouped) (*out)["parts"] = KindText(row.call);
  if (row.works.size() == 1 && row.works.front().works == 1) return;
  Json works = Json::array();
  for (const WorkKind& kind : row.works) works.push_back(WorkJson(kind));
  (*out)["works"] = std::move(works);
}

Json CollectivesJson(const Summary& summary) {
  Json out = Json::array();
  for (const CollectiveRow& row : summary.collectives) {
    const WorkKind& first = row.works.front();
    out.push_back({{"group", row.role},
                   {"collective", CollectiveTypeNames()[static_cast<size_t>(row.call.collective)]},
                   {"type", ToString(row.call.type)},
                   {"size_bytes", row.call.bytes().count()},
                   {"members", row.call.group_size},
                   {"algorithm", AlgorithmNames()[static_cast<size_t>(first.algorithm)]},
                   {"protocol", ProtocolNames()[static_cast<size_t>(first.protocol)]},
                   {"channels", first.channels},
                   {"uses", row.uses},
                   {"median_us", Us(row.median)},
                   {"max_us", Us(row.max)},
                   {"algorithm_bandwidth_gb_per_s", row.algorithm_bandwidth() / 1e9},
                   {"bus_bandwidth_gb_per_s", row.bus_bandwidth() / 1e9},
                   {"bus_factor", BusFactor(row.call)}});
    if (row.call.buffers != BufferKind::kPlain) {
      out.back()["buffers"] = BufferKindNames()[static_cast<size_t>(row.call.buffers)];
    }
    AddParts(row, &out.back());
  }
  return out;
}

Json KernelsJson(const KernelSummary& kernels) {
  Json sources = Json::object();
  for (size_t i = 0; i < kTimeSourceCount; ++i) {
    sources[TimeSourceNames()[i]] = {{"kernels", kernels.by_source[i].kernels},
                                     {"time_share", kernels.by_source[i].share}};
  }
  Json rows = Json::array();
  for (const KernelRow& row : kernels.rows) {
    rows.push_back({{"gpu", row.gpu},
                    {"name", row.name},
                    {"shape", row.shape},
                    {"time_us", Us(row.time)},
                    {"launches", row.launches},
                    {"time_share", row.share},
                    {"bound", row.bound},
                    {"source", TimeSourceNames()[static_cast<size_t>(row.source)]}});
  }
  return {{"by_source", std::move(sources)}, {"by_time", std::move(rows)}};
}

Json TransfersJson(const Summary& summary) {
  Json out = Json::array();
  for (const TransferRow& row : summary.transfers) {
    out.push_back({{"name", row.transfer.name},
                   {"kind", OpKindName(row.kind)},
                   {"tier", MemoryTierNames()[static_cast<size_t>(row.transfer.tier)]},
                   {"size_bytes", row.transfer.bytes.count()},
                   {"uses", row.uses},
                   {"median_us", Us(row.median)},
                   {"max_us", Us(row.max)},
                   {"bandwidth_gb_per_s", row.bandwidth() / 1e9}});
  }
  return out;
}

Json CountersJson(const Summary& summary) {
  Json out = Json::object();
  for (const auto& [name, value] : summary.counters) out[name] = value;
  return out;
}

Json LinksJson(const Summary& summary) {
  Json out = Json::array();
  for (const LinkTotal& link : summary.links) {
    out.push_back({{"from", link.from},
                   {"to", link.to},
                   {"gbit_per_s", static_cast<double>(link.rate.bits_per_second()) * 1e-9},
                   {"utilisation", link.Utilisation(summary.simulated)},
                   {"sent_bytes", link.sent.count()},
                   {"most_queued_bytes", link.most_queued.count()},
                   {"marked", link.marked},
                   {"dropped", link.dropped},
                   {"repeated", link.repeated},
                   {"paused_us", Us(link.paused)}});
  }
  return out;
}

Json SlowdownsJson(const Summary& summary) {
  Json out = Json::array();
  for (const SlowdownRow& row : summary.slowdowns) {
    out.push_back({{"bytes_up_to", row.up_to.count()},
                   {"messages", row.messages},
                   {"median", row.median},
                   {"p95", row.p95},
                   {"p99", row.p99},
                   {"most", row.most}});
  }
  return out;
}

Json GpusJson(const Summary& summary) {
  Json out = Json::array();
  for (const GpuFacts& gpu : summary.gpus) {
    out.push_back({{"gpu", gpu.name},
                   {"count", gpu.count},
                   {"dense_tflops_per_s", TeraFlops(gpu.dense_rate)},
                   {"source", gpu.source},
                   {"kernels_scaled_from", gpu.reference},
                   {"link_efficiency", gpu.link_efficiency},
                   {"collective_costs_source", gpu.collective_source}});
  }
  return out;
}

Json MemoryJson(const Summary& summary) {
  if (!summary.memory) return nullptr;
  Json parts = Json::object();
  for (const MemoryPart& part : summary.memory_parts) {
    parts[JsonKey(part.name) + "_bytes"] = part.bytes.count();
  }
  return {{"fits", summary.memory->fits()},
          {"class", summary.memory->class_index},
          {"needed_bytes", summary.memory->total.count()},
          {"gpu_bytes", summary.memory->capacity.count()},
          {"parts", std::move(parts)}};
}

}  // namespace

std::string SummaryJson(const Summary& summary, const Comparison* comparison) {
  const Rates& rates = summary.rates;
  Json out;
  out["format"] = kFormat;
  out["model"] = summary.model;
  out["layout"] = summary.layout;
  out["precision"] = summary.precision;
  out["parameters"] = summary.parameters;
  out["cluster"] = summary.cluster;
  out["hosts"] = summary.hosts;
  out["gpus"] = summary.ranks;
  out["network"] = summary.network;
  out["iteration_time_s"] = Seconds(rates.iteration);
  out["iteration_time_ps"] = rates.iteration.ps();
  if (summary.stopped > Time()) {
    out["stopped_s"] = Seconds(summary.stopped);
    out["ops_ended"] = summary.ops_ended;
    out["ops"] = summary.ops;
  }
  for (const Time each : summary.iterations) out["iterations_s"].push_back(Seconds(each));
  out["tokens_per_iteration"] = summary.tokens;
  out["tokens_per_s"] = rates.tokens_per_second;
  out["tokens_per_s_per_gpu"] = rates.tokens_per_gpu_second;
  out["model_flops_per_iteration"] = summary.model_flops;
  out["hardware_flops_per_iteration"] = summary.hardware_flops;
  out["model_tflops_per_s_per_gpu"] = TeraFlops(rates.model);
  out["hardware_tflops_per_s_per_gpu"] = TeraFlops(rates.hardware);
  out["peak_tflops_per_s_per_gpu"] = TeraFlops(rates.peak);
  out["mfu"] = OrNull(rates.mfu);
  out["hfu"] = OrNull(rates.hfu);
  out["memory"] = MemoryJson(summary);
  out["time"] = PartsJson(summary);
  out["classes"] = ClassesJson(summary);
  out["critical_path"] = PathJson(summary.path);
  out["collectives"] = CollectivesJson(summary);
  out["kernels"] = KernelsJson(summary.kernels);
  if (!summary.transfers.empty()) out["transfers"] = TransfersJson(summary);
  out["network_counters"] = CountersJson(summary);
  out["busiest_links"] = LinksJson(summary);
  out["message_slowdowns"] = SlowdownsJson(summary);
  out["assumptions"] = {
      {"fabric", summary.fabric},
      {"congestion_control",
       summary.congestion_control.empty() ? Json(nullptr) : Json(summary.congestion_control)},
      {"gpus", GpusJson(summary)}};
  if (summary.what_if) out["what_if"] = WhatIfJson(*summary.what_if);
  if (comparison != nullptr) out["comparison"] = ComparisonJson(*comparison);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace drydock
