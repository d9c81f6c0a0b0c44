#include "study/points/point_store.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/files.h"
#include "report/facts/trace_ranks.h"
#include "report/output/summary_json.h"
#include "report/output/summary_text.h"
#include "report/page/page.h"
#include "report/page/page_data.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kRecordName = "point.json";

std::string RecordJson(const std::vector<std::string>& assignments, const Evaluation& evaluation) {
  const MetricValues values = evaluation.summary  ? ValuesOf(*evaluation.summary)
                              : evaluation.memory ? ValuesOf(*evaluation.memory)
                                                  : MetricValues();
  Json metrics = Json::object();
  for (const auto& [name, value] : values) metrics[name] = value;
  const Json out = {{"format", kFormat},
                    {"set", assignments},
                    {"state", StateName(evaluation.state)},
                    {"reason", evaluation.reason},
                    {"metrics", std::move(metrics)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<PointState> StateCalled(const std::string& name) {
  for (const PointState state : {PointState::kDone, PointState::kUnfit, PointState::kRefused}) {
    if (StateName(state) == name) return state;
  }
  return std::nullopt;
}

std::optional<PointRecord> ParseRecord(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<int>() != kFormat) return std::nullopt;
    PointRecord record;
    record.assignments = json.at("set").get<std::vector<std::string>>();
    const std::optional<PointState> state = StateCalled(json.at("state").get<std::string>());
    if (!state) return std::nullopt;
    record.state = *state;
    record.reason = json.at("reason").get<std::string>();
    for (const auto& [name, value] : json.at("metrics").items()) {
      record.metrics.emplace_back(name, value.get<double>());
    }
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

const std::string& StateName(PointState state) {
  static const std::string names[] = {"done", "does not fit", "refused"};
  return names[static_cast<size_t>(state)];
}

std::string PointStore::FolderOf(const std::string& id) { return "points/" + id; }

std::optional<PointRecord> PointStore::Read(const std::string& id) const {
  const std::string path = study_ + "/" + FolderOf(id) + "/" + kRecordName;
  if (!FileExists(path)) return std::nullopt;
  const Result<std::string> text = ReadFile(path);
  return text.ok() ? ParseRecord(*text) : std::nullopt;
}

void PointStore::RemoveUnfinished() const {
  std::error_code ignored;
  std::vector<std::filesystem::path> left;
  for (const auto& entry :
       std::filesystem::directory_iterator(study_ + "/" + FolderOf(""), ignored)) {
    // A finished point has the name of a hash, without a dot.
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) {
      left.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& path : left) std::filesystem::remove_all(path, ignored);
}

Status PointStore::Write(const std::string& id, const std::vector<std::string>& assignments,
                         const Evaluation& evaluation, bool page) const {
  RETURN_IF_ERROR(MakeDirectories(study_ + "/" + FolderOf("")));
  ASSIGN_OR_RETURN(StagedDirectory folder, StagedDirectory::Create(study_ + "/" + FolderOf(id)));
  RETURN_IF_ERROR(folder.Write(kRecordName, RecordJson(assignments, evaluation)));
  if (evaluation.summary) {
    const Summary& summary = *evaluation.summary;
    RETURN_IF_ERROR(folder.Write("summary.json", SummaryJson(summary)));
    RETURN_IF_ERROR(folder.Write("summary.txt", Printable(SummaryText(summary))));
    if (page) {
      const std::vector<int> ranks = ChooseRanks(evaluation.inputs->workload, TraceRanks());
      RETURN_IF_ERROR(folder.Write("report.html",
                                   PageOf(summary, PageData(*evaluation.inputs, summary, ranks))));
    }
  }
  return folder.Commit();
}

}  // namespace drydock
