// report.html: the summary as one self-contained page. Tables are HTML; charts are drawn by the
// page's script (report/page/browser) with D3, which is part of the page. The page loads nothing:
// its content security policy forbids it.
#ifndef DRYDOCK_REPORT_PAGE_PAGE_H_
#define DRYDOCK_REPORT_PAGE_PAGE_H_

#include <string>

#include "report/facts/summary.h"
#include "report/output/compare.h"

namespace drydock {

// Another run, the base of the page's changes.
struct PageBase {
  Summary summary;
  Comparison comparison;
  std::string data;
};

// `data`: PageData of the run. `base`: null: none.
std::string PageOf(const Summary& summary, const std::string& data, const PageBase* base = nullptr);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PAGE_PAGE_H_
