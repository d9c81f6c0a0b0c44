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
      {"docker run --gpus all -it --rm -v /a:/b -w /b -e A=1 image:1 sh train.sh 8",
       "sh train.sh 8"},
      {"docker run --entrypoint torchrun image x", "torchrun x"},
      {"docker --gpus all run image python a.py", "python a.py"},
      {"docker ps", ""},
      {"sudo -E A=1 torchrun x", "torchrun x"},
      {"docker run image", ""},
      {"enroot start --root -m /a:/b name torchrun x", "torchrun x"},
      {"ssh -o A=b -p 22 user@host cd /a; torchrun x", "bash -c 'cd /a; torchrun x'"},
      {"ssh host", ""},
      {"pdsh -R ssh -w host[1-4] torchrun --node-rank %n x%n %h",
       "bash -c 'torchrun --node-rank 0 x0 node0'"},
      {"clush -bw n[1-2] torchrun x", "bash -c 'torchrun x'"},
      {"uv pip install x", ""},
      {"nsys stats x", ""},
  };
  for (const LineCase& test : cases) {
    const auto inside = CommandInside(Split(test.line));
    ASSERT_TRUE(inside.ok()) << inside.error().message();
    EXPECT_EQ(Quoted(inside->value().words), test.starts) << test.line;
  }
  EXPECT_FALSE(CommandInside({"torchrun"})->has_value());
  EXPECT_FALSE(CommandInside(Split("numactl -N 0 x"))->value().elsewhere);
  const InsideCommand container =
      CommandInside(Split("apptainer exec --env A=1,B=2 image.sif x"))->value();
  EXPECT_TRUE(container.elsewhere);
  EXPECT_EQ(container.environment, (Variables{{"A", "1"}, {"B", "2"}}));
  EXPECT_EQ(CommandInside(Split("uv run --directory /a --env-file b x"))->value().folder, "/a");
  EXPECT_EQ(CommandInside(Split("uv run --env-file b x"))->value().ignored, "--env-file b");
  EXPECT_EQ(CommandInside(Split("docker run -w /no/such i x"))->value().folder, "");
  EXPECT_EQ(CommandInside(Split("docker run -w /usr i x"))->value().folder, "/usr");
  EXPECT_EQ(CommandInside(Split("apptainer exec -W /usr i x"))->value().folder, "");
  EXPECT_EQ(CommandInside(Split("docker run -e A=1,2 -e HOME i x"))->value().environment,
            (Variables{{"A", "1,2"}}));
  EXPECT_EQ(CommandInside(Split("numactl --membnd 0 x")).error().message(),
            "numactl: option '--membnd' is not known; did you mean '--membind'?");
}

}  // namespace
}  // namespace drydock::capture
