#include "core/base/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr int kExitBadInput = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInternal = 3;
constexpr int kExitInterrupted = 130;

bool silent = false;

// NO_COLOR as its users know it (no-color.org): any value but the empty one.
bool UsesColour() {
  static const bool uses = [] {
    const char* no_color = std::getenv("NO_COLOR");
    return ::isatty(STDERR_FILENO) == 1 && (no_color == nullptr || *no_color == 0);
  }();
  return uses;
}

// The first "error:" or "warning:" of each line that is a word of its own, in colour.
std::string Coloured(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string line = text.substr(begin, end - begin);
    for (const auto& [word, colour] :
         {std::pair("error:", "\x1b[1;31m"), {"warning:", "\x1b[1;33m"}}) {
      const size_t at = line.find(word);
      if (at == std::string::npos || (at > 0 && line[at - 1] != ' ')) continue;
      line.insert(at + ::strlen(word), "\x1b[0m");
      line.insert(at, colour);
      break;
    }
    out += line;
    begin = end;
  }
  return out;
}

constexpr std::string_view kClearLine = "\r\x1b[K";

// Writes with one call, so that no line is mixed.
void WriteMessage(const std::string& text, bool in_place) {
  static std::mutex mutex;
  static bool line_shown = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (in_place && text.empty() && !line_shown) return;
  const std::string shown = (in_place || line_shown ? std::string(kClearLine) : "") + text;
  line_shown = in_place && !text.empty();
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

std::atomic<const char*> interrupted_name = nullptr;
std::atomic<InterruptWords> interrupt_words = nullptr;

// Runs in a signal handler: assembles the line on the stack and writes it with one call.
void SayInterrupted() {
  const InterruptWords words = interrupt_words;
  if (silent || words == nullptr) return;
  char text[256], line[512];
  const size_t length = words(text, sizeof(text));
  if (length == 0) return;
  size_t size = 0;
  const auto add = [&](const char* more, size_t count) {
    for (size_t i = 0; i < count && size < sizeof(line); ++i) line[size++] = more[i];
  };
  constexpr std::string_view kWhat = ": interrupted: ";
  if (::isatty(STDERR_FILENO) == 1) add(kClearLine.data(), kClearLine.size());
  const char* name = interrupted_name;
  add(name, ::strlen(name));
  add(kWhat.data(), kWhat.size());
  add(text, length);
  add("\n", 1);
  if (::write(STDERR_FILENO, line, size) < 0) return;  // stderr has no reader
}

void OnInterrupt(int /*signal*/) {
  RemoveUnfinishedFiles();
  SayInterrupted();
  ::_exit(kExitInterrupted);
}

// What OnMemoryExhausted prints.
std::string memory_words;

// Called by operator new, on any thread, so it allocates nothing.
[[noreturn]] void OnMemoryExhausted() {
  RemoveUnfinishedFiles();
  if (silent || ::write(STDERR_FILENO, memory_words.data(), memory_words.size()) < 0) {
    ::_exit(kExitBadInput);  // stderr has no reader
  }
  ::_exit(kExitBadInput);
}

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  struct sigaction hangup = {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // keep nohup's choice
  // An exceeded file-size limit or a closed pipe then fails in write(), which gets a message.
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
}

// If a standard stream is closed, the next file that the tool opens gets its number, and messages
// would go into an artefact. The replacement for stdout is read-only, so writing to it still fails.
void OccupyClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::string Footer(const ToolInfo& info) {
  return fmt::format(
      "\nFiles:\n  {}\n\nExit status:\n  0 complete answer, 1 bad input, 2 wrong usage, "
      "3 internal error, 130 interrupted\n\nExample:\n  {}\n",
      info.files, info.example);
}

// What --version prints, without the last newline: the program, then the formats that it writes.
std::string VersionText(const std::string& name) {
  const std::string commit = BuiltCommit();
  return fmt::format("{} {}{}\nartefacts: format {}\nChakra traces: schema {}", name,
                     DrydockVersion(), commit.empty() ? "" : " (commit " + commit + ")",
                     kArtefactFormat, kChakraSchema);
}

void AddCommonFlags(const ToolInfo& info, CommonOptions* common, CLI::App* app) {
  app->footer(Footer(info));
  app->add_flag("--check", common->check, "Validate the inputs; write nothing");
  if (info.writes_artefact) {
    app->add_flag("--if-changed", common->if_changed,
                  "Do nothing if inputs, options and program are those of the last run");
  }
  app->add_flag("--stats", common->stats, "Print the tool's own time and memory");
  app->add_flag("-v,--verbose", common->verbose, "Print more messages");
  app->add_flag("-q,--quiet", common->quiet, "Print errors only");
}

// Returns the command that the command line names, or the tool itself.
const CLI::App& NamedCommand(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

// Returns "; did you mean '--flag'?" for the first unknown flag, or "" if no flag is near.
std::string SuggestFlag(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (!word.starts_with("--") || word == "--") continue;
    bool known = false;
    for (const std::string& flag : flags) known |= flag == word;
    if (!known) return DidYouMean(word, flags);
  }
  return "";
}

// Returns the exit status: 0 if stdout took all output.
int FinishOutput(const ToolInfo& info) {
  if (std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  Say(fmt::format("{}: error: cannot write to standard output\n", info.name));
  return kExitBadInput;
}

void PrintStats(const ToolInfo& info, std::chrono::steady_clock::time_point start) {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto cpu = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  Say(fmt::format("{}: {:.2f} s wall, {:.2f} s user, {:.2f} s system, {:.1f} MB peak\n", info.name,
                  wall.count(), cpu(usage.ru_utime), cpu(usage.ru_stime),
                  static_cast<double>(usage.ru_maxrss) / 1000.0));
}

// The commands of a tool and the parser that chooses one.
class Tool {
 public:
  Tool(const CommandMaker& make, const std::vector<CommandMaker>& make_commands)
      : main_(make()), app_(main_->info().summary, main_->info().name) {
    app_.set_version_flag("--version", VersionText(info().name));
    app_.require_subcommand(0, 1);  // the name of a second command is an argument
    for (const CommandMaker& make_command : make_commands) Add(make_command());
    main_->Declare(&app_, common_);
    AddCommonFlags(info(), &common_, &app_);
  }

  const ToolInfo& info() const { return main_->info(); }
  const CommonOptions& common() const { return common_; }

  // Returns the exit status if the tool has to end before Run.
  std::optional<int> Parse(int argc, char** argv) {
    argc = TakeProgressInterval(argc, argv);
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& e) {
      app_.exit(e);
      return FinishOutput(info());
    } catch (const CLI::ParseError& e) {
      const CLI::App& named = NamedCommand(app_);
      const std::string command = &named == &app_ ? "" : " " + named.get_name();
      Say(fmt::format("{0}: error: {1}{2}\n{0}: see {0}{3} --help\n", info().name, e.what(),
                      SuggestFlag(named, argc, argv), command));
      return kExitUsage;
    }
    return std::nullopt;
  }

  Status Run() const {
    for (const auto& [command, app] : commands_) {
      if (app->parsed()) return RunOne(*command);
    }
    return RunOne(*main_);
  }

 private:
  // Takes "--progress-interval MS" from the end of the words. It is for tests: CLI11 would leave
  // traces of a hidden option in --help.
  int TakeProgressInterval(int argc, char** argv) {
    if (argc < 3 || std::string_view(argv[argc - 2]) != "--progress-interval") return argc;
    common_.progress_interval_ms = std::max(1, std::atoi(argv[argc - 1]));
    argv[argc - 2] = nullptr;
    return argc - 2;
  }

  Status RunOne(const Command& command) const {
    return PlacedIn(command.Subject(), command.Run(common_));
  }

  void Add(std::unique_ptr<Command> command) {
    const ToolInfo& info = command->info();
    CLI::App* app = app_.add_subcommand(info.name.substr(info.name.find(' ') + 1), info.summary);
    AddCommonFlags(info, &common_, app);
    command->Declare(app, common_);
    commands_.emplace_back(std::move(command), app);
  }

  CommonOptions common_;
  std::unique_ptr<Command> main_;
  CLI::App app_;
  std::vector<std::pair<std::unique_ptr<Command>, CLI::App*>> commands_;
};

}  // namespace

int RunTool(int argc, char** argv, const CommandMaker& make,
            const std::vector<CommandMaker>& make_commands) {
  HandleSignals();
  OccupyClosedStreams();
  const auto start = std::chrono::steady_clock::now();
  Tool tool(make, make_commands);
  const ToolInfo& info = tool.info();
  memory_words =
      info.name +
      ": error: this machine has too little memory for this run; free some, or raise the "
      "limit (ulimit -v)\n";
  std::set_new_handler(OnMemoryExhausted);
  if (const std::optional<int> exit = tool.Parse(argc, argv)) return *exit;
  Status status;
  try {
    status = tool.Run();
  } catch (const std::exception& e) {
    // {fmt} throws when a print fails, because the disk is full or the pipe is closed.
    if (std::ferror(stdout) != 0) return FinishOutput(info);
    std::fputs(fmt::format("{}: internal error: {}\n", info.name, e.what()).c_str(), stderr);
    RemoveUnfinishedFiles();
    return kExitInternal;
  }
  if (!status.ok()) {
    Say(status.error().ToString() + "\n");
    return kExitBadInput;
  }
  if (const int exit = FinishOutput(info); exit != 0) return exit;
  if (tool.common().stats) PrintStats(info, start);
  return 0;
}

void CheckOptions(CLI::App* app, std::function<Status()> check) {
  app->callback([app, check = std::move(check)] {
    if (!app->get_subcommands().empty()) return;
    const Status status = check();
    // Tool::Parse catches this error together with CLI11's own errors.
    if (status.ok()) return;
    const Location& place = status.error().diagnostics().front().location;
    throw CLI::ValidationError((place.known() ? place.file + ": " : "") + status.error().message());
  });
}

Error PlacedIn(const std::string& place, const Error& error) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  for (Diagnostic& diagnostic : diagnostics) {
    if (!diagnostic.location.known()) diagnostic.location.file = place;
  }
  return Error(std::move(diagnostics));
}

Error MissingOption(const std::string& option) { return Error(option + " is required"); }

void RequireIf(CLI::App* app, const std::string& option, std::function<bool()> is_missing) {
  CheckOptions(app, [option, is_missing = std::move(is_missing)]() -> Status {
    if (is_missing()) return MissingOption(option);
    return OkStatus();
  });
}

void Say(const std::string& text) {
  std::fflush(stdout);  // where both streams are one file, results printed before come first
  if (silent) return;
  WriteMessage(UsesColour() ? Coloured(text) : text, /*in_place=*/false);
}

void SayInPlace(const std::string& text) {
  std::fflush(stdout);
  if (silent) return;
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // A line that the terminal breaks could not be cleared.
  WriteMessage(known ? text.substr(0, size.ws_col - 1u) : text, /*in_place=*/true);
}

void SayNothing() { silent = true; }

void SayWhenInterrupted(const char* name, InterruptWords words) {
  interrupt_words = nullptr;
  interrupted_name = name;
  interrupt_words = words;
}

void Report(const ToolInfo& info, const CommonOptions& common, const std::string& line) {
  if (!common.quiet) Say(Printable(fmt::format("{}: {}", info.name, line)) + "\n");
}

}  // namespace drydock
