#include "report/output/pictures.h"

#include <fmt/format.h>

#include "report/facts/lanes.h"
#include "report/output/escape.h"
#include "report/output/svg.h"

namespace drydock {
namespace {

using namespace svg;

const char* PartColor(int part) {
  if (part == 0) return PhaseColor(0);
  if (part == kPartCount - 5) return kMemoryColor;
  if (part == kPartCount - 4) return kHostColor;
  if (part == kPartCount - 3) return "#6b4226";
  if (part == kPartCount - 2) return "#c3c8d1";
  if (part == kPartCount - 1) return "#e8eaee";
  return DimensionColor(part - 1);
}

// Returns "ranks 0-7", or "16 ranks" if the list is long.
std::string Listed(const char* noun, const std::vector<int>& numbers, size_t longest) {
  const std::string ranges = RangesOf(numbers);
  if (ranges.size() > longest) return fmt::format("{} {}s", numbers.size(), noun);
  return fmt::format("{}{} {}", noun, numbers.size() == 1 ? "" : "s", ranges);
}

std::string Bar(const Summary& summary, const ClassBreakdown& each, int y, int height) {
  std::string out = Label(y, height, ClassLabel(each));
  double x = kLabelWidth;
  for (int i = 0; i < kPartCount; ++i) {
    const Time part = each.mean[static_cast<size_t>(i)];
    const double share = summary.ShareOf(part);
    if (part == Time()) continue;
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}: {} "
        "({:.1f} %)</title></rect>\n",
        x, y, share * kPlotWidth, height, PartColor(i), PartName(i), ToString(part), share * 100);
    if (share >= 0.06) {
      out += fmt::format("<text class=\"in{}\" x=\"{:.2f}\" y=\"{}\">{:.0f} %</text>\n",
                         i >= kPartCount - 2 ? " dark" : "", x + share * kPlotWidth / 2,
                         y + height - 6, share * 100);
    }
    x += share * kPlotWidth;
  }
  return out;
}

std::vector<std::string> PhaseColors() {
  std::vector<std::string> colors;
  for (size_t i = 0; i < PhaseNames().size(); ++i) {
    colors.emplace_back(PhaseColor(static_cast<int>(i)));
  }
  return colors;
}

std::vector<std::string> DimensionColors() {
  std::vector<std::string> colors;
  for (int i = 0; i < kDimensionCount; ++i) colors.emplace_back(DimensionColor(i));
  return colors;
}

void MarkUsed(const std::vector<LaneRun>& runs, std::vector<bool>* used) {
  for (const LaneRun& run : runs) (*used)[static_cast<size_t>(run.what)] = true;
}

}  // namespace

std::string ClassLabel(const ClassBreakdown& each) {
  const std::string ranks = Listed("rank", each.ranks, 12);
  return each.layers.empty() ? ranks : ranks + " · " + Listed("layer", each.layers, 20);
}

std::vector<size_t> PictureRows(size_t all) {
  std::vector<size_t> rows;
  if (all <= kMaxPictureRows) {
    for (size_t i = 0; i < all; ++i) rows.push_back(i);
    return rows;
  }
  for (size_t i = 0; i < kMaxPictureRows; ++i) {
    rows.push_back(i * (all - 1) / (kMaxPictureRows - 1));
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
    out += LegendEntry(14, PartColor(i), PartName(i), &x);
  }
  int y = kTop;
  for (const size_t row : rows) {
    out += Bar(summary, summary.classes[row], y, kBar);
    y += kPitch;
  }
  return out + "</svg>\n";
}

std::string TimelineSvg(const Inputs& inputs, const std::vector<int>& ranks) {
  constexpr int kCompute = 18, kCommunication = 6, kPitch = 32, kTop = 46;
  std::vector<bool> phases(PhaseNames().size()), dimensions(kDimensionCount);
  std::string lanes;
  int y = kTop;
  for (const size_t row : PictureRows(ranks.size())) {
    const int rank = ranks[row];
    const std::vector<LaneRun> compute = ComputeLane(inputs, rank, kPlotWidth);
    const std::vector<LaneRun> moving = CommunicationLane(inputs, rank, kPlotWidth);
    MarkUsed(compute, &phases);
    MarkUsed(moving, &dimensions);
    lanes += Label(y, kCompute, fmt::format("rank {}", rank));
    lanes += Lane(compute, y, kCompute, PhaseColors(), PhaseNames());
    lanes += Lane(moving, y + kCompute + 1, kCommunication, DimensionColors(), DimensionNames());
    y += kPitch;
  }
  std::string out = Open(y + 20, "When ranks compute and communicate");
  int x = kLabelWidth;
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases[i]) out += LegendEntry(14, PhaseColor(static_cast<int>(i)), PhaseNames()[i], &x);
  }
  x = kLabelWidth;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (!dimensions[i]) continue;
    out += LegendEntry(32, DimensionColor(static_cast<int>(i)),
                       DimensionNames()[i] + " communication", &x);
  }
  return out + Axis(inputs.timeline.iteration, kTop - 6, y) + lanes + "</svg>\n";
}

}  // namespace drydock
