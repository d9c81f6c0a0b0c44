#include "report/page/html_table.h"

#include <fmt/format.h>

#include "report/output/escape.h"

namespace drydock {
namespace {

// Changes smaller than this are neither better nor worse.
constexpr double kNoChange = 0.00005;

std::string HeadCell(const Cell& cell) {
  return fmt::format("<th{}>{}</th>", cell.number ? " class=\"n\"" : "", Html(cell.text));
}

std::string BodyCell(const Cell& cell) {
  const std::string key = cell.key ? fmt::format(" data-key=\"{:.12g}\"", *cell.key) : "";
  return fmt::format("<td{}{}>{}</td>", cell.number ? " class=\"n\"" : "", key, Html(cell.text));
}

template <typename Format>
std::string Row(const std::vector<Cell>& cells, const Format& format) {
  std::string out = "<tr>";
  for (const Cell& cell : cells) out += format(cell);
  return out + "</tr>\n";
}

}  // namespace

Cell Count(int64_t value) { return Number(fmt::format("{}", value), static_cast<double>(value)); }

Cell Duration(Time time) { return Number(ToString(time), time.seconds()); }

Cell Duration(const std::optional<Time>& time) {
  return time ? Duration(*time) : Cell{"none", true, std::nullopt};
}

Cell Share(double share) { return Number(Percent(share), share); }

Cell ChangeCell(const std::optional<double>& share, bool more_is_slower) {
  if (!share) return Heading("");
  const double slower = more_is_slower ? *share : -*share;
  const char* word = slower > kNoChange ? " ▲" : slower < -kNoChange ? " ▼" : "";
  return Number(fmt::format("{:+.2f} %{}", *share * 100, word), *share);
}

Table::Table(const std::vector<Cell>& head)
    : text_("<div class=\"wide\"><table>\n<thead>" + Row(head, HeadCell) + "</thead>\n<tbody>\n") {}

void Table::Add(const std::vector<Cell>& cells) { text_ += Row(cells, BodyCell); }

std::string Table::Finish() && { return std::move(text_) + "</tbody></table></div>\n"; }

std::string Percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string Section(const char* title, const std::string& note, const std::string& content) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}{}</section>\n", Html(title),
                     note.empty() ? "" : "<p>" + Html(note) + "</p>\n", content);
}

std::string Chart(const char* id, const char* what) {
  return fmt::format("<div class=\"chart\" id=\"{}\" role=\"img\" aria-label=\"{}\"></div>\n", id,
                     Html(what));
}

}  // namespace drydock
