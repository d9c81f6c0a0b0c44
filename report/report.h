// One run of the tool: reads a run directory and writes summary.json, summary.txt,
// critical-path.csv, trace.json.gz and report.html into it, each atomically.
#ifndef DRYDOCK_REPORT_REPORT_H_
#define DRYDOCK_REPORT_REPORT_H_

#include <functional>
#include <string>

#include "core/base/result.h"
#include "report/facts/trace_ranks.h"

namespace drydock {

struct ReportOptions {
  std::string run;
  std::string trace_ranks;  // ParseTraceRanks; empty: the default choice
  std::string ranks;        // ParseRanks: the ranks in the trace and the page; empty: by choice
  std::string compare;      // another run directory; empty: none
  bool html = true;
  bool check = false;       // read and check, write nothing
  bool if_changed = false;  // do nothing if the last report has the same inputs
  // Called before each step with what it does, "reads the run". May be null.
  std::function<void(const std::string& doing)> progress;
};

struct ReportOutcome {
  std::string text;  // for the terminal: the content of summary.txt; empty with `check`
  std::string note;  // one line on the outcome: "up to date"
};

Result<ReportOutcome> MakeReport(const ReportOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_REPORT_H_
