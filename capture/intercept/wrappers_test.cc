#include "capture/intercept/wrappers.h"

#include <gtest/gtest.h>

#include "capture/launch/testing/launching.h"

namespace drydock::capture {
namespace {

TEST(Wrappers, SurroundACommand) {
  const LineCase cases[] = {
      {"numactl -N 0 --membind=0 torchrun x", "torchrun x"},
      {"nsys profile -t cuda,nvtx -o out --force-overwrite true -x true python a.py",
       "python a.py"},
      {"uv run --with torch --frozen torchrun x", "torchrun x"},
      {"uv run train.py --lr 1", "python train.py --lr 1"},
      {"uv run -m pkg.train", "python -m pkg.train"},
      {"conda run -n env --no-capture-output python a.py", "python a.py"},
      {"apptainer exec --nv -B /a:/b image.sif torchrun x", "torchrun x"},
      {"shifter --image=a:b python a.py", "python a.py"},
      {"poetry run torchrun x", "torchrun x"},
      {"uv pip install x", ""},
      {"nsys stats x", ""},
  };
  for (const LineCase& test : cases) {
    const auto inside = CommandInside(Split(test.line));
    ASSERT_TRUE(inside.ok()) << inside.error().message();
    EXPECT_EQ(Quoted(inside->value()), test.starts) << test.line;
  }
  EXPECT_FALSE(CommandInside({"torchrun"})->has_value());
  EXPECT_EQ(CommandInside(Split("numactl --membnd 0 x")).error().message(),
            "numactl: option '--membnd' is not known; did you mean '--membind'?");
}

}  // namespace
}  // namespace drydock::capture
