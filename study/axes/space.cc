#include "study/axes/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace drydock {
namespace {

// One digit of the count through the points: axes that advance together.
std::vector<std::vector<size_t>> DigitsOf(const Space& space) {
  std::vector<std::vector<size_t>> digits;
  for (size_t i = 0; i < space.axes.size(); ++i) {
    const auto group = std::find_if(space.zipped.begin(), space.zipped.end(),
                                    [i](const std::vector<size_t>& each) {
                                      return std::find(each.begin(), each.end(), i) != each.end();
                                    });
    if (group == space.zipped.end()) {
      digits.push_back({i});
    } else if (*std::min_element(group->begin(), group->end()) == i) {
      digits.push_back(*group);
    }
  }
  return digits;
}

Status CheckDistinctKeys(const std::vector<Axis>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (axes[j].key != axes[i].key) continue;
      return Error(
          fmt::format("the axis {} is given twice; write its values in one list", axes[i].key),
          axes[i].location);
    }
  }
  return OkStatus();
}

Status AddZip(const std::vector<std::string>& names, Space* space) {
  std::vector<size_t> group;
  for (const std::string& name : names) {
    const Result<size_t> named = FindAxis(space->axes, name);
    if (!named.ok()) return Error(fmt::format("zip: {}", named.error().message()));
    const size_t axis = *named;
    for (const std::vector<size_t>& other : space->zipped) {
      if (std::find(other.begin(), other.end(), axis) == other.end()) continue;
      return Error(fmt::format("zip: {} is in two lists", space->axes[axis].key));
    }
    if (std::find(group.begin(), group.end(), axis) != group.end()) {
      return Error(fmt::format("zip: {} is named twice", space->axes[axis].key));
    }
    group.push_back(axis);
    const Axis& first = space->axes[group.front()];
    const Axis& here = space->axes[axis];
    if (here.values.size() == first.values.size()) continue;
    return Error(
        fmt::format("zip: {} has {} values and {} has {}; axes that advance together "
                    "have equally many",
                    first.key, first.values.size(), here.key, here.values.size()));
  }
  if (group.size() < 2) return Error("zip: name at least two axes");
  space->zipped.push_back(std::move(group));
  return OkStatus();
}

}  // namespace

Result<Space> MakeSpace(std::vector<Axis> axes, const std::vector<std::vector<std::string>>& zip,
                        const std::vector<std::string>& constraints) {
  if (axes.empty()) return Error("no axis: give --over KEY=VALUES, such as parallel.tensor=1,2,4");
  RETURN_IF_ERROR(CheckDistinctKeys(axes));
  Space space;
  space.axes = std::move(axes);
  for (const std::vector<std::string>& names : zip) RETURN_IF_ERROR(AddZip(names, &space));
  for (const std::string& text : constraints) {
    ASSIGN_OR_RETURN(Constraint constraint, Constraint::Parse(text, space.axes));
    space.constraints.push_back(std::move(constraint));
  }
  return space;
}

size_t CountBeforeConstraints(const Space& space) {
  size_t count = 1;
  for (const std::vector<size_t>& digit : DigitsOf(space)) {
    const size_t values = space.axes[digit.front()].values.size();
    if (count > SIZE_MAX / values) return SIZE_MAX;
    count *= values;
  }
  return count;
}

Result<std::vector<SpacePoint>> PointsOf(const Space& space) {
  const std::vector<std::vector<size_t>> digits = DigitsOf(space);
  const size_t count = CountBeforeConstraints(space);
  std::vector<size_t> refused(space.constraints.size());  // points, by the constraint that fails
  std::vector<SpacePoint> points;
  SpacePoint point(space.axes.size());
  for (size_t number = 0; number < count; ++number) {
    size_t rest = number;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      const size_t values = space.axes[digit->front()].values.size();
      for (const size_t axis : *digit) point[axis] = rest % values;
      rest /= values;
    }
    const auto fails = std::find_if(space.constraints.begin(), space.constraints.end(),
                                    [&](const Constraint& each) { return !each.Holds(point); });
    if (fails == space.constraints.end()) {
      points.push_back(point);
    } else {
      ++refused[static_cast<size_t>(fails - space.constraints.begin())];
    }
  }
  if (!points.empty()) return points;
  const size_t most =
      static_cast<size_t>(std::max_element(refused.begin(), refused.end()) - refused.begin());
  return Error(fmt::format("no point is left: none of {} fulfills the constraints; '{}' refuses {}",
                           count, space.constraints[most].text(), refused[most]));
}

std::vector<std::string> AssignmentsOf(const Space& space, const SpacePoint& point) {
  std::vector<std::string> assignments;
  for (size_t i = 0; i < point.size(); ++i) {
    assignments.push_back(fmt::format("{}={}", space.axes[i].key, space.axes[i].values[point[i]]));
  }
  return assignments;
}

}  // namespace drydock
