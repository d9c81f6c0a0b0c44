#include "study/goodput/goodput_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/plural.h"
#include "study/goodput/time_units.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr size_t kColumns = 100;

// "95.3 s", "28.1 min", "3.09 h", "2.5 days": three digits or four.
std::string DurationText(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 2 * kSecondsOfHour) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds < 2 * kSecondsOfDay) return fmt::format("{:.3g} h", seconds / kSecondsOfHour);
  if (seconds < kSecondsOfYear) return fmt::format("{:.4g} days", seconds / kSecondsOfDay);
  return fmt::format("{:.4g} years", seconds / kSecondsOfYear);
}

std::string BytesText(double bytes) {
  return bytes < 9e18 ? ToString(Bytes(std::llround(bytes))) : fmt::format("{:.3g} B", bytes);
}

std::string Percent(double share) { return fmt::format("{:.2f} %", share * 100); }

std::string TakesOut(const Hazard& hazard) {
  if (hazard.hosts == 0) return "no host";
  return hazard.part != FailingPart::kHost && hazard.hosts == 1 ? "its host"
         : hazard.hosts == 1                                    ? "itself"
                                                                : Plural(hazard.hosts, "host");
}

std::string PolicyText(const Question& question) {
  switch (question.policy) {
    case Policy::kRestart:
      return "wait for the repair of lost hosts";
    case Policy::kSpares:
      return Plural(question.spares, "spare host");
    case Policy::kShrink:
      return "go on with fewer hosts";
  }
  return "";
}

std::string HazardsText(const GoodputResult& result) {
  const MonthPlan& plan = result.posed.plan;
  std::string out = fmt::format("{:<17}{:>10}{:>13}{:>14}   {}\n", "what fails", "parts",
                                "each a year", "in this time", "takes out");
  for (const Hazard& hazard : plan.hazards) {
    const KnownOrNot& rate = result.model->of(hazard.part).per_year;
    out += fmt::format(
        "  {:<15}{:>10}{:>13}{:>14}   {}\n", FailingPartNames()[static_cast<size_t>(hazard.part)],
        hazard.count, rate.value ? fmt::format("{:.4g}", *rate.value) : "unknown",
        rate.value ? fmt::format("{:.1f}", hazard.per_second * plan.horizon) : "unknown",
        TakesOut(hazard));
  }
  if (SumOf(plan.hazards) <= 0) return out + "  nothing fails: every rate is 0 or unknown\n";
  return out + fmt::format("  one failure every {} on average\n",
                           DurationText(result.between_failures()));
}

std::string TimeOrUnknown(const GoodputResult& result, double seconds,
                          std::initializer_list<const char*> entries) {
  for (const char* entry : entries) {
    const std::vector<std::string>& unknown = result.posed.unknown;
    if (std::find(unknown.begin(), unknown.end(), entry) != unknown.end()) return "unknown";
  }
  return DurationText(seconds);
}

std::string RecoveryText(const GoodputResult& result) {
  const MonthPlan& plan = result.posed.plan;
  std::string out = "after a failure  ";
  if (plan.policy == Policy::kSpares) {
    out += "replacement " + TimeOrUnknown(result, plan.replace, {"recovery.replace"}) + ", ";
  }
  out += fmt::format(
      "start {}, {} with {} in all {}, reading {}\n",
      TimeOrUnknown(result, plan.start, {"recovery.start"}),
      Plural(result.posed.communicators.communicators, "communicator"),
      Plural(result.posed.communicators.members, "member"),
      TimeOrUnknown(result, plan.communicators, {"recovery.communicator", "recovery.member"}),
      DurationText(plan.restore));
  return out;
}

std::string CheckpointText(const GoodputResult& result) {
  const MonthPlan& plan = result.posed.plan;
  const CheckpointTimes& times = result.posed.times;
  std::string out = fmt::format(
      "checkpoint       {}: {}, {} to write", BytesText(result.posed.size.written),
      result.question.asynchronous ? "asynchronous" : "synchronous", DurationText(times.write));
  if (result.question.asynchronous) {
    out += fmt::format(" after a snapshot of {}", DurationText(times.snapshot));
  }
  out += fmt::format("\n  every          {}, {}", DurationText(result.interval()),
                     Plural(plan.full.steps, "step"));
  out += result.trials.empty() ? "" : fmt::format(", the best of {}", result.trials.size());
  if (SumOf(plan.hazards) > 0) {
    out += fmt::format("; Young {}, Daly {}",
                       DurationText(YoungInterval(plan.full.stall, result.between_failures())),
                       DurationText(DalyInterval(plan.full.stall, result.between_failures())));
  }
  return out + "\n";
}

std::string ShareLine(const std::string& name, const Distribution& share,
                      const std::string& meaning) {
  return fmt::format("  {:<42}{:>9}{:>9}{:>9}  {}\n", name, Percent(share.p10),
                     Percent(share.median), Percent(share.p90), meaning);
}

std::string SharesText(const GoodputResult& result) {
  const Goodput& goodput = result.goodput;
  std::string out =
      fmt::format("\n{:<44}{:>9}{:>9}{:>9}\n", "share of the time", "P10", "median", "P90");
  const bool bound = !result.posed.unknown.empty();
  out += ShareLine(bound ? "goodput, at most" : "goodput", goodput.goodput, "steps that remained");
  for (size_t i = 0; i < kBadputs; ++i) {
    if (goodput.badput[i].mean <= 0) continue;
    const BadputName& name = BadputNames()[i];
    out += ShareLine(name.type, goodput.badput[i], name.meaning);
  }
  return out + fmt::format("  {:<42}{:>9.0f}{:>9.0f}{:>9.0f}\n", "failures", goodput.failures.p10,
                           goodput.failures.median, goodput.failures.p90);
}

std::string UnknownText(const GoodputResult& result) {
  if (result.posed.unknown.empty()) return "";
  std::string out = "\n", line = "unknown, counted as 0:";
  for (const std::string& name : result.posed.unknown) {
    const std::string item = " " + name + (&name == &result.posed.unknown.back() ? "" : ",");
    if (line.size() + item.size() > kColumns) {
      out += line + "\n";
      line.assign(1, ' ');
    }
    line += item;
  }
  return out + line + "\n";
}

std::string YieldText(const GoodputResult& result) {
  std::string out;
  const Distribution& share = result.goodput.goodput;
  const bool bound = !result.posed.unknown.empty();
  if (result.run->workload.totals.tokens > 0) {
    out += fmt::format("\ntokens           {}{:.4g} (P10 {:.4g}, P90 {:.4g})\n",
                       bound ? "at most " : "", result.TokensOf(share.median),
                       result.TokensOf(share.p10), result.TokensOf(share.p90));
  }
  if (const std::optional<double> amount = result.AmountOf()) {
    out += fmt::format("cost             {:.0f} {}", *amount, result.cost->currency);
    if (result.run->workload.totals.tokens > 0) {
      out += fmt::format(", {}{:.4g} a million tokens", bound ? "at least " : "",
                         *amount / result.TokensOf(share.median) * 1e6);
    }
    out += "\n";
  }
  return out;
}

Json DistributionJson(const Distribution& of) {
  return {{"p10", of.p10}, {"median", of.median}, {"p90", of.p90}, {"mean", of.mean}};
}

Json EntryJson(const KnownOrNot& entry, const char* key) {
  return {{key, entry.value ? Json(*entry.value) : Json()}, {"source", entry.source}};
}

Json HazardsJson(const GoodputResult& result) {
  Json out = Json::array();
  for (const Hazard& hazard : result.posed.plan.hazards) {
    const KnownOrNot& rate = result.model->of(hazard.part).per_year;
    out.push_back(
        {{"part", FailingPartNames()[static_cast<size_t>(hazard.part)]},
         {"parts", hazard.count},
         {"hosts_out", hazard.hosts},
         {"per_year", rate.value ? Json(*rate.value) : Json()},
         {"expected", rate.value ? Json(hazard.per_second * result.posed.plan.horizon) : Json()},
         {"detect_s", result.model->DetectOf(hazard.part).value
                          ? Json(*result.model->DetectOf(hazard.part).value)
                          : Json()},
         {"source", rate.source}});
  }
  return out;
}

Json RecoveryJson(const GoodputResult& result) {
  const FailureModel::Recovery& recovery = result.model->recovery;
  return {{"detect", EntryJson(recovery.detect, "time_s")},
          {"replace", EntryJson(recovery.replace, "time_s")},
          {"repair", EntryJson(recovery.repair, "time_s")},
          {"start", EntryJson(recovery.start, "time_s")},
          {"communicator", EntryJson(recovery.communicator, "time_s")},
          {"member", EntryJson(recovery.member, "time_s")},
          {"communicators", result.posed.communicators.communicators},
          {"members", result.posed.communicators.members},
          {"communicators_s", result.posed.plan.communicators},
          {"restore_s", result.posed.plan.restore}};
}

Json CheckpointJson(const GoodputResult& result) {
  const MonthPlan& plan = result.posed.plan;
  Json trials = Json::array();
  for (const IntervalTrial& trial : result.trials) {
    trials.push_back({{"steps", trial.steps},
                      {"interval_s", static_cast<double>(trial.steps) * plan.full.step},
                      {"goodput", trial.goodput}});
  }
  const bool fails = SumOf(plan.hazards) > 0;
  return {
      {"mode", result.question.asynchronous ? "asynchronous" : "synchronous"},
      {"bytes", result.posed.size.written},
      {"read_bytes", result.posed.size.read},
      {"write_s", result.posed.times.write},
      {"snapshot_s", result.posed.times.snapshot},
      {"stall_s", plan.full.stall},
      {"steps", plan.full.steps},
      {"interval_s", result.interval()},
      {"young_s", fails ? Json(YoungInterval(plan.full.stall, result.between_failures())) : Json()},
      {"daly_s", fails ? Json(DalyInterval(plan.full.stall, result.between_failures())) : Json()},
      {"trials", std::move(trials)}};
}

// Types of custom events have a map of their events.
Json BadputJson(const GoodputResult& result) {
  Json out = Json::object();
  for (size_t i = 0; i < kBadputs; ++i) {
    const BadputName& name = BadputNames()[i];
    Json& at = name.event.empty() ? out[name.type] : out[name.type][name.event];
    at = DistributionJson(result.goodput.badput[i]);
  }
  return out;
}

}  // namespace

std::optional<double> GoodputResult::AmountOf() const {
  if (!cost || !cost->per_hour) return std::nullopt;
  const double hosts = static_cast<double>(posed.plan.hosts + posed.plan.spares) / posed.plan.hosts;
  return *cost->per_hour * hosts * posed.plan.horizon / kSecondsOfHour;
}

std::string GoodputText(const GoodputResult& result) {
  const WorkloadTotals& totals = result.run->workload.totals;
  const Topology& topology = result.run->workload.topology;
  std::string out = fmt::format(
      "{} on {}: {} in {}, {:.4g} s an iteration\n{:g} days with the failures of {}: {}; {}\n\n",
      totals.model_name, topology.name, Plural(topology.gpu_count(), "GPU"),
      Plural(topology.host_count(), "host"), result.posed.plan.full.step, result.question.days,
      result.model->name, PolicyText(result.question), Plural(result.sampling.samples, "sample"));
  return out + HazardsText(result) + "\n" + CheckpointText(result) + RecoveryText(result) +
         SharesText(result) + UnknownText(result) + YieldText(result);
}

std::string GoodputJson(const GoodputResult& result) {
  const MonthPlan& plan = result.posed.plan;
  Json out;
  out["format"] = kFormat;
  out["run"] = result.run->run;
  out["model"] = result.run->workload.totals.model_name;
  out["cluster"] = result.run->workload.topology.name;
  out["network"] = result.run->network;
  out["failures_file"] = result.failures_file;
  out["failure_model"] = {{"name", result.model->name}, {"source", result.model->source}};
  out["set"] = result.set;
  out["days"] = result.question.days;
  out["samples"] = result.sampling.samples;
  out["seed"] = result.sampling.seed;
  out["policy"] = PolicyNames()[static_cast<size_t>(plan.policy)];
  out["spare_hosts"] = plan.spares;
  out["iteration_time_s"] = plan.full.step;
  if (plan.policy == Policy::kShrink) {
    out["shrunk"] = {{"iteration_time_s", plan.shrunk.step},
                     {"tokens_share", plan.shrunk_worth},
                     {"hosts", plan.hosts - plan.most_lost}};
  }
  if (result.question.asynchronous) {
    const bool known = plan.full.writing_step > plan.full.step;
    out["writing_iteration_time_s"] = known ? Json(plan.full.writing_step) : Json();
  }
  out["hazards"] = HazardsJson(result);
  const bool fails = SumOf(plan.hazards) > 0;
  out["between_failures_s"] = fails ? Json(result.between_failures()) : Json();
  out["checkpoint"] = CheckpointJson(result);
  out["recovery"] = RecoveryJson(result);
  out["unknown"] = result.posed.unknown;
  out["upper_bound"] = !result.posed.unknown.empty();
  out["goodput"] = DistributionJson(result.goodput.goodput);
  out["badput"] = BadputJson(result);
  out["failures"] = DistributionJson(result.goodput.failures);
  if (result.run->workload.totals.tokens > 0) {
    const Distribution& share = result.goodput.goodput;
    out["tokens"] = {{"p10", result.TokensOf(share.p10)},
                     {"median", result.TokensOf(share.median)},
                     {"p90", result.TokensOf(share.p90)}};
  }
  if (const std::optional<double> amount = result.AmountOf()) {
    out["cost"] = {{"currency", result.cost->currency}, {"amount", *amount}};
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace drydock
