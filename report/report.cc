#include "report/report.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/base/writable.h"
#include "core/schema/artefacts.h"
#include "core/schema/stamp.h"
#include "report/html.h"
#include "report/inputs.h"
#include "report/summary.h"
#include "report/trace.h"

namespace drydock {
namespace {

std::string JsonPath(const std::string& run) { return run + "/summary.json"; }
std::string TextPath(const std::string& run) { return run + "/summary.txt"; }
std::string TracePath(const std::string& run) { return run + "/trace.json.gz"; }
std::string PagePath(const std::string& run) { return run + "/report.html"; }

// The timeline's own inputs need no mention: it is stale if they changed, and then made again.
Stamp StampOf(const ReportOptions& options) {
  Stamp stamp;
  stamp.run = options.run;
  stamp.stage = "report";
  for (const char* name : {kManifestName, kFlowPlanName, kKernelTimesName, kTimelineName}) {
    stamp.inputs.push_back(options.run + "/" + name);
  }
  stamp.options = {"--trace-ranks=" + options.trace_ranks, options.html ? "--html" : "--no-html"};
  stamp.outputs = {JsonPath(options.run), TextPath(options.run), TracePath(options.run)};
  if (options.html) stamp.outputs.push_back(PagePath(options.run));
  return stamp;
}

// A page that stayed would show the figures of the run before.
Status RemovePage(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return Error("cannot remove: " + error.message(), {path, 0, 0});
  return OkStatus();
}

// The summary comes last: whoever finds it finds a finished report.
Status WriteReport(const ReportOptions& options, const Inputs& inputs,
                   const std::vector<int>& trace_ranks, const Summary& summary,
                   const std::string& text) {
  const std::string& run = options.run;
  RETURN_IF_ERROR(WriteFileAtomically(TracePath(run), TraceOf(inputs, trace_ranks)));
  if (options.html) {
    RETURN_IF_ERROR(WriteFileAtomically(PagePath(run), PageOf(inputs, summary)));
  } else {
    RETURN_IF_ERROR(RemovePage(PagePath(run)));
  }
  RETURN_IF_ERROR(WriteFileAtomically(TextPath(run), text));
  return WriteFileAtomically(JsonPath(run), SummaryJson(summary));
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
  ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(options.run));
  if (options.check) return ReportOutcome{"", "the run is complete and consistent"};
  RETURN_IF_ERROR(CheckCanWrite(TracePath(options.run)));
  const std::vector<int> trace_ranks = ChooseRanks(inputs.workload, choice);
  const Summary summary = Summarise(inputs);
  std::string text = SummaryText(summary);
  RETURN_IF_ERROR(WriteReport(options, inputs, trace_ranks, summary, text));
  RETURN_IF_ERROR(SaveStamp(stamp));
  return ReportOutcome{
      std::move(text),
      fmt::format("{}: summary.json, {}trace.json.gz of {} of {} ranks", options.run,
                  options.html ? "report.html, " : "", trace_ranks.size(), summary.ranks)};
}

}  // namespace drydock
