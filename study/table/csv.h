// Tables as text.
#ifndef DRYDOCK_STUDY_TABLE_CSV_H_
#define DRYDOCK_STUDY_TABLE_CSV_H_

#include <string>
#include <vector>

namespace drydock {

// A row of CSV with its line break. Control characters become '?'. A text that a spreadsheet would
// take for a formula begins with an apostrophe.
std::string CsvLine(const std::vector<std::string>& fields);

// Lines of equally many cells as columns, right-aligned, two blanks apart.
std::string AlignedText(const std::vector<std::vector<std::string>>& lines);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_TABLE_CSV_H_
