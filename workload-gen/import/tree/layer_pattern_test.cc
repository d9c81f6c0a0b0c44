#include "workload-gen/import/tree/layer_pattern.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

using Layers = std::vector<int>;

TEST(LayerPattern, Expands) {
  EXPECT_EQ(ExpandPattern("([0]*3+[1]*2)", 100), (Layers{0, 0, 0, 1, 1}));
  EXPECT_EQ(ExpandPattern("([1, 0]*2 + [1])*2", 100), (Layers{1, 0, 1, 0, 1, 1, 0, 1, 0, 1}));
}

TEST(LayerPattern, RejectsOtherExpressions) {
  for (const char* text : {"", "[0]*", "[2]", "[]", "[0]+", "([0]", "[0]]", "3*[0]", "[0]*99999",
                           "[1]*10*10*10", "__import__('os')"}) {
    EXPECT_EQ(ExpandPattern(text, 100), std::nullopt) << text;
  }
  EXPECT_EQ(ExpandPattern(std::string(100000, '('), 100), std::nullopt);
}

TEST(LayerPattern, LayersOfExperts) {
  const auto pattern = [](const Layers& layers) {
    const std::optional<ExpertPattern> p = AsExpertPattern(layers);
    return p.has_value() ? std::vector<int>{p->first, p->every} : std::vector<int>{};
  };
  EXPECT_EQ(pattern({1, 1, 1}), (Layers{0, 1}));
  EXPECT_EQ(pattern({0, 0, 1, 1}), (Layers{2, 1}));
  EXPECT_EQ(pattern({1, 0, 1, 0}), (Layers{0, 2}));
  EXPECT_EQ(pattern({1, 0, 0}), (Layers{0, 3}));
  EXPECT_EQ(pattern({0, 0, 1}), (Layers{2, 1}));
  EXPECT_EQ(pattern({0, 1, 0, 1}), Layers{}) << "counted from 1";
  EXPECT_EQ(pattern({0, 0}), Layers{});
  EXPECT_EQ(pattern({1, 1, 0}), Layers{});
}

TEST(LayerPattern, LayersWithoutWindow) {
  const auto pattern = [](const Layers& layers) {
    const std::optional<WindowPattern> p = AsWindowPattern(layers);
    return p.has_value() ? std::vector<int>{p->first, p->every} : std::vector<int>{};
  };
  EXPECT_EQ(pattern({1, 0, 1, 0}), (Layers{0, 2}));
  EXPECT_EQ(pattern({1, 1, 1, 0, 1}), (Layers{0, 4}));
  EXPECT_EQ(pattern({1, 1}), (Layers{0, 0}));
  EXPECT_EQ(pattern({0, 1, 1}), (Layers{1, 0}));
  EXPECT_EQ(pattern({0, 0}), (Layers{2, 0})) << "no layer has a window";
  EXPECT_EQ(pattern({0, 0, 0, 1, 1, 0, 1, 1, 0}), (Layers{3, 3}));
  EXPECT_EQ(pattern({1, 0, 0, 1}), Layers{});
  EXPECT_EQ(pattern({1, 1, 0, 1, 0}), Layers{});
}

}  // namespace
}  // namespace drydock
