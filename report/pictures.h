// The pictures of the page, as SVG text. Deterministic: coordinates are whole pixels or fixed
// decimals. Colours have a legend in words, and every mark a title that says what it is.
#ifndef DRYDOCK_REPORT_PICTURES_H_
#define DRYDOCK_REPORT_PICTURES_H_

#include <string>
#include <vector>

#include "report/inputs.h"
#include "report/summary.h"

namespace drydock {

// A bar for each class of ranks: the parts of its mean iteration, side by side.
std::string BarsSvg(const Summary& summary);

// Two lanes for the lowest rank of each class: compute by phase and, below it, data on the move by
// dimension.
std::string TimelineSvg(const Inputs& inputs, const Summary& summary);

// At most this many classes are drawn, evenly chosen; the page says so if there are more.
inline constexpr size_t kMaxPictureRows = 32;
std::vector<size_t> PictureRows(size_t classes);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PICTURES_H_
