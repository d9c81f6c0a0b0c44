// sweep.html: a sweep as one self-contained page, by the means of report.html (report/page).
#ifndef DRYDOCK_STUDY_PAGE_SWEEP_PAGE_H_
#define DRYDOCK_STUDY_PAGE_SWEEP_PAGE_H_

#include <string>

#include "study/table/sweep_table.h"

namespace drydock {

// Parallel coordinates of all axes and metrics, heat maps of two axes, the Pareto front of two
// metrics, and a table whose rows link to the points. The page loads nothing.
std::string SweepPageOf(const SweepTable& table);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_PAGE_SWEEP_PAGE_H_
