// report: how fast a run is and where its time goes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/cli.h"
#include "core/model/calls/rank_list.h"
#include "core/progress/progress_line.h"
#include "core/rundir/run_lock.h"
#include "report/report.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "report", "Says how fast a run is and where its time goes",
    "reads RUN/1-workload, 2-flows.pb, 3-times.pb and 4-timeline.pb; writes RUN/summary.json, "
    "summary.txt, critical-path.csv, trace.json.gz (for Perfetto) and report.html",
    "report runs/gpt-22b"};

struct Options {
  ReportOptions report;
  bool no_html = false;
};

Status CheckRankOptions(const ReportOptions& options) {
  if (!options.trace_ranks.empty() && !options.ranks.empty()) {
    return Error("--ranks and --trace-ranks exclude each other");
  }
  if (!options.trace_ranks.empty()) RETURN_IF_ERROR(ParseTraceRanks(options.trace_ranks));
  if (!options.ranks.empty()) RETURN_IF_ERROR(ParseRanks(options.ranks));
  return OkStatus();
}

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  ReportOptions* report = &options->report;
  app->add_option("RUN", report->run, "Run directory, after exec-engine")->required();
  app->add_option("--trace-ranks", report->trace_ranks,
                  "How many ranks the trace shows, or 'all' (default: one of each class and the "
                  "first tensor-parallel group)");
  app->add_option("--ranks", report->ranks,
                  "The ranks that the trace and the page's timeline show: '0-7', '0,8,16', "
                  "'0-63:8'")
      ->type_name("LIST");
  app->add_option("--compare", report->compare,
                  "Another run directory, set against this one in the summary and the page")
      ->type_name("RUN");
  app->add_flag("--no-html", options->no_html, "Leave out report.html");
  CheckOptions(app, [report] { return CheckRankOptions(*report); });
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const RunLock lock, LockRun(kInfo, common, options.report.run));
  ReportOptions report = options.report;
  report.html = !options.no_html;
  report.check = common.check;
  report.if_changed = common.if_changed;
  TaskProgress progress(kInfo, common);
  report.progress = [&](const std::string& doing) { progress.Show(doing); };
  ASSIGN_OR_RETURN(const ReportOutcome outcome, MakeReport(report));
  progress.End();
  if (!common.quiet) fmt::print("{}", outcome.text);
  Report(kInfo, common, outcome.note);
  return OkStatus();
}

std::string Subject(const Options& options) { return options.report.run; }

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  return drydock::RunTool(argc, argv, [] {
    return drydock::MakeCommand<drydock::Options>(drydock::kInfo, drydock::Declare, drydock::Run,
                                                  drydock::Subject);
  });
}
