#include "capture/launch/launchers.h"

#include <gtest/gtest.h>

#include "capture/launch/python_command.h"
#include "capture/launch/testing/launching.h"

namespace drydock::capture {
namespace {

const ClusterSize kCluster = {1000, 8, "GPU", "", 0};

Result<Launch> ProgramOf(const std::string& line, const Variables& environment,
                         const std::optional<JobStep>& step = std::nullopt) {
  return ReadProgram({Split(line), kTestFolder, environment, step, ""}, kCluster);
}

TEST(Program, IsOneRankUnlessToldOtherwise) {
  EXPECT_EQ(TextOf(ProgramOf("python train.py", {})), "1x1 python train.py");
  EXPECT_EQ(TextOf(ProgramOf("python train.py", {{"WORLD_SIZE", "16"}})), "1x1 python train.py");
  EXPECT_EQ(TextOf(ProgramOf("python t.py", {{"RANK", "0"}, {"WORLD_SIZE", "16"}})),
            "2x8 python t.py");
  EXPECT_EQ(TextOf(ProgramOf("python t.py",
                             {{"RANK", "0"}, {"WORLD_SIZE", "16"}, {"LOCAL_WORLD_SIZE", "4"}})),
            "4x4 python t.py");
  EXPECT_EQ(TextOf(ProgramOf("python t.py", {{"RANK", "0"}, {"WORLD_SIZE", "12"}})),
            "WORLD_SIZE 12 is not a multiple of 8, the ranks of a host; set LOCAL_WORLD_SIZE");
  const Launch launch = *ProgramOf("python t.py", {}, JobStep{"srun", 4, 8, 0, 1});
  EXPECT_EQ(TextOf(launch), "4x8 python t.py");
  EXPECT_EQ(ValueOf(EnvironmentOf(launch, 19), "SLURM_NODEID"), "2");
}

TEST(Program, IsWhatPythonRuns) {
  const auto text = [](const std::string& line) {
    const PythonCommand command = ReadPythonCommand(Split(line));
    const char* kinds[] = {"file ", "module ", "other "};
    return kinds[static_cast<int>(command.kind)] + command.target + " " +
           std::to_string(command.arguments);
  };
  EXPECT_EQ(text("python train.py -m x"), "file train.py 2");
  EXPECT_EQ(text("python -u -X dev -W ignore -m pkg.train -c 3"), "module pkg.train 8");
  EXPECT_EQ(text("python -um pkg"), "module pkg 3");
  EXPECT_EQ(text("python -mpkg"), "module pkg 2");
  EXPECT_EQ(text("python -Xdev -OO a.py"), "file a.py 4");
  EXPECT_EQ(text("python -c print(1) a.py"), "other  0");
  EXPECT_EQ(text("python - a.py"), "other  0");
  EXPECT_EQ(text("python --version"), "other  0");
  EXPECT_EQ(text("python"), "other  0");
  for (const char* name : {"python", "python3", "/a/b/python3.11", "pypy3"}) {
    EXPECT_TRUE(IsPython(name)) << name;
  }
  for (const char* name : {"pythonw", "python-config", "ipython", "/python/run"}) {
    EXPECT_FALSE(IsPython(name)) << name;
  }
}

TEST(Call, SurvivesItsFile) {
  const Call call = {
      {"a", "", "b c\n"}, "/f", {{"X", "="}, {"Y", ""}}, JobStep{"srun", 2, 8, 3, 77}, "why"};
  const Call again = *Decode(Encode(call));
  EXPECT_EQ(again.words, call.words);
  EXPECT_EQ(again.environment, call.environment);
  EXPECT_EQ(again.folder, call.folder);
  EXPECT_EQ(again.step, call.step);
  EXPECT_EQ(again.refused, call.refused);
  const std::string text = Encode(call);
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(Decode(std::string_view(text).substr(0, size)).ok()) << size;
  }
}

TEST(Words, AreQuotedForAShell) {
  EXPECT_EQ(Quoted(std::vector<std::string>{"a", "b c", "", "it's", "$x", "--a=b,c:d@e"}),
            "a 'b c' '' 'it'\\''s' '$x' --a=b,c:d@e");
}

TEST(Words, TellWhatALaunchChanges) {
  Launch launch =
      *LaunchOf("deepspeed --num_gpus 2 my.py", {{"A", "1"}, {"B", "2"}, {"SHLVL", "3"}});
  const Variables own = {{"A", "1"}, {"C", "3"}};
  EXPECT_EQ(ShellText(launch, own),
            "cd /cluster/run && env -u C B=2 CROSS_RANK=0 CROSS_SIZE=1 CUDA_VISIBLE_DEVICES=0,1 "
            "LOCAL_SIZE=2 python -u my.py --local_rank=0");
  EXPECT_EQ(
      JsonText(launch, own),
      "{\"launcher\":\"deepspeed\",\"command\":[\"python\",\"-u\",\"my.py\",\"--local_rank=0\"],"
      "\"folder\":\"/cluster/run\",\"environment\":{\"B\":\"2\",\"CROSS_RANK\":\"0\","
      "\"CROSS_SIZE\":\"1\",\"CUDA_VISIBLE_DEVICES\":\"0,1\",\"LOCAL_SIZE\":\"2\"},"
      "\"unset\":[\"C\"],\"hosts\":1,\"ranks_per_host\":2,\"ranks\":2,\"rank_words\":[{"
      "\"index\":3,\"before\":\"--local_rank=\",\"number\":\"local_rank\",\"after\":\"\"}],"
      "\"rank_variables\":{\"CROSS_RANK\":\"host\"}}");
}

}  // namespace
}  // namespace drydock::capture
