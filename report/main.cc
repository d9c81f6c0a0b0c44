// report: the command line.
#include <fmt/format.h>

#include "core/base/cli.h"
#include "core/model/calls/rank_list.h"
#include "report/report.h"

int main(int argc, char** argv) {
  using drydock::ReportOptions;
  const drydock::ToolInfo info = {
      "report", "Says how fast a run is and where its time goes",
      "reads RUN/1-workload, 2-flows.pb, 3-times.pb and 4-timeline.pb; writes RUN/summary.json, "
      "summary.txt, critical-path.csv, trace.json.gz (for Perfetto) and report.html",
      "report runs/gpt-22b"};
  drydock::CommonOptions common;
  ReportOptions options;
  bool no_html = false;
  const auto declare = [&](CLI::App* app) {
    app->add_option("RUN", options.run, "Run directory, after exec-engine")->required();
    app->add_option("--trace-ranks", options.trace_ranks,
                    "How many ranks the trace shows, or 'all' (default: one of each class and the "
                    "first tensor-parallel group)");
    app->add_option("--ranks", options.ranks,
                    "The ranks that the trace and the page's timeline show: '0-7', '0,8,16', "
                    "'0-63:8'")
        ->type_name("LIST");
    app->add_option("--compare", options.compare,
                    "Another run directory, set against this one in the summary and the page")
        ->type_name("RUN");
    app->add_flag("--no-html", no_html, "Leave out report.html");
    drydock::CheckOptions(app, [&options]() -> drydock::Status {
      if (!options.trace_ranks.empty() && !options.ranks.empty()) {
        return drydock::Error("--ranks and --trace-ranks exclude each other");
      }
      if (!options.trace_ranks.empty()) {
        RETURN_IF_ERROR(drydock::ParseTraceRanks(options.trace_ranks));
      }
      if (!options.ranks.empty()) RETURN_IF_ERROR(drydock::ParseRanks(options.ranks));
      return drydock::OkStatus();
    });
  };
  const auto body = [&]() -> drydock::Status {
    options.html = !no_html;
    options.check = common.check;
    options.if_changed = common.if_changed;
    ASSIGN_OR_RETURN(const drydock::ReportOutcome outcome, drydock::MakeReport(options));
    if (!common.quiet) fmt::print("{}", outcome.text);
    drydock::Report(info, common, outcome.note);
    return drydock::OkStatus();
  };
  return drydock::RunTool(argc, argv, info, &common, declare, body);
}
