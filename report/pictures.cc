#include "report/pictures.h"

#include <fmt/format.h>

#include <array>

#include "report/escape.h"
#include "report/lanes.h"

namespace drydock {
namespace {

constexpr int kLabelWidth = 290;
constexpr int kPlotWidth = 960;
constexpr int kWidth = kLabelWidth + kPlotWidth + 10;

constexpr std::array<const char*, kDimensionCount> kDimensionColours = {
    "#f28e2b", "#d1495b", "#8e6bb0", "#9c755f", "#c9a227", "#3aa6a0"};
constexpr std::array<const char*, 6> kPhaseColours = {"#3f7fbf", "#a3c8ea", "#4f9d69",
                                                      "#8e6bb0", "#c9a227", "#8a8f98"};

const char* PartColour(int part) {
  if (part == 0) return kPhaseColours[0];
  if (part == kPartCount - 4) return "#8f6f3a";
  if (part == kPartCount - 3) return "#5d6778";
  if (part == kPartCount - 2) return "#c3c8d1";
  if (part == kPartCount - 1) return "#e8eaee";
  return kDimensionColours[static_cast<size_t>(part - 1)];
}

// "ranks 0-7", or where that is long "16 ranks".
std::string Listed(const char* noun, const std::vector<int>& numbers, size_t longest) {
  const std::string ranges = RangesOf(numbers);
  if (ranges.size() > longest) return fmt::format("{} {}s", numbers.size(), noun);
  return fmt::format("{}{} {}", noun, numbers.size() == 1 ? "" : "s", ranges);
}

// "ranks 0-7 · layers 0-3, 32-35"
std::string ClassLabel(const ClassBreakdown& each) {
  const std::string ranks = Listed("rank", each.ranks, 12);
  return each.layers.empty() ? ranks : ranks + " · " + Listed("layer", each.layers, 20);
}

std::string Text(int x, int y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     Html(text));
}

// A row of coloured squares with their meaning; *x is where the next one goes.
std::string LegendEntry(int y, const char* colour, const std::string& name, int* x) {
  std::string out =
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" rx=\"2\" fill=\"{}\"/>\n", *x,
                  y - 10, colour);
  out += Text(*x + 16, y, "start", name);
  *x += 34 + 7 * static_cast<int>(name.size());
  return out;
}

std::string Open(int height, const char* what) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, height,
                     what);
}

std::string Bar(const Summary& summary, const ClassBreakdown& each, int y, int height) {
  std::string out = Text(kLabelWidth - 10, y + height - 6, "end", ClassLabel(each));
  double x = kLabelWidth;
  for (int i = 0; i < kPartCount; ++i) {
    const Time part = each.mean[static_cast<size_t>(i)];
    const double share = summary.ShareOf(part);
    if (part == Time()) continue;
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}: {} "
        "({:.1f} %)</title></rect>\n",
        x, y, share * kPlotWidth, height, PartColour(i), PartName(i), ToString(part), share * 100);
    if (share >= 0.06) {
      out += fmt::format("<text class=\"in{}\" x=\"{:.2f}\" y=\"{}\">{:.0f} %</text>\n",
                         i >= kPartCount - 2 ? " dark" : "", x + share * kPlotWidth / 2,
                         y + height - 6, share * 100);
    }
    x += share * kPlotWidth;
  }
  return out;
}

// All runs of one kind and shade as one path: pictures of long iterations stay small.
template <size_t kKinds>
std::string Lane(const std::vector<LaneRun>& runs, int y, int height,
                 const std::array<const char*, kKinds>& colours,
                 const std::vector<std::string>& names) {
  static constexpr std::array<const char*, 4> kShades = {"0.25", "0.5", "0.75", "1"};
  std::array<std::array<std::string, kShades.size()>, kKinds> paths;
  for (const LaneRun& run : runs) {
    paths[static_cast<size_t>(run.what)][static_cast<size_t>(run.quarters - 1)] +=
        fmt::format("M{} {}h{}v{}h-{}z", kLabelWidth + run.begin, y, run.end - run.begin, height,
                    run.end - run.begin);
  }
  std::string out;
  for (size_t i = 0; i < kKinds; ++i) {
    for (size_t shade = 0; shade < kShades.size(); ++shade) {
      if (paths[i][shade].empty()) continue;
      out +=
          fmt::format("<path fill=\"{}\" fill-opacity=\"{}\" d=\"{}\"><title>{}</title></path>\n",
                      colours[i], kShades[shade], paths[i][shade], names[i]);
    }
  }
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

template <size_t kKinds>
void MarkUsed(const std::vector<LaneRun>& runs, std::array<bool, kKinds>* used) {
  for (const LaneRun& run : runs) (*used)[static_cast<size_t>(run.what)] = true;
}

}  // namespace

std::vector<size_t> PictureRows(size_t classes) {
  std::vector<size_t> rows;
  if (classes <= kMaxPictureRows) {
    for (size_t i = 0; i < classes; ++i) rows.push_back(i);
    return rows;
  }
  for (size_t i = 0; i < kMaxPictureRows; ++i) {
    rows.push_back(i * (classes - 1) / (kMaxPictureRows - 1));
  }
  return rows;
}

std::string BarsSvg(const Summary& summary) {
  constexpr int kBar = 20, kPitch = 26, kTop = 26;
  const std::vector<size_t> rows = PictureRows(summary.classes.size());
  std::string out = Open(kTop + kPitch * static_cast<int>(rows.size()),
                         "Where the time of an iteration goes, by class of ranks");
  int x = kLabelWidth;
  for (int i = 0; i < kPartCount; ++i) {
    if (summary.parts[static_cast<size_t>(i)].max == Time()) continue;
    out += LegendEntry(14, PartColour(i), PartName(i), &x);
  }
  int y = kTop;
  for (const size_t row : rows) {
    out += Bar(summary, summary.classes[row], y, kBar);
    y += kPitch;
  }
  return out + "</svg>\n";
}

std::string TimelineSvg(const Inputs& inputs, const Summary& summary) {
  constexpr int kCompute = 18, kCommunication = 6, kPitch = 32, kTop = 46;
  std::array<bool, kPhaseColours.size()> phases = {};
  std::array<bool, kDimensionCount> dimensions = {};
  std::string lanes;
  int y = kTop;
  for (const size_t row : PictureRows(summary.classes.size())) {
    const int rank = summary.classes[row].ranks.front();
    const std::vector<LaneRun> compute = ComputeLane(inputs, rank, kPlotWidth);
    const std::vector<LaneRun> moving = CommunicationLane(inputs, rank, kPlotWidth);
    MarkUsed(compute, &phases);
    MarkUsed(moving, &dimensions);
    lanes += Text(kLabelWidth - 10, y + 13, "end", fmt::format("rank {}", rank));
    lanes += Lane(compute, y, kCompute, kPhaseColours, PhaseNames());
    lanes += Lane(moving, y + kCompute + 1, kCommunication, kDimensionColours, DimensionNames());
    y += kPitch;
  }
  std::string out = Open(y + 20, "When each pipeline stage computes and communicates");
  int x = kLabelWidth;
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases[i]) out += LegendEntry(14, kPhaseColours[i], PhaseNames()[i], &x);
  }
  x = kLabelWidth;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (!dimensions[i]) continue;
    out += LegendEntry(32, kDimensionColours[i], DimensionNames()[i] + " communication", &x);
  }
  return out + Axis(inputs.timeline.iteration, kTop - 6, y) + lanes + "</svg>\n";
}

}  // namespace drydock
