// report: the command line.
#include <fmt/format.h>

#include "core/base/cli.h"
#include "report/report.h"

int main(int argc, char** argv) {
  using drydock::ReportOptions;
  const drydock::ToolInfo info = {
      "report", "Says how fast a run is and where its time goes",
      "reads RUN/1-workload, 2-flows.pb, 3-times.pb and 4-timeline.pb; writes RUN/summary.json, "
      "summary.txt, trace.json.gz (for Perfetto) and report.html",
      "report runs/gpt-22b"};
  drydock::CommonOptions common;
  ReportOptions options;
  bool no_html = false;
  const auto declare = [&](CLI::App* app) {
    app->add_option("RUN", options.run, "Run directory, after exec-engine")->required();
    app->add_option("--trace-ranks", options.trace_ranks,
                    "How many ranks the trace shows, or 'all' (default: one of each class and the "
                    "first tensor-parallel group)");
    app->add_flag("--no-html", no_html, "Leave out report.html");
    drydock::CheckOptions(app, [&options]() -> drydock::Status {
      if (options.trace_ranks.empty()) return drydock::OkStatus();
      RETURN_IF_ERROR(drydock::ParseTraceRanks(options.trace_ranks));
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
