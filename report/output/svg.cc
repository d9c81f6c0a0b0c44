#include "report/output/svg.h"

#include <fmt/format.h>

#include <array>

#include "report/output/escape.h"

namespace drydock::svg {

const char* DimensionColor(int dimension) {
  static constexpr std::array<const char*, kDimensionCount> kColors = {
      "#f28e2b", "#d1495b", "#8e6bb0", "#9c755f", "#c9a227", "#3aa6a0"};
  return kColors[static_cast<size_t>(dimension)];
}

const char* PhaseColor(int phase) {
  static constexpr std::array<const char*, 6> kColors = {"#3f7fbf", "#a3c8ea", "#4f9d69",
                                                          "#8e6bb0", "#c9a227", "#8a8f98"};
  return kColors[static_cast<size_t>(phase)];
}

std::string Open(int height, const char* what) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, height,
                     what);
}

std::string Text(int x, int y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     Html(text));
}

std::string Label(int y, int height, const std::string& text) {
  return Text(kLabelWidth - 10, y + height / 2 + 4, "end", text);
}

std::string LegendEntry(int y, const char* color, const std::string& name, int* x) {
  std::string out =
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" rx=\"2\" fill=\"{}\"/>\n", *x,
                  y - 10, color);
  out += Text(*x + 16, y, "start", name);
  *x += 34 + 7 * static_cast<int>(name.size());
  return out;
}

std::string Axis(Time iteration, int top, int bottom) {
  constexpr int kTicks = 5;
  std::string out;
  for (int i = 0; i <= kTicks; ++i) {
    const int x = kLabelWidth + kPlotWidth * i / kTicks;
    out += fmt::format("<path class=\"tick\" d=\"M{} {}V{}\"/>\n", x, top, bottom);
    const Time time = Time::Ps(iteration.ps() / kTicks * i);
    out += Text(x, bottom + 14, i == kTicks ? "end" : "middle",
                i == 0 ? "0" : ToString(i == kTicks ? iteration : time));
  }
  return out;
}

std::string Lane(const std::vector<LaneRun>& runs, int y, int height,
                 const std::vector<std::string>& colors, const std::vector<std::string>& names) {
  static constexpr std::array<const char*, 4> kShades = {"0.25", "0.5", "0.75", "1"};
  std::vector<std::array<std::string, kShades.size()>> paths(colors.size());
  for (const LaneRun& run : runs) {
    paths[static_cast<size_t>(run.what)][static_cast<size_t>(run.quarters - 1)] +=
        fmt::format("M{} {}h{}v{}h-{}z", kLabelWidth + run.begin, y, run.end - run.begin, height,
                    run.end - run.begin);
  }
  std::string out;
  for (size_t i = 0; i < colors.size(); ++i) {
    for (size_t shade = 0; shade < kShades.size(); ++shade) {
      if (paths[i][shade].empty()) continue;
      out +=
          fmt::format("<path fill=\"{}\" fill-opacity=\"{}\" d=\"{}\"><title>{}</title></path>\n",
                      colors[i], kShades[shade], paths[i][shade], names[i]);
    }
  }
  return out;
}

}  // namespace drydock::svg
