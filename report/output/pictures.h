// The pictures of the page, as SVG text. Deterministic: coordinates are whole pixels or fixed
// decimals. Colors have a legend in words, and every mark has a title that names it.
#ifndef DRYDOCK_REPORT_OUTPUT_PICTURES_H_
#define DRYDOCK_REPORT_OUTPUT_PICTURES_H_

#include <string>
#include <vector>

#include "report/inputs/inputs.h"
#include "report/facts/summary.h"

namespace drydock {

// "ranks 0-7 · layers 0-3, 32-35"
std::string ClassLabel(const ClassBreakdown& each);

// Draws a bar for each rank class: the parts of its mean iteration, side by side.
std::string BarsSvg(const Summary& summary);

// Draws two lanes for each rank: compute by phase and, below it, transfers by dimension.
std::string TimelineSvg(const Inputs& inputs, const std::vector<int>& ranks);

// Pictures show at most this many classes or ranks, evenly chosen; the page states it.
inline constexpr size_t kMaxPictureRows = 32;
std::vector<size_t> PictureRows(size_t all);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_PICTURES_H_
