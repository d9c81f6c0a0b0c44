#include "report/output/path_json.h"

#include <algorithm>

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShares = 20;

double Seconds(Time time) { return static_cast<double>(time.ps()) / 1e12; }

Json Seconds(const std::optional<Time>& time) {
  if (!time) return nullptr;
  return Seconds(*time);
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
    out.push_back(
        {{"name", each.name}, {"here_s", Seconds(each.here)}, {"there_s", Seconds(each.there)}});
  }
  return out;
}

}  // namespace

std::string JsonKey(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

nlohmann::ordered_json PathJson(const PathSummary& path) {
  if (path.steps.empty()) return nullptr;
  Json parts = Json::object();
  for (int i = 0; i < kPathPartCount; ++i) {
    parts[JsonKey(PathPartName(i)) + "_s"] = Seconds(path.parts[static_cast<size_t>(i)]);
  }
  return {{"steps", path.steps.size()},      {"ranks", path.ranks},
          {"from_rank_to_rank", path.jumps}, {"parts", std::move(parts)},
          {"ops", SharesJson(path.ops)},     {"links", SharesJson(path.links)}};
}

nlohmann::ordered_json WhatIfJson(const WhatIf& what_if) {
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

nlohmann::ordered_json ComparisonJson(const Comparison& comparison) {
  return {{"run", comparison.run},
          {"what", comparison.what},
          {"iteration_time_s",
           {{"here", Seconds(comparison.here.iteration)},
            {"there", Seconds(comparison.there.iteration)}}},
          {"time", TimesJson(comparison.parts)},
          {"critical_path", TimesJson(comparison.path)},
          {"collectives", TimesJson(comparison.calls)}};
}

}  // namespace drydock
