// The tiles at the top of the page: the headline figures, each with its change from another run.
#ifndef DRYDOCK_REPORT_PAGE_TILES_H_
#define DRYDOCK_REPORT_PAGE_TILES_H_

#include <string>

#include "report/facts/summary.h"

namespace drydock {

// `base`: the run to compare with; null: none.
std::string Tiles(const Summary& summary, const Summary* base);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PAGE_TILES_H_
