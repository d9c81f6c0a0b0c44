// The pieces that the page's pictures are made of, as SVG text. Pictures have one width, room for
// labels on the left, and the iteration from left to right in kPlotWidth columns.
#ifndef DRYDOCK_REPORT_OUTPUT_SVG_H_
#define DRYDOCK_REPORT_OUTPUT_SVG_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/model/workload.h"
#include "report/facts/lanes.h"

namespace drydock::svg {

inline constexpr int kLabelWidth = 290;
inline constexpr int kPlotWidth = 960;
inline constexpr int kWidth = kLabelWidth + kPlotWidth + 10;

const char* DimensionColour(int dimension);
const char* PhaseColour(int phase);
inline constexpr const char* kHostColour = "#5d6778";
inline constexpr const char* kMemoryColour = "#8f6f3a";

std::string Open(int height, const char* what);
std::string Text(int x, int y, const char* anchor, const std::string& text);
// A label left of the row whose mark begins at `y` and is `height` high.
std::string Label(int y, int height, const std::string& text);

// A coloured square with its meaning; *x is where the next one goes.
std::string LegendEntry(int y, const char* colour, const std::string& name, int* x);

// Times along the bottom, and lines at them.
std::string Axis(Time iteration, int top, int bottom);

// All runs of one kind and fullness as one path: pictures of long iterations stay small. Colours
// and names are by LaneRun::what.
std::string Lane(const std::vector<LaneRun>& runs, int y, int height,
                 const std::vector<std::string>& colours, const std::vector<std::string>& names);

}  // namespace drydock::svg

#endif  // DRYDOCK_REPORT_OUTPUT_SVG_H_
