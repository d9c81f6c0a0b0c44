#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/writable.h"
#include "core/model/calls/rank_list.h"
#include "core/network/network_log.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"
#include "core/schema/memory/memory_curve_file.h"
#include "report/band/band_errors.h"
#include "report/facts/summary.h"
#include "report/inputs/inputs.h"
#include "report/output/compare.h"
#include "report/output/summary_json.h"
#include "report/output/summary_text.h"
#include "report/output/trace.h"
#include "report/page/page.h"
#include "report/page/page_data.h"

namespace drydock {
namespace {

std::string JsonPath(const std::string& run) { return run + "/summary.json"; }
std::string TextPath(const std::string& run) { return run + "/summary.txt"; }
std::string TracePath(const std::string& run) { return run + "/trace.json.gz"; }
std::string PathPath(const std::string& run) { return run + "/critical-path.csv"; }
std::string PagePath(const std::string& run) { return run + "/report.html"; }

Stamp StampOf(const ReportOptions& options) {
  Stamp stamp;
  stamp.run = options.run;
  stamp.stage = "report";
  for (const char* name :
       {kManifestName, kTopologyName, kFlowPlanName, kKernelTimesName, kTimelineName}) {
    stamp.inputs.push_back(options.run + "/" + name);
  }
  stamp.inputs.push_back(BandErrorsPath());
  stamp.inputs.push_back(TokenCostsPath());
  const std::string what_if = options.run + "/" + kWhatIfName;
  if (FileExists(what_if)) stamp.inputs.push_back(what_if);
  const std::string memory = options.run + "/" + kMemoryCurveName;
  if (FileExists(memory)) stamp.inputs.push_back(memory);
  const std::string links = options.run + "/" + kLinkLogName;
  if (FileExists(links)) stamp.inputs.push_back(links);
  // The other run's timeline records the hashes of its inputs, so it changes with them.
  if (!options.compare.empty()) stamp.inputs.push_back(options.compare + "/" + kTimelineName);
  stamp.options = {"--trace-ranks=" + options.trace_ranks, "--ranks=" + options.ranks,
                   "--compare=" + options.compare, options.html ? "--html" : "--no-html"};
  stamp.outputs = {JsonPath(options.run), TextPath(options.run), PathPath(options.run),
                   TracePath(options.run)};
  if (options.html) stamp.outputs.push_back(PagePath(options.run));
  return stamp;
}

// Removes the page of an earlier run, which would show other figures.
Status RemovePage(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return Error("cannot remove: " + error.message(), {path, 0, 0});
  return OkStatus();
}

void Tell(const ReportOptions& options, const std::string& doing) {
  if (options.progress) options.progress(doing);
}

// The content of a report.
struct Content {
  Inputs inputs;
  Summary summary;
  std::optional<PageBase> base;
  std::vector<int> trace_ranks;
  std::vector<int> page_ranks;
  std::string text;
};

// Without --ranks, the page shows the ranks that the trace shows by default.
std::vector<int> PageRanks(const std::vector<int>& ranks, const Workload& workload) {
  return ranks.empty() ? ChooseRanks(workload, TraceRanks()) : ranks;
}

// The other run's ranks are those with the same numbers, as far as it has them.
std::vector<int> BaseRanks(const std::vector<int>& ranks, const Workload& workload) {
  std::vector<int> out;
  for (const int rank : ranks) {
    if (rank < workload.rank_count()) out.push_back(rank);
  }
  return PageRanks(out, workload);
}

Result<std::vector<int>> RanksOf(const ReportOptions& options, const Workload& workload) {
  if (options.ranks.empty()) return std::vector<int>();
  ASSIGN_OR_RETURN(std::vector<int> ranks, ParseRanks(options.ranks));
  RETURN_IF_ERROR(PlacedIn("--ranks " + options.ranks, CheckRanks(ranks, workload.rank_count())));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

Result<Content> MakeContent(const ReportOptions& options, TraceRanks choice) {
  Content out;
  Tell(options, "reads the run");
  ASSIGN_OR_RETURN(out.inputs, ReadInputs(options.run));
  ASSIGN_OR_RETURN(const std::vector<int> ranks, RanksOf(options, out.inputs.workload));
  out.trace_ranks = ranks.empty() ? ChooseRanks(out.inputs.workload, choice) : ranks;
  out.page_ranks = PageRanks(ranks, out.inputs.workload);
  if (options.check) return out;
  ASSIGN_OR_RETURN(const BandErrors errors, LoadBandErrors());
  Tell(options, "sums up the run");
  out.summary = Summarize(out.inputs, errors);
  out.text = Printable(SummaryText(out.summary));
  if (options.compare.empty()) return out;
  Tell(options, "reads and sums up " + options.compare);
  ASSIGN_OR_RETURN(const Inputs other, ReadInputs(options.compare));
  PageBase& base = out.base.emplace();
  base.summary = Summarize(other, errors);
  base.comparison = Compare(out.summary, base.summary, options.compare);
  if (options.html) {
    base.data = PageData(other, base.summary, BaseRanks(ranks, other.workload));
  }
  out.text += Printable(ComparisonText(base.comparison));
  return out;
}

// Writes the summary last: if it exists, the report is complete.
Status WriteReport(const ReportOptions& options, const Content& content) {
  const std::string& run = options.run;
  const Summary& summary = content.summary;
  const PageBase* base = content.base ? &*content.base : nullptr;
  Tell(options, "writes the trace");
  RETURN_IF_ERROR(WriteFileAtomically(
      TracePath(run), TraceOf(content.inputs, content.trace_ranks, summary.path.steps)));
  RETURN_IF_ERROR(WriteFileAtomically(PathPath(run), PathCsv(content.inputs, summary.path)));
  if (options.html) {
    Tell(options, "writes the page");
    RETURN_IF_ERROR(WriteFileAtomically(
        PagePath(run),
        PageOf(summary, PageData(content.inputs, summary, content.page_ranks), base)));
  } else {
    RETURN_IF_ERROR(RemovePage(PagePath(run)));
  }
  RETURN_IF_ERROR(WriteFileAtomically(TextPath(run), content.text));
  return WriteFileAtomically(JsonPath(run),
                             SummaryJson(summary, base == nullptr ? nullptr : &base->comparison));
}

}  // namespace

Result<ReportOutcome> MakeReport(const ReportOptions& options) {
  TraceRanks choice;
  if (!options.trace_ranks.empty()) {
    ASSIGN_OR_RETURN(choice, ParseTraceRanks(options.trace_ranks));
  }
  const Stamp stamp = StampOf(options);
  if (options.if_changed && !options.check && IsUpToDate(stamp)) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(TextPath(options.run)));
    return ReportOutcome{std::move(text), "up to date"};
  }
  ASSIGN_OR_RETURN(const Content content, MakeContent(options, choice));
  if (options.check) return ReportOutcome{"", "the run is complete and consistent"};
  RETURN_IF_ERROR(CheckCanWrite(TracePath(options.run)));
  RETURN_IF_ERROR(WriteReport(options, content));
  RETURN_IF_ERROR(SaveStamp(stamp));
  return ReportOutcome{content.text,
                       fmt::format("{}: summary.json, critical-path.csv, {}trace.json.gz of {} of "
                                   "{} ranks",
                                   options.run, options.html ? "report.html, " : "",
                                   content.trace_ranks.size(), content.summary.cluster.ranks)};
}

}  // namespace drydock
