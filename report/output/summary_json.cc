// The iteration time is in picoseconds as well, because seconds as a double are not exact.
#include "report/output/summary_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/model/calls/grouped_call.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr size_t kShares = 20;  // ops and links of the critical path

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// Divides by exact powers of ten, so a round time has a short decimal.
Json Seconds(Time time) { return static_cast<double>(time.ps()) / 1e12; }
Json Seconds(const std::optional<Time>& time) { return time ? Seconds(*time) : Json(nullptr); }
Json Us(Time time) { return static_cast<double>(time.ps()) / 1e6; }
Json TeraFlops(FlopRate rate) { return rate.flops_per_second() / 1e12; }

// "exposed tensor" -> "exposed_tensor"
std::string JsonKey(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

Json SharesJson(const std::vector<PathShare>& shares) {
  Json out = Json::array();
  for (size_t i = 0; i < std::min(shares.size(), kShares); ++i) {
    out.push_back({{"name", shares[i].name},
                   {"time_s", Seconds(shares[i].time)},
                   {"steps", shares[i].steps}});
  }
  return out;
}

Json TimesJson(const std::vector<ComparedTime>& times) {
  Json out = Json::array();
  for (const ComparedTime& each : times) {
    out.push_back({{"name", each.name},
                   {"here_s", Seconds(each.here)},
                   {"there_s", Seconds(each.there)},
                   {"change_share", OrNull(each.Change())}});
  }
  return out;
}

Json PartJson(const PartSummary& part, const Summary& summary) {
  return {{"mean_s", Seconds(part.mean)},
          {"mean_share", summary.ShareOf(part.mean)},
          {"max_s", Seconds(part.max)},
          {"max_rank", part.max_rank}};
}

Json PartsJson(const Summary& summary) {
  Json out = Json::object();
  for (int i = 0; i < kPartCount; ++i) {
    const PartSummary& part = summary.parts[static_cast<size_t>(i)];
    out[JsonKey(PartName(i))] = PartJson(part, summary);
  }
  return out;
}

Json HostJson(const Summary& summary) {
  Json causes = Json::object();
  for (size_t i = 0; i < summary.host.size(); ++i) {
    causes[JsonKey(HostCauseNames()[i])] = PartJson(summary.host[i], summary);
  }
  const std::optional<HostShare>& share = summary.host_share;
  return {{"verdict", share ? Json(share->verdict) : Json()},
          {"decides_share", share ? Json(share->decides) : Json()},
          {"time", std::move(causes)}};
}

Json BandJson(const Band& band) {
  Json models = Json::array();
  for (const TimeShare& each : band.shares) {
    models.push_back({{"name", each.name},
                      {"share", each.share},
                      {"error", each.error},
                      {"stated_error", each.stated_error},
                      {"entry", each.entry},
                      {"entry_share", each.entry_share}});
    if (each.assumed) models.back()["assumed"] = true;
  }
  return {{"coverage", band.coverage},         {"low_s", Seconds(band.low)},
          {"high_s", Seconds(band.high)},      {"kind", band.kind},
          {"whole_run_error", band.whole_run}, {"models", std::move(models)}};
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

// Adds the parts of a grouped call, and the works of the plan if there are several.
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
                    {"bound", ToString(row.bound)},
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
  for (const auto& [name, value] : summary.network.counters) out[name] = value;
  return out;
}

Json LinksJson(const Summary& summary) {
  Json out = Json::array();
  for (const LinkTotal& link : summary.network.links) {
    out.push_back({{"from", link.from},
                   {"to", link.to},
                   {"gbit_per_s", static_cast<double>(link.rate.bits_per_second()) * 1e-9},
                   {"utilisation", link.Utilization(summary.length.simulated)},
                   {"sent_bytes", link.sent.count()},
                   {"most_queued_bytes", link.max_queued.count()},  // the name that programs read
                   {"marked", link.marked},
                   {"dropped", link.dropped},
                   {"repeated", link.repeated},
                   {"paused_us", Us(link.paused)}});
  }
  return out;
}

Json SlowdownsJson(const Summary& summary) {
  Json out = Json::array();
  for (const SlowdownRow& row : summary.network.slowdowns) {
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
  for (const GpuFacts& gpu : summary.cluster.gpus) {
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

Json AssumptionsJson(const Summary& summary) {
  Json out = Json::array();
  for (const Assumption& each : summary.assumptions) {
    out.push_back({{"name", each.name}, {"value", each.value}, {"source", each.source}});
  }
  return out;
}

Json MemoryJson(const Summary& summary) {
  if (!summary.memory) return nullptr;
  Json parts = Json::object();
  for (const MemoryPart& part : summary.memory->parts) {
    parts[JsonKey(part.name) + "_bytes"] = part.bytes.count();
  }
  const MemoryVerdict& verdict = summary.memory->verdict;
  Json out = {{"fits", verdict.fits()},
              {"class", verdict.class_index},
              {"needed_bytes", verdict.total.count()},
              {"gpu_bytes", verdict.capacity.count()}};
  if (const std::optional<PyTorchPeaks>& peaks = summary.memory->pytorch) {
    out["max_memory_allocated_bytes"] = peaks->allocated.count();
    out["max_memory_reserved_bytes"] = peaks->reserved.count();
  }
  out["parts"] = std::move(parts);
  return out;
}

Json CostJson(const CostFacts& cost) {
  Json out = Json::object();
  const auto add = [&out](const char* key, const std::optional<double>& value) {
    if (value) out[key] = *value;
  };
  const auto add_parts = [&out](const char* key, const auto& parts) {
    for (const auto& [name, value] : parts) out[key][name] = value;
  };
  if (!cost.currency.empty()) out["currency"] = cost.currency;
  add("per_hour", cost.per_hour);
  add_parts("parts_per_hour", cost.hourly);
  add("per_iteration", cost.iteration);
  add("per_token", cost.token);
  if (cost.token) out["per_million_tokens"] = *cost.token * 1e6;
  add("power_w", cost.watts);
  add_parts("parts_w", cost.draws);
  add("energy_per_iteration_j", cost.iteration_joules);
  add("energy_per_token_j", cost.token_joules);
  return out;
}

Json PathJson(const PathSummary& path) {
  if (path.steps.empty()) return nullptr;
  Json parts = Json::object();
  for (int i = 0; i < kPathPartCount; ++i) {
    parts[JsonKey(PathPartName(i)) + "_s"] = Seconds(path.parts[static_cast<size_t>(i)]);
  }
  return {{"steps", path.steps.size()},      {"ranks", path.ranks},
          {"from_rank_to_rank", path.jumps}, {"parts", std::move(parts)},
          {"ops", SharesJson(path.ops)},     {"links", SharesJson(path.links)}};
}

Json WhatIfJson(const WhatIf& what_if) {
  Json answers = Json::array();
  for (const WhatIfAnswer& answer : what_if.answers) {
    answers.push_back({{"name", answer.name},
                       {"changed", answer.changed},
                       {"iteration_time_s", Seconds(answer.iteration)}});
  }
  return {{"network", what_if.network},
          {"better_percent", what_if.better},
          {"iteration_time_s", Seconds(what_if.iteration)},
          {"answers", std::move(answers)}};
}

Json ComparisonJson(const Comparison& comparison) {
  const ComparedTime iteration = {"iteration", comparison.here.iteration,
                                  comparison.there.iteration};
  return {{"run", comparison.run},
          {"what", comparison.what},
          {"iteration_time_s",
           {{"here", Seconds(comparison.here.iteration)},
            {"there", Seconds(comparison.there.iteration)},
            {"change_share", OrNull(iteration.Change())}}},
          {"time", TimesJson(comparison.parts)},
          {"critical_path", TimesJson(comparison.path)},
          {"collectives", TimesJson(comparison.calls)}};
}

}  // namespace

std::string SummaryJson(const Summary& summary, const Comparison* comparison) {
  const Rates& rates = summary.rates;
  Json out;
  out["format"] = kFormat;
  out["model"] = summary.job.model;
  out["layout"] = summary.job.layout;
  out["precision"] = summary.job.precision;
  out["parameters"] = summary.job.parameters;
  out["cluster"] = summary.cluster.name;
  out["hosts"] = summary.cluster.hosts;
  out["gpus"] = summary.cluster.ranks;
  if (summary.cluster.working < summary.cluster.ranks) {
    out["working_gpus"] = summary.cluster.working;
  }
  out["network"] = summary.network.name;
  out["iteration_time_s"] = Seconds(rates.iteration);
  out["iteration_time_ps"] = rates.iteration.ps();
  if (summary.band) out["band"] = BandJson(*summary.band);
  if (!summary.notes.empty()) out["notes"] = summary.notes;
  if (summary.length.stopped > Time()) {
    out["stopped_s"] = Seconds(summary.length.stopped);
    out["ops_ended"] = summary.length.ops_ended;
    out["ops"] = summary.length.ops;
  }
  for (const Time each : summary.length.iterations) out["iterations_s"].push_back(Seconds(each));
  out["tokens_per_iteration"] = summary.job.tokens;
  out["tokens_per_s"] = rates.tokens_per_second;
  out["tokens_per_s_per_gpu"] = rates.tokens_per_gpu_second;
  out["model_flops_per_iteration"] = summary.job.model_flops;
  out["hardware_flops_per_iteration"] = summary.job.hardware_flops;
  out["model_tflops_per_s_per_gpu"] = TeraFlops(rates.model);
  out["hardware_tflops_per_s_per_gpu"] = TeraFlops(rates.hardware);
  out["peak_tflops_per_s_per_gpu"] = TeraFlops(rates.peak);
  out["mfu"] = OrNull(rates.mfu);
  out["hfu"] = OrNull(rates.hfu);
  out["memory"] = MemoryJson(summary);
  if (!summary.memory) out["memory_unknown"] = summary.no_memory;
  if (summary.cost) out["cost"] = CostJson(*summary.cost);
  out["time"] = PartsJson(summary);
  out["host"] = HostJson(summary);
  out["classes"] = ClassesJson(summary);
  out["critical_path"] = PathJson(summary.path);
  out["collectives"] = CollectivesJson(summary);
  out["kernels"] = KernelsJson(summary.kernels);
  if (!summary.transfers.empty()) out["transfers"] = TransfersJson(summary);
  out["network_counters"] = CountersJson(summary);
  out["busiest_links"] = LinksJson(summary);
  out["message_slowdowns"] = SlowdownsJson(summary);
  const std::optional<CongestionControl> control = summary.network.congestion_control;
  out["assumptions"] = {{"fabric", summary.cluster.fabric},
                        {"congestion_control", control ? Json(ToString(*control)) : Json()},
                        {"gpus", GpusJson(summary)},
                        {"entries", AssumptionsJson(summary)}};
  if (summary.what_if) out["what_if"] = WhatIfJson(*summary.what_if);
  if (comparison != nullptr) out["comparison"] = ComparisonJson(*comparison);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace drydock
