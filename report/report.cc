#include "report/report.h"

#include "core/base/files.h"
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

// The summary comes last: whoever finds it finds a finished report.
Status WriteReport(const ReportOptions& options, TraceRanks trace_ranks, const Inputs& inputs,
                   const Summary& summary, const std::string& text) {
  const std::string& run = options.run;
  const std::vector<int> ranks = ChooseRanks(inputs.workload, trace_ranks);
  RETURN_IF_ERROR(WriteFileAtomically(TracePath(run), TraceOf(inputs, ranks)));
  if (options.html) {
    RETURN_IF_ERROR(WriteFileAtomically(PagePath(run), PageOf(inputs, summary)));
  }
  RETURN_IF_ERROR(WriteFileAtomically(TextPath(run), text));
  return WriteFileAtomically(JsonPath(run), SummaryJson(summary));
}

}  // namespace

Result<std::string> MakeReport(const ReportOptions& options) {
  TraceRanks trace_ranks;
  if (!options.trace_ranks.empty()) {
    ASSIGN_OR_RETURN(trace_ranks, ParseTraceRanks(options.trace_ranks));
  }
  const Stamp stamp = StampOf(options);
  if (options.if_changed && !options.check && IsUpToDate(stamp)) {
    return ReadFile(TextPath(options.run));
  }
  ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(options.run));
  if (options.check) return std::string();
  const Summary summary = Summarise(inputs);
  std::string text = SummaryText(summary);
  RETURN_IF_ERROR(WriteReport(options, trace_ranks, inputs, summary, text));
  RETURN_IF_ERROR(SaveStamp(stamp));
  return text;
}

}  // namespace drydock
