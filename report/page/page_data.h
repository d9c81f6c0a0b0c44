// What the charts of the page show, as JSON for the page's script. Times are whole nanoseconds,
// shares thousandths. docs/explanation/report-page.md has the rules by which data are thinned.
#ifndef DRYDOCK_REPORT_PAGE_PAGE_DATA_H_
#define DRYDOCK_REPORT_PAGE_PAGE_DATA_H_

#include <string>
#include <vector>

#include "report/facts/summary.h"
#include "report/inputs/inputs.h"

namespace drydock {

// Returns the data of one run. `ranks`: those whose timelines and links the page shows; of more
// than kMaxPageRanks, evenly chosen ones. The text is safe inside a script element.
std::string PageData(const Inputs& inputs, const Summary& summary, const std::vector<int>& ranks);

inline constexpr size_t kMaxPageRanks = 32;
inline constexpr size_t kMaxLoadRanks = 16;  // whose links the page shows
// Returns `most` evenly chosen indices below `all`, from first to last; all if there are no more.
std::vector<size_t> EvenlyChosen(size_t all, size_t most);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PAGE_PAGE_DATA_H_
