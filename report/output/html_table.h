// HTML for the sections of the page: tables, headings, percentages.
#ifndef DRYDOCK_REPORT_OUTPUT_HTML_TABLE_H_
#define DRYDOCK_REPORT_OUTPUT_HTML_TABLE_H_

#include <string>
#include <vector>

namespace drydock {

// One cell; numbers are right-aligned.
struct Cell {
  std::string text;
  bool number = false;
};
inline Cell Words(std::string text) { return {std::move(text), false}; }
inline Cell Number(std::string text) { return {std::move(text), true}; }

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

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_HTML_TABLE_H_
