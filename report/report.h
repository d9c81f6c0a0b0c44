// One run of the tool: reads a run directory, writes summary.json, summary.txt, critical-path.csv,
// trace.json.gz and report.html into it, each whole or not at all.
#ifndef DRYDOCK_REPORT_REPORT_H_
#define DRYDOCK_REPORT_REPORT_H_

#include <string>

#include "core/base/result.h"
#include "report/facts/trace_ranks.h"

namespace drydock {

struct ReportOptions {
  std::string run;
  std::string trace_ranks;  // ParseTraceRanks; empty = the default choice
  std::string ranks;        // ParseRanks: those that the trace and the page show; empty = by choice
  std::string compare;      // another run directory; empty = none
  bool html = true;
  bool check = false;       // read and check, write nothing
  bool if_changed = false;  // do nothing if the last report was made of the same
};

struct ReportOutcome {
  std::string text;  // for the terminal: that of summary.txt; empty with `check`
  std::string note;  // one line on what was done: "up to date"
};

Result<ReportOutcome> MakeReport(const ReportOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_REPORT_H_
