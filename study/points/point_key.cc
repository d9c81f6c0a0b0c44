#include "study/points/point_key.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/nccl/nccl_library.h"
#include "core/schema/cluster/cluster_file.h"
#include "workload-gen/import/job_source.h"

namespace drydock {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDigits = 16;

// A hash of all files of a folder, with their names.
Result<std::string> HashOfFolder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; at != end; at.increment(failed)) {
    if (failed) break;
    if (at->is_regular_file(failed)) files.push_back(at->path().string());
  }
  if (failed) return Error("cannot read: " + failed.message(), {folder, 0, 0});
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string hash, Sha256OfFile(file));
    all += file.substr(folder.size()) + " " + hash + "\n";
  }
  return Sha256(all);
}

// The text from which a job is read; of one that is refused, why.
std::string ModelText(const JobSource& source, const std::vector<std::string>& overrides) {
  ImportNotes notes;
  const Result<TrainingJob> job = LoadJob(source, overrides, &notes);
  return job.ok() ? job->yaml : job.error().ToString();
}

}  // namespace

Result<PointKeys> PointKeys::Make(const EvaluatorOptions& options) {
  PointKeys keys(options);
  std::vector<std::string> files = {"/proc/self/exe", NcclLibrary::Find()};
  files.insert(files.end(), options.gpu_profiles.begin(), options.gpu_profiles.end());
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string hash, Sha256OfFile(file));
    keys.common_ += hash + "\n";
  }
  ASSIGN_OR_RETURN(const std::string configs, HashOfFolder(ConfigDirectory()));
  keys.common_ += configs + "\n" + options.network + "\n" +
                  (options.simulate_unfit ? "unfit points are simulated\n" : "");
  return keys;
}

std::string PointKeys::KeyOf(const std::vector<std::string>& assignments) {
  std::string text = common_;
  for (const std::string& assignment : assignments) text += assignment + "\n";
  const Result<Overrides> overrides = SplitOverrides(assignments);
  if (!overrides.ok()) return Sha256(text + overrides.error().ToString()).substr(0, kDigits);
  text += Sha256(ModelText(options_.model, overrides->model)) + "\n";
  return Sha256(text + ClusterText(overrides->cluster)).substr(0, kDigits);
}

const std::string& PointKeys::ClusterText(const std::vector<std::string>& overrides) {
  std::string& text = clusters_[overrides];
  if (!text.empty()) return text;
  const Result<ClusterInput> cluster = LoadCluster(options_.cluster, overrides);
  if (!cluster.ok()) return text = Sha256(cluster.error().ToString());
  text = Sha256(cluster->yaml) + "\n";
  for (const auto& [name, content] : cluster->files) text += name + " " + Sha256(content) + "\n";
  return text;
}

}  // namespace drydock
