#include "core/base/cli.h"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::TemporaryDirectory;

const ToolInfo kInfo = {"mill", "Grinds.", "reads A, writes B", "mill corn -o flour"};

using DeclareFlags = std::function<void(CLI::App*)>;
using Body = std::function<Status()>;

class LambdaCommand final : public Command {
 public:
  LambdaCommand(const ToolInfo& info, DeclareFlags declare, Body body)
      : Command(info), declare_(std::move(declare)), body_(std::move(body)) {}
  void Declare(CLI::App* app, const CommonOptions&) override { declare_(app); }
  Status Run(const CommonOptions&) const override { return body_(); }

 private:
  DeclareFlags declare_;
  Body body_;
};

CommandMaker Mill(const DeclareFlags& declare, const Body& body) {
  return [=] { return std::make_unique<LambdaCommand>(kInfo, declare, body); };
}

// Runs a mill without flags and arguments.
int RunBareMill(const Body& body) {
  char name[] = "mill";
  char* argv[] = {name, nullptr};
  return RunTool(1, argv, Mill([](CLI::App*) {}, body));
}

struct Outcome {
  int exit = 0;
  std::string out, err;
};

// Runs a tool with these arguments. Returns its exit status and what it printed.
Outcome RunWith(std::vector<std::string> words, const CommandMaker& tool,
                const std::vector<CommandMaker>& commands = {}) {
  words.insert(words.begin(), "mill");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit = RunTool(static_cast<int>(argv.size()), argv.data(), tool, commands);
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

Outcome RunMill(const std::vector<std::string>& words, const Body& body = OkStatus) {
  std::string output;
  return RunWith(words, Mill([&](CLI::App* app) { app->add_option("-o,--output", output); }, body));
}

TEST(RunToolTest, CompleteAnswer) {
  const Outcome outcome = RunMill({"-o", "x"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(RunToolTest, HelpNamesFlagsFilesExampleAndExitStatus) {
  const Outcome outcome = RunMill({"--help"});
  EXPECT_EQ(outcome.exit, 0);
  for (const char* text :
       {"Grinds.", "--output", "--check", "--if-changed", "--stats", "--version",
        "Files:\n  reads A, writes B", "Example:\n  mill corn -o flour",
        "0 complete answer, 1 bad input, 2 wrong usage, 3 internal error, 130"}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(RunMill({"--version"}).out.substr(0, 5), "mill ");
}

TEST(RunToolTest, AnUnknownFlagIsWrongUsage) {
  const Outcome outcome = RunMill({"--ouput", "x"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("; did you mean '--output'?\nmill: see mill --help\n"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(RunMill({"--output"}).exit, 2);
}

TEST(RunToolTest, BadInputAndInternalErrors) {
  const Outcome bad = RunMill({}, [] { return Status(Error("no corn", {"field", 3, 0})); });
  EXPECT_EQ(bad.exit, 1);
  EXPECT_EQ(bad.err, "field:3: error: no corn\n");
  const Outcome internal = RunMill({}, []() -> Status { throw std::runtime_error("stone broke"); });
  EXPECT_EQ(internal.exit, 3);
  EXPECT_EQ(internal.err, "mill: internal error: stone broke\n");
}

TEST(RunToolTest, TooLittleMemory) {
  const Body body = [] {
    std::thread([] { ::operator delete(::operator new (size_t{1} << 60)); }).join();
    return OkStatus();
  };
  EXPECT_EXIT(RunBareMill(body), ::testing::ExitedWithCode(1),
              "^mill: error: this machine has too little memory for this run; ");
}

TEST(RunToolTest, StatsGoToStandardError) {
  const Outcome outcome = RunMill({"--stats"});
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(" s wall, "), std::string::npos) << outcome.err;
}

// Forks a tool that has begun a folder and a file and waits; `signal` ends it.
int ExitAfter(int signal, const TemporaryDirectory& dir) {
  const pid_t child = ::fork();
  if (child == 0) {
    RunBareMill([&dir]() -> Status {
      ASSIGN_OR_RETURN(StagedDirectory staged, StagedDirectory::Create(dir / "out"));
      for (int i = 0; i < 300; ++i) {
        RETURN_IF_ERROR(staged.Write("file-" + std::to_string(i), "content"));
      }
      RETURN_IF_ERROR(WriteFileAtomically(dir / "ready", ""));
      for (;;) RETURN_IF_ERROR(WriteFileAtomically(dir / "ready", std::string(1 << 20, 'x')));
    });
    ::_exit(99);
  }
  while (!FileExists(dir / "ready")) ::usleep(1000);
  ::usleep(20000);
  ::kill(child, signal);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(InterruptTest, RemovesUnfinishedFiles) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGINT, SIGTERM}) {
    const TemporaryDirectory dir;
    EXPECT_EQ(ExitAfter(signal, dir), 130);
    EXPECT_EQ(dir.List(), std::vector<std::string>({"ready"}));
  }
}

TEST(InterruptTest, PrintsTheProgress) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    RunBareMill([]() -> Status {
      SayWhenInterrupted("mill", [](char* text, size_t) -> size_t {
        text[0] = '7';
        return 1;
      });
      Say("ready\n");
      for (;;) ::pause();
    });
    ::_exit(99);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[64];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    said.append(buffer, static_cast<size_t>(n));
    if (said == "ready\n") ::kill(child, SIGINT);
  }
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(said, "ready\nmill: interrupted: 7\n");
}

TEST(InterruptTest, AFailedCheckRemovesUnfinishedFiles) {
  const TemporaryDirectory dir;
  EXPECT_EXIT(
      {
        const Result<StagedDirectory> staged = StagedDirectory::Create(dir / "out");
        CHECK(staged.ok() && false);
      },
      ::testing::ExitedWithCode(3), "internal error: ");
  EXPECT_EQ(dir.List(), std::vector<std::string>());
}

// Runs a tool that prints `lines` lines, after `spoil` has changed its streams. Returns the exit
// status.
int ExitWithStreams(const std::function<void()>& spoil, int lines) {
  const pid_t child = ::fork();
  if (child == 0) {
    spoil();
    ::_exit(RunBareMill([lines] {
      Report(kInfo, {}, "grinding");
      for (int i = 0; i < lines; ++i) fmt::print("flour\n");
      return OkStatus();
    }));
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RunToolTest, OutputThatCannotBeWrittenIsAnError) {
  const auto fill = [] {
    if (std::freopen("/dev/full", "w", stdout) == nullptr) ::_exit(98);
  };
  EXPECT_EQ(ExitWithStreams(fill, 1), 1);
  EXPECT_EQ(ExitWithStreams(fill, 100000), 1) << "where the print itself fails";
  EXPECT_EQ(ExitWithStreams([] { ::close(STDOUT_FILENO); }, 1), 1);
  EXPECT_EQ(ExitWithStreams([] { ::close(STDOUT_FILENO); }, 0), 0) << "nothing to say";
}

TEST(RunToolTest, MessagesThatCannotBeWrittenChangeNothing) {
  const auto fill = [] {
    if (std::freopen("/dev/full", "w", stderr) == nullptr) ::_exit(98);
  };
  EXPECT_EQ(ExitWithStreams(fill, 0), 0);
  EXPECT_EQ(ExitWithStreams([] { ::close(STDERR_FILENO); }, 0), 0);
}

TEST(RunToolTest, ClosedStreamsAreNotTakenForArtefacts) {
  const TemporaryDirectory dir;
  const std::string path = dir / "artefact";
  const pid_t child = ::fork();
  if (child == 0) {
    for (int stream = 0; stream < 3; ++stream) ::close(stream);
    ::_exit(RunBareMill([&path] {
      const int artefact = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
      Report(kInfo, {}, "grinding");
      return artefact > STDERR_FILENO ? OkStatus() : Error("a standard stream was taken");
    }));
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(*ReadFile(path), "");
}

TEST(RunToolTest, RequireIfReportsAMissingOption) {
  for (const bool missing : {true, false}) {
    const auto declare = [missing](CLI::App* app) {
      RequireIf(app, "CORN", [missing] { return missing; });
    };
    const Outcome outcome = RunWith({}, Mill(declare, OkStatus));
    EXPECT_EQ(outcome.exit, missing ? 2 : 0);
    EXPECT_EQ(outcome.err, missing ? "mill: error: CORN is required\nmill: see mill --help\n" : "");
  }
}

struct MillOptions {
  std::string corn;
};
void DeclareMill(CLI::App* app, MillOptions* options, const CommonOptions&) {
  app->add_option("corn", options->corn);
  RequireIf(app, "CORN", [options] { return options->corn.empty(); });
}
Status Grind(const MillOptions& options, const CommonOptions&) {
  if (options.corn == "stones") return Error("too hard");
  if (options.corn == "rye") return Error("too wet", {"bin 3", 0, 0});
  fmt::print("ground");
  return OkStatus();
}

struct SiftOptions {
  std::string grade;
};
void DeclareSift(CLI::App* app, SiftOptions* options, const CommonOptions&) {
  app->add_option("--grade", options->grade);
  CheckOptions(app, [options]() -> Status {
    if (options->grade == "fine") return OkStatus();
    return Error("'" + options->grade + "' is not a grade");
  });
}
Status Sift(const SiftOptions&, const CommonOptions& common) {
  fmt::print("sifted{}", common.verbose ? " loudly" : "");
  return OkStatus();
}

// A mill with the command "sift", whose --grade must be "fine".
Outcome RunWithCommand(const std::vector<std::string>& words) {
  static const ToolInfo kSift = {"mill sift", "Sifts.", "reads B", "mill sift", false};
  const auto corn = [](const MillOptions& options) { return options.corn; };
  const auto nothing = [](const SiftOptions&) { return std::string(); };
  return RunWith(words, [&] { return MakeCommand<MillOptions>(kInfo, DeclareMill, Grind, corn); },
                 {[&] { return MakeCommand<SiftOptions>(kSift, DeclareSift, Sift, nothing); }});
}

// An error without a place is about the command's subject.
TEST(RunToolTest, AnErrorNamesTheFileThatItConcerns) {
  EXPECT_EQ(RunWithCommand({"stones"}).err, "stones: error: too hard\n");
  EXPECT_EQ(RunWithCommand({"rye"}).err, "bin 3: error: too wet\n");
  EXPECT_EQ(RunWithCommand({"stones"}).exit, 1);
}

TEST(RunToolTest, CommandsHaveSeparateOptionsAndHelp) {
  EXPECT_EQ(RunWithCommand({"wheat"}).out, "ground");
  EXPECT_EQ(RunWithCommand({"sift", "--grade", "fine", "-v"}).out, "sifted loudly");
  const Outcome help = RunWithCommand({"sift", "--help"});
  EXPECT_EQ(help.exit, 0);
  for (const char* text : {"Sifts.", "--grade", "--check", "Files:\n  reads B", "  mill sift\n"}) {
    EXPECT_NE(help.out.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(help.out.find("--if-changed"), std::string::npos);
}

TEST(RunToolTest, WrongValuesAreWrongUsage) {
  const Outcome outcome = RunWithCommand({"sift", "--grade", "blue"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_EQ(outcome.err, "mill: error: 'blue' is not a grade\nmill: see mill sift --help\n");
  EXPECT_EQ(RunWithCommand({"sift", "--grad", "x"}).exit, 2);
  EXPECT_EQ(RunWithCommand({}).err, "mill: error: CORN is required\nmill: see mill --help\n");
}

}  // namespace
}  // namespace drydock
