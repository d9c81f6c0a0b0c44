#include "study/jobs/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "core/base/files.h"
#include "study/points/point_key.h"
#include "study/points/point_store.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

}  // namespace

std::string JobJson(const JobFile& job) {
  Json points = Json::array();
  for (const WorkItem& item : job.items) {
    points.push_back({{"id", item.id}, {"set", item.assignments}});
  }
  const EvaluatorOptions& evaluator = job.evaluator;
  const Json out = {{"format", kFormat},
                    {"study", job.study},
                    {"model", evaluator.model.path},
                    {"megatron_arguments", evaluator.model.megatron_arguments},
                    {"cluster", evaluator.cluster},
                    {"network", evaluator.network},
                    {"gpu_profiles", evaluator.gpu_profiles},
                    {"simulate_unfit", evaluator.simulate_unfit},
                    {"pages", job.pages},
                    {"points", std::move(points)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<JobFile> LoadJobFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<int>() != kFormat) {
      return Error("another version of drydock-sweep wrote this job", {path, 0, 0});
    }
    JobFile job;
    job.study = json.at("study").get<std::string>();
    job.evaluator.model.path = json.at("model").get<std::string>();
    job.evaluator.model.megatron_arguments = json.at("megatron_arguments").get<bool>();
    job.evaluator.cluster = json.at("cluster").get<std::string>();
    job.evaluator.network = json.at("network").get<std::string>();
    job.evaluator.gpu_profiles = json.at("gpu_profiles").get<std::vector<std::string>>();
    job.evaluator.simulate_unfit = json.at("simulate_unfit").get<bool>();
    job.pages = json.at("pages").get<bool>();
    for (const Json& point : json.at("points")) {
      job.items.push_back(
          {point.at("id").get<std::string>(), point.at("set").get<std::vector<std::string>>()});
    }
    return job;
  } catch (const Json::exception& error) {
    return Error(fmt::format("not a job of drydock-sweep: {}", error.what()), {path, 0, 0});
  }
}

Status RunJob(const std::string& path) {
  ASSIGN_OR_RETURN(const JobFile job, LoadJobFile(path));
  ASSIGN_OR_RETURN(PointKeys keys, PointKeys::Make(job.evaluator));
  const PointStore store(job.study);
  std::vector<WorkItem> missing;
  for (const WorkItem& item : job.items) {
    if (keys.KeyOf(item.assignments) != item.id) {
      return Error(
          fmt::format("here, the point {} has another ID: this machine has another version of "
                      "Drydock, of NCCL or of an input file",
                      item.id),
          {path, 0, 0});
    }
    if (!store.Read(item.id)) missing.push_back(item);
  }
  LocalOptions local;
  local.jobs = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1,
                          std::max(1, static_cast<int>(missing.size())));
  ASSIGN_OR_RETURN(const LocalResult result,
                   EvaluateLocally(job.evaluator, store, missing, job.pages, local));
  if (result.failures.empty()) return OkStatus();
  const auto& [id, how] = *result.failures.begin();
  return Error(fmt::format("point {}: {}", id, how), {path, 0, 0});
}

}  // namespace drydock
