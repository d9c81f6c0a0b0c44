#include "capture/intercept/script_notes.h"

#include <gtest/gtest.h>

#include <utility>

#include "capture/launch/testing/launching.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

SeenCall Saw(Seen seen, const std::string& line, const std::string& refused = "") {
  return {seen, {Split(line), "/", {}, std::nullopt, refused}};
}

ScriptRun RunOf(std::vector<SeenCall> calls) {
  StagedDirectory folder = StagedDirectory::Create(testing::TempDir() + "script_notes").value();
  return {std::move(folder), std::move(calls), 0, {}, "", false, false};
}

std::string NotesOf(const ScriptRun& run, bool launched) {
  std::vector<std::string> notes;
  AddNotes(run, launched, &notes);
  return Join(notes, "\n");
}

TEST(ScriptNotes, SayOnceWhatWasNotDone) {
  ScriptRun run = RunOf({Saw(Seen::kLaunch, "torchrun t.py"), Saw(Seen::kSkipped, "pip install x"),
                         Saw(Seen::kSkipped, "pip install x"), Saw(Seen::kProgram, "python a.py"),
                         Saw(Seen::kMoved, "ssh h x", "'ssh' ran its command here")});
  run.status = 2;
  run.failed = {"run.sh:7: cd data"};
  run.wrote_home = true;
  EXPECT_EQ(NotesOf(run, true),
            "the script wrote into its HOME, an empty folder that is gone now; --keep-home lets it "
            "write into yours\n"
            "the script ended with exit status 2 at run.sh:7: cd data\n"
            "was not run: pip install x\n"
            "was not run: python a.py; --run-helpers runs it\n"
            "'ssh' ran its command here");
}

// A refused call has the line of its command, if as many commands of its name have failed.
TEST(ScriptNotes, NameTheLineOfARefusal) {
  const std::vector<SeenCall> calls = {Saw(Seen::kRefused, "srun --a", "srun: no --a"),
                                       Saw(Seen::kRefused, "srun --b", "srun: no --b")};
  ScriptRun run = RunOf(calls);
  run.failed = {"run.sh:2: srun --a", "run.sh:4: cd x", "run.sh:5: srun --b"};
  EXPECT_EQ(NotesOf(run, false), "run.sh:2: srun: no --a\nrun.sh:5: srun: no --b");
  run.failed = {"run.sh:2: srun --a"};
  EXPECT_EQ(NotesOf(run, false), "srun: no --a\nsrun: no --b");
}

TEST(ScriptNotes, SayWhyNothingWasLaunched) {
  ScriptRun run = RunOf({Saw(Seen::kMissing, "nowhere --x"), Saw(Seen::kSkipped, "docker ps")});
  run.status = 127;
  ScriptOptions options;
  options.keep_home = true;
  EXPECT_EQ(WhyNothing(run, options, {"bash", "run.sh"}),
            "no training program is started by: bash run.sh\n"
            "  it ended with exit status 127\n"
            "  this machine has no 'nowhere'\n"
            "  was not run: docker ps\n"
            "  the launchers that are known: torchrun, python -m torch.distributed.run, deepspeed, "
            "accelerate launch, srun, mpirun; or write the command of Python itself behind --");
}

}  // namespace
}  // namespace drydock::capture
