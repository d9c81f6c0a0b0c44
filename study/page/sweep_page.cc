#include "study/page/sweep_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/spelling.h"
#include "report/output/escape.h"
#include "report/page/page_assets.h"
#include "study/page/study_assets.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

// The page's own script and style may run; nothing may be loaded.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

const char* NameOf(Metric::Better better) {
  switch (better) {
    case Metric::Better::kLess:
      return "less";
    case Metric::Better::kMore:
      return "more";
    case Metric::Better::kNeither:
      return "neither";
  }
  return "";
}

// No text of the study ends the element that has the data.
std::string SafeInScript(std::string json) {
  for (size_t at = json.find("</"); at != std::string::npos; at = json.find("</", at + 3)) {
    json.insert(at + 1, "\\");
  }
  return json;
}

// What a point's link opens.
const char* FileOf(const SweepTable& table, const SweepRow& row) {
  if (row.record.state != PointState::kDone) return "point.json";
  return table.pages ? "report.html" : "summary.txt";
}

std::string DataOf(const SweepTable& table) {
  Json metrics = Json::array();
  for (const Metric& metric : Metrics()) {
    metrics.push_back(
        {{"name", metric.name}, {"meaning", metric.meaning}, {"better", NameOf(metric.better)}});
  }
  Json points = Json::array();
  for (const SweepRow& row : table.rows) {
    Json values = Json::object();
    for (const auto& [name, value] : row.record.metrics) values[name] = value;
    points.push_back({{"id", row.id},
                      {"file", FileOf(table, row)},
                      {"values", row.values},
                      {"state", StateName(row.record.state)},
                      {"reason", Printable(row.record.reason)},
                      {"metrics", std::move(values)}});
  }
  const Json data = {{"axes", table.axes},
                     {"metrics", std::move(metrics)},
                     {"ranked", table.metrics},
                     {"points", std::move(points)}};
  return SafeInScript(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// A cell of a figure. The page sorts by its key.
std::string NumberCell(const std::optional<double>& value) {
  if (!value) return "<td class=\"n\"></td>";
  return fmt::format("<td class=\"n\" data-key=\"{:.12g}\">{}</td>", *value, FigureText(*value));
}

// The table works without the script; the best point comes first, then those without figures.
std::string TableSection(const SweepTable& table) {
  std::string out =
      "<h2>Points</h2>\n<div class=\"wide\"><table id=\"points\">\n<thead><tr>"
      "<th>point</th>";
  for (const std::string& axis : table.axes) out += "<th>" + Html(axis) + "</th>";
  for (const Metric& metric : Metrics()) {
    out += fmt::format("<th class=\"n\" title=\"{}\">{}</th>", Html(metric.meaning), metric.name);
  }
  out += "<th>state</th></tr></thead>\n<tbody>\n";
  std::vector<const SweepRow*> rows = Ranked(table);
  for (const SweepRow& row : table.rows) {
    if (row.record.state != PointState::kDone) rows.push_back(&row);
  }
  for (const SweepRow* row : rows) {
    const bool done = row->record.state == PointState::kDone;
    out += fmt::format("<tr><td><a href=\"points/{0}/{1}\">{0}</a></td>", row->id,
                       FileOf(table, *row));
    for (const std::string& value : row->values) out += "<td>" + Html(value) + "</td>";
    for (const Metric& metric : Metrics()) {
      out += NumberCell(ValueOf(row->record.metrics, metric.name));
    }
    out += "<td>" + Html(StateName(row->record.state)) +
           (done ? "" : ": " + Html(Printable(row->record.reason))) + "</td></tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string ReasonsSection(const SweepTable& table) {
  std::string set = table.set.empty() ? "" : " · " + Join(table.set);
  return fmt::format("<p>{}{} · network {}</p>\n", Html(CountsText(table)), Html(set),
                     Html(table.network));
}

}  // namespace

std::string SweepPageOf(const SweepTable& table) {
  const std::string title = fmt::format("Sweep of {} on {}", table.model, table.cluster);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style>{}{}</style>\n</head>\n<body>\n<header><div>\n<h1>{}</h1>\n",
      kPolicy, Html(title), PageStyle(), StudyStyle(), Html(title));
  out += ReasonsSection(table) +
         "</div></header>\n<noscript><p>Charts need the script of this page; the table does "
         "not.</p></noscript>\n<div id=\"best\"></div>\n<h2>All points</h2>\n"
         "<div id=\"parallel\"></div>\n<h2>Two axes</h2>\n<div id=\"grid\"></div>\n"
         "<h2>Two metrics</h2>\n<div id=\"front\"></div>\n";
  out += TableSection(table);
  out += fmt::format(
      "<script type=\"application/json\" id=\"data\">{{\"runs\":[],\"study\":{}}}</script>\n"
      "<script type=\"text/plain\" id=\"d3-license\">{}</script>\n"
      "<script>{}</script>\n<script>{}</script>\n",
      DataOf(table), D3License(), D3Script(), StudyScript());
  return out + "</body>\n</html>\n";
}

}  // namespace drydock
