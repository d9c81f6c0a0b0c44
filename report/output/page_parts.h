// What the page's sections are written with: tables, headings, figures as people read them.
#ifndef DRYDOCK_REPORT_OUTPUT_PAGE_PARTS_H_
#define DRYDOCK_REPORT_OUTPUT_PAGE_PARTS_H_

#include <string>
#include <vector>

namespace drydock {

// One cell; numbers stand right.
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

// `note` is plain text.
std::string Section(const char* title, const std::string& note, const std::string& content);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_PAGE_PARTS_H_
