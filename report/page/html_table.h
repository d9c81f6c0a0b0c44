// HTML for the sections of the page: tables, headings, percentages. The page's script sorts a table
// by a click on a heading and filters its rows (report/page/browser/tables.js).
#ifndef DRYDOCK_REPORT_PAGE_HTML_TABLE_H_
#define DRYDOCK_REPORT_PAGE_HTML_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace drydock {

// One cell. Numbers are right-aligned; `key` orders them, whatever unit the text has.
struct Cell {
  std::string text;
  bool number = false;
  std::optional<double> key;
};
inline Cell Words(std::string text) { return {std::move(text)}; }
inline Cell Heading(std::string text) { return {std::move(text), true}; }  // of numbers
inline Cell Number(std::string text, double key) { return {std::move(text), true, key}; }
Cell Count(int64_t value);
Cell Duration(Time time);
Cell Duration(const std::optional<Time>& time);  // "none"
Cell Share(double share);                        // "12.3 %"
// "+1.20 % ▲" of the base: ▲ if this run is slower, ▼ if it is faster. Empty if absent.
Cell ChangeCell(const std::optional<double>& share, bool more_is_slower = true);

class Table {
 public:
  explicit Table(const std::vector<Cell>& head);
  void Add(const std::vector<Cell>& cells);
  std::string Finish() &&;

 private:
  std::string text_;
};

std::string Percent(double share);  // "12.3 %"

// Returns a section with a heading and a note; `note` is plain text.
std::string Section(const char* title, const std::string& note, const std::string& content);

// Returns the place of a chart that the script draws, with its name for those who cannot see it.
std::string Chart(const char* id, const char* what);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PAGE_HTML_TABLE_H_
