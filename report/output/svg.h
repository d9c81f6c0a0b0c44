// SVG elements of the page's pictures. All pictures have one width, labels on the left, and the
// iteration from left to right in kPlotWidth columns.
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

const char* DimensionColor(int dimension);
const char* PhaseColor(int phase);
inline constexpr const char* kHostColor = "#5d6778";
inline constexpr const char* kMemoryColor = "#8f6f3a";

std::string Open(int height, const char* what);
std::string Text(int x, int y, const char* anchor, const std::string& text);
// Returns a label to the left of a row at `y` of this height.
std::string Label(int y, int height, const std::string& text);

// Returns a colored square with its meaning at *x; sets *x to the place of the next one.
std::string LegendEntry(int y, const char* color, const std::string& name, int* x);

// Returns times along the bottom, with vertical lines.
std::string Axis(Time iteration, int top, int bottom);

// Returns a lane. One SVG path has all runs of one kind and fullness, so pictures of long
// iterations stay small. Colors and names are by LaneRun::what.
std::string Lane(const std::vector<LaneRun>& runs, int y, int height,
                 const std::vector<std::string>& colors, const std::vector<std::string>& names);

}  // namespace drydock::svg

#endif  // DRYDOCK_REPORT_OUTPUT_SVG_H_
