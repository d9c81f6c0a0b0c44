#include "study/axes/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock {
namespace {

using testing::ElementsAre;

std::vector<Axis> Axes() {
  return {ParseAxis("parallel.tensor=1,2").value(), ParseAxis("parallel.pipeline=4,8").value(),
          ParseAxis("cluster.hosts=1,2,3").value()};
}

std::string ErrorOf(const Result<Space>& space) {
  return space.ok() ? "" : space.error().message();
}

TEST(Space, CountsTheLastAxisFastest) {
  const Space space = MakeSpace(Axes(), {}, {}).value();
  EXPECT_EQ(CountBeforeConstraints(space), 12U);
  const std::vector<SpacePoint> points = PointsOf(space).value();
  ASSERT_EQ(points.size(), 12U);
  EXPECT_THAT(AssignmentsOf(space, points[1]),
              ElementsAre("parallel.tensor=1", "parallel.pipeline=4", "cluster.hosts=2"));
  EXPECT_THAT(AssignmentsOf(space, points[11]),
              ElementsAre("parallel.tensor=2", "parallel.pipeline=8", "cluster.hosts=3"));
}

TEST(Space, AdvancesZippedAxesTogether) {
  const Space space = MakeSpace(Axes(), {{"tensor", "parallel.pipeline"}}, {}).value();
  const std::vector<SpacePoint> points = PointsOf(space).value();
  ASSERT_EQ(points.size(), 6U);
  EXPECT_THAT(points[2], ElementsAre(0, 0, 2));
  EXPECT_THAT(points[3], ElementsAre(1, 1, 0));
}

TEST(Space, KeepsPointsThatFulfillAllConstraints) {
  const Space space = MakeSpace(Axes(), {}, {"tensor * pipeline <= 8", "hosts > 1"}).value();
  EXPECT_EQ(PointsOf(space).value().size(), 6U);
}

TEST(Space, SaysWhichConstraintLeavesNothing) {
  const Space space = MakeSpace(Axes(), {}, {"hosts < 3", "tensor > 2"}).value();
  const Result<std::vector<SpacePoint>> points = PointsOf(space);
  ASSERT_FALSE(points.ok());
  EXPECT_EQ(points.error().message(),
            "no point is left: none of 12 fulfills the constraints; 'tensor > 2' refuses 8");
}

TEST(Space, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf(MakeSpace({}, {}, {})),
            "no axis: give --over KEY=VALUES, such as parallel.tensor=1,2,4");
  EXPECT_EQ(ErrorOf(MakeSpace(Axes(), {{"tensor", "hosts"}}, {})),
            "zip: parallel.tensor has 2 values and cluster.hosts has 3; axes that advance together "
            "have equally many");
  EXPECT_EQ(ErrorOf(MakeSpace(Axes(), {{"tensor"}}, {})), "zip: name at least two axes");
  EXPECT_EQ(ErrorOf(MakeSpace(Axes(), {{"tensor", "tensor"}}, {})),
            "zip: parallel.tensor is named twice");
  EXPECT_EQ(ErrorOf(MakeSpace(Axes(), {{"tensor", "parallel.pipelin"}}, {})),
            "zip: there is no axis 'parallel.pipelin'; did you mean 'parallel.pipeline'?");
  std::vector<Axis> twice = Axes();
  twice.push_back(twice.front());
  EXPECT_EQ(ErrorOf(MakeSpace(twice, {}, {})),
            "the axis parallel.tensor is given twice; write its values in one list");
}

TEST(Space, CountsWithoutOverflow) {
  std::vector<Axis> axes;
  for (int i = 0; i < 20; ++i) {
    Axis& axis = axes.emplace_back();
    axis.key = "a.b" + std::to_string(i);
    for (int v = 0; v < 1000; ++v) axis.values.push_back(std::to_string(v));
  }
  EXPECT_EQ(CountBeforeConstraints(MakeSpace(axes, {}, {}).value()), SIZE_MAX);
}

}  // namespace
}  // namespace drydock
