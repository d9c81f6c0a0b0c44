#include "report/output/html_table.h"

#include <fmt/format.h>

#include "report/output/escape.h"

namespace drydock {
namespace {

std::string Row(const char* tag, const std::vector<Cell>& cells) {
  std::string out = "<tr>";
  for (const Cell& cell : cells) {
    out +=
        fmt::format("<{}{}>{}</{}>", tag, cell.number ? " class=\"n\"" : "", Html(cell.text), tag);
  }
  return out + "</tr>\n";
}

}  // namespace

Table::Table(const std::vector<Cell>& head)
    : text_("<div class=\"wide\"><table>\n<thead>" + Row("th", head) + "</thead>\n<tbody>\n") {}

void Table::Add(const std::vector<Cell>& cells) { text_ += Row("td", cells); }

std::string Table::Finish() && { return std::move(text_) + "</tbody></table></div>\n"; }

std::string Percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string Section(const char* title, const std::string& note, const std::string& content) {
  return fmt::format("<h2>{}</h2>\n<p>{}</p>\n{}", Html(title), Html(note), content);
}

}  // namespace drydock
