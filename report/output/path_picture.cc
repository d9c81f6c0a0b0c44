// The pictures of the critical path and of the links.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/output/pictures.h"
#include "report/output/svg.h"

namespace drydock {
namespace {

using namespace svg;

const char* PathColour(int part) {
  if (part == 0) return PhaseColour(0);
  if (part == kPathPartCount - 1) return kHostColour;
  if (part == kPathPartCount - 2) return kMemoryColour;
  return DimensionColour(part - 1);
}

// From pale yellow to dark red, in equal steps of the share.
constexpr std::array<const char*, 8> kHeat = {"#fff3c4", "#fedd8a", "#feb756", "#fd8d3c",
                                              "#f9602f", "#e0281d", "#b30826", "#6b0022"};

int HeatOf(double share) {
  const int level = static_cast<int>(share * static_cast<double>(kHeat.size()));
  return std::clamp(level, 0, static_cast<int>(kHeat.size()) - 1);
}

std::string HeatLegend() {
  std::string out;
  int x = kLabelWidth;
  for (size_t i = 0; i < kHeat.size(); ++i) {
    const std::string name = fmt::format(
        "{:g} %", 100.0 * static_cast<double>(i + 1) / static_cast<double>(kHeat.size()));
    out += LegendEntry(14, kHeat[i], "to " + name, &x);
  }
  return out;
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
  std::vector<std::string> colours, names;
  std::string legend;
  int x = kLabelWidth;
  for (int part = 0; part < kPathPartCount; ++part) {
    colours.emplace_back(PathColour(part));
    names.push_back(PathPartName(part));
    if (summary.path.parts[static_cast<size_t>(part)] == Time()) continue;
    legend += LegendEntry(14, PathColour(part), PathPartName(part), &x);
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
                  kBar, colours, names);
    y += kPitch;
  }
  return Open(y + 20, "The critical path through the cluster") + legend +
         Axis(summary.rates.iteration, kTop - 4, y) + lanes + "</svg>\n";
}

std::string LoadSvg(const std::vector<LoadRow>& rows, Time iteration, const char* what) {
  constexpr int kBar = 14, kPitch = 17, kTop = 28;
  std::array<std::string, kHeat.size()> paths;
  std::string labels;
  int y = kTop;
  for (const LoadRow& row : rows) {
    labels += Label(y, kBar, fmt::format("{} · {:.1f} %", row.name, row.mean * 100));
    const auto columns = static_cast<int>(row.share.size());
    for (int begin = 0, end; begin < columns; begin = end) {
      const double share = row.share[static_cast<size_t>(begin)];
      const auto same = [&](int column) {
        const double other = row.share[static_cast<size_t>(column)];
        return (share > 0) == (other > 0) && HeatOf(share) == HeatOf(other);
      };
      for (end = begin + 1; end < columns && same(end);) ++end;
      if (share <= 0) continue;
      const int left = kLabelWidth + kPlotWidth * begin / columns;
      const int width = kLabelWidth + kPlotWidth * end / columns - left;
      paths[static_cast<size_t>(HeatOf(share))] +=
          fmt::format("M{} {}h{}v{}h-{}z", left, y, width, kBar, width);
    }
    y += kPitch;
  }
  std::string out = Open(y + 20, what) + HeatLegend() + Axis(iteration, kTop - 4, y) + labels;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) continue;
    out += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", kHeat[i], paths[i]);
  }
  return out + "</svg>\n";
}

}  // namespace drydock
