// The points of a sweep: products of axes, some of which advance together, that fulfill all
// constraints.
#ifndef DRYDOCK_STUDY_AXES_SPACE_H_
#define DRYDOCK_STUDY_AXES_SPACE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "study/axes/axis.h"
#include "study/axes/constraint.h"

namespace drydock {

// An index into Axis::values for each axis.
using SpacePoint = std::vector<size_t>;

struct Space {
  std::vector<Axis> axes;
  // Axes that advance together, by index. They have equally many values.
  std::vector<std::vector<size_t>> zipped;
  std::vector<Constraint> constraints;
};

// Makes a space. `zip`: lists of names of axes. Errors: no axis, an axis twice, unknown names, axes
// of different lengths that advance together.
Result<Space> MakeSpace(std::vector<Axis> axes, const std::vector<std::vector<std::string>>& zip,
                        const std::vector<std::string>& constraints);

// The number of points before the constraints; SIZE_MAX if it exceeds that.
size_t CountBeforeConstraints(const Space& space);

// The points in order: the last axis varies fastest. Errors: no point fulfills the constraints.
// REQUIRES: CountBeforeConstraints(space) fits the memory.
Result<std::vector<SpacePoint>> PointsOf(const Space& space);

// The values of a point as --set takes them, in the order of the axes: "parallel.tensor=4".
std::vector<std::string> AssignmentsOf(const Space& space, const SpacePoint& point);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_AXES_SPACE_H_
