#include "report/output/path_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/output/pictures.h"
#include "report/output/svg.h"

namespace drydock {
namespace {

using namespace svg;

const char* PathColor(int part) {
  if (part == 0) return PhaseColor(0);
  if (part == kPathHostPart) return kHostColor;
  if (part == kPathPartCount - 2) return kMemoryColor;
  return DimensionColor(part - 1);
}

}  // namespace

std::string PathSvg(const Inputs& inputs, const Summary& summary) {
  constexpr int kBar = 18, kPitch = 24, kTop = 30;
  const size_t classes = summary.classes.size();
  const size_t rows = std::min(classes, kMaxPictureRows);
  std::vector<size_t> row_of_class(inputs.workload.programs.size());
  for (size_t i = 0; i < classes; ++i) {
    const auto rank = static_cast<size_t>(summary.classes[i].ranks.front());
    row_of_class[static_cast<size_t>(inputs.workload.class_of_rank[rank])] = i * rows / classes;
  }
  std::vector<std::vector<Interval>> intervals(rows);
  for (const PathStep& step : summary.path.steps) {
    const int of_class = inputs.workload.class_of_rank[static_cast<size_t>(step.rank)];
    intervals[row_of_class[static_cast<size_t>(of_class)]].push_back(
        {step.begin, step.end, PathPartOf(inputs, step)});
  }
  std::vector<std::string> colors, names;
  std::string legend;
  int x = kLabelWidth;
  for (int part = 0; part < kPathPartCount; ++part) {
    colors.emplace_back(PathColor(part));
    names.push_back(PathPartName(part));
    if (summary.path.parts[static_cast<size_t>(part)] == Time()) continue;
    legend += LegendEntry(14, PathColor(part), PathPartName(part), &x);
  }
  std::string lanes;
  int y = kTop;
  for (size_t row = 0; row < rows; ++row) {
    const size_t first = (row * classes + rows - 1) / rows;  // the first class of the row
    const size_t next = ((row + 1) * classes + rows - 1) / rows;
    lanes += Label(y, kBar,
                   next - first > 1 ? fmt::format("classes {} to {}", first, next - 1)
                                    : ClassLabel(summary.classes[first]));
    lanes += Lane(LaneOf(intervals[row], summary.rates.iteration, kPlotWidth, kPathPartCount), y,
                  kBar, colors, names);
    y += kPitch;
  }
  return Open(y + 20, "The critical path through the cluster") + legend +
         Axis(summary.rates.iteration, kTop - 4, y) + lanes + "</svg>\n";
}

}  // namespace drydock
