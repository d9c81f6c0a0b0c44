// The pictures of the page, as SVG text. Deterministic: coordinates are whole pixels or fixed
// decimals. Colours have a legend in words, and every mark a title that says what it is.
#ifndef DRYDOCK_REPORT_OUTPUT_PICTURES_H_
#define DRYDOCK_REPORT_OUTPUT_PICTURES_H_

#include <string>
#include <vector>

#include "report/facts/inputs.h"
#include "report/facts/link_load.h"
#include "report/facts/summary.h"

namespace drydock {

// "ranks 0-7 · layers 0-3, 32-35"
std::string ClassLabel(const ClassBreakdown& each);

// A bar for each class of ranks: the parts of its mean iteration, side by side.
std::string BarsSvg(const Summary& summary);

// Two lanes for each of the ranks: compute by phase and, below it, data on the move by dimension.
std::string TimelineSvg(const Inputs& inputs, const std::vector<int>& ranks);

// The critical path: a row for each class of ranks (several where there are many), in which the
// stretches stand that the path spends there.
std::string PathSvg(const Inputs& inputs, const Summary& summary);

// How much of their rate links carry in the course of the iteration.
std::string LoadSvg(const std::vector<LoadRow>& rows, Time iteration, const char* what);

// At most this many classes or ranks are drawn, evenly chosen; the page says so if there are more.
inline constexpr size_t kMaxPictureRows = 32;
std::vector<size_t> PictureRows(size_t all);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_PICTURES_H_
