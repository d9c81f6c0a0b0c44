#include "workload-gen/routing/expert_loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/order_statistics.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"
#include "workload-gen/job/layout_rules.h"

namespace drydock {
namespace {

Result<std::map<std::string, double>> ReadVariations() {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(ExpertLoadsPath()));
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, ExpertLoadsPath()));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of loads of experts", &diagnostics);
  std::map<std::string, double> variations;
  if (const YamlNode* loads = file.Take("loads", /*required=*/true)) {
    for (const auto& [name, content] : loads->entries) {
      YamlReader reader(content, name.scalar, &diagnostics);
      std::string source;
      double& variation = variations[name.scalar];
      reader.Read("variation", &variation);
      if (!(variation >= 0 && variation <= 10)) {
        reader.Fail("variation", "expected a standard deviation over the mean, from 0 to 10");
      }
      reader.Read("source", &source);
      reader.Finish();
    }
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return variations;
}

}  // namespace

std::string ExpertLoadsPath() { return ConfigDirectory() + "/expert-loads.yaml"; }

double ImbalanceOf(const TrainingJob& job, double variation) {
  const int ranks = job.parallel.expert;
  const auto tokens = static_cast<double>(job.tensor_rank_tokens());
  const double senders = static_cast<double>(ranks) * ExpertTensorOf(job.parallel);
  const double copies = tokens * senders * job.model.moe.per_token / job.model.moe.experts;
  const double own = static_cast<double>(job.model.moe.experts) / ranks;
  const double sigma = std::sqrt((variation * variation + 1 / copies) / own);
  return std::min(1 + ExpectedMaxSigma(ranks) * sigma, static_cast<double>(ranks));
}

Status ResolveExpertLoads(TrainingJob* job) {
  const std::string& wanted = job->training.moe.loads;
  if (wanted == "uniform") return OkStatus();
  ASSIGN_OR_RETURN(const auto variations, ReadVariations());
  const auto found = variations.find(wanted);
  if (found == variations.end()) {
    std::vector<std::string> names = {"uniform"};
    for (const auto& [name, variation] : variations) names.push_back(name);
    return job->ErrorAt("training.moe_expert_loads",
                        fmt::format("'moe_expert_loads' cannot be '{}'{}; valid values are {}",
                                    wanted, DidYouMean(wanted, names), Join(names)));
  }
  if (job->parallel.expert == 1 || job->training.moe.pad_to_capacity) {
    return job->ErrorAt("training.moe_expert_loads",
                        job->parallel.expert == 1
                            ? "'moe_expert_loads' needs parallel.expert above 1"
                            : "'moe_expert_loads' changes nothing with moe_pad_to_capacity, which "
                              "gives all experts the same number of tokens; leave it out");
  }
  if (job->places.contains("training.moe_imbalance")) {
    return job->ErrorAt("training.moe_imbalance",
                        "'moe_expert_loads' sets the imbalance; state one of the two keys");
  }
  job->training.moe.imbalance = ImbalanceOf(*job, found->second);
  const auto place = job->places.find("training.moe_expert_loads");
  if (place != job->places.end()) job->places["training.moe_imbalance"] = place->second;
  return OkStatus();
}

}  // namespace drydock
