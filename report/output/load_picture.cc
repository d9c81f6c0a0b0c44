#include "report/output/load_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/output/svg.h"

namespace drydock {
namespace {

using namespace svg;

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
