#include "workload-gen/import/shell/shell_script.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {
namespace {

constexpr int kMaxNesting = 150;     // of commands, functions and eval
constexpr size_t kMaxRounds = 1000;  // of a loop that is followed round by round
constexpr int kMaxPasses = 12;       // until the state of a loop no longer changes

using Kind = ShellCommand::Kind;

ShellAnswer Answer(ShellTruth truth) { return {truth, false, ""}; }

std::string AsNeeded(const ShellAnswer& answer) {
  return answer.needs.empty() ? ", as its condition is not known"
                              : fmt::format(", as that depends on {}", answer.needs);
}

}  // namespace

ShellScript::ShellScript(ShellState state, IsWanted is_wanted, ReadBeside read_beside)
    : state_(std::move(state)),
      session_(state_.session()),
      is_wanted_(std::move(is_wanted)),
      read_beside_(std::move(read_beside)) {
  state_.TakeFixedArguments();
}

std::optional<ShellFailure> ShellScript::Run(const ShellText& text) {
  RunText(text, /*hard=*/true);
  return failure_;
}

void ShellScript::Fail(const std::string& message, const ShellChar& at) {
  if (!failure_.has_value()) failure_ = ShellFailure{message, at};
}

// Ends at the mistakes at which bash ends.
void ShellScript::Check(const ShellExpander& expander, const ShellChar& at) {
  if (expander.mistake().has_value()) {
    Fail(expander.mistake()->message,
         expander.mistake()->at.line > 0 ? expander.mistake()->at : at);
  }
  if (!state_.changed_readonly().empty()) {
    Fail(fmt::format("'{}' is readonly, and bash refuses to assign it; remove this line or the "
                     "'readonly'",
                     state_.changed_readonly()),
         at);
  }
}

// Runs all commands of a text. With `hard`, text that bash cannot read is a failure.
bool ShellScript::RunText(const ShellText& text, bool hard, ShellAnswer* answer) {
  if (depth_ > kMaxNesting) {
    Fail("commands are nested too deeply", text.empty() ? ShellChar() : text[0]);
    return false;
  }
  ShellParser parser(text);
  while (!Stopped() && !session_.exhausted()) {
    const ShellCommandPtr command = parser.Next();
    if (command == nullptr) break;
    const ShellAnswer last = Run(*command);
    if (answer != nullptr) *answer = last;
  }
  if (Stopped() || !parser.failure().has_value()) return !failure_.has_value();
  if (hard) Fail(parser.failure()->message, parser.failure()->at);
  return false;
}

ShellAnswer ShellScript::Run(const ShellCommand& command) {
  if (Stopped() || !session_.Spend(1)) return {};
  if (depth_ > kMaxNesting) {
    Fail("commands or functions are nested too deeply", command.at);
    return {};
  }
  ++depth_;
  if (command.kind != Kind::kSimple && command.kind != Kind::kFunction) Redirect(command);
  const ShellAnswer answer = RunKind(command);
  --depth_;
  return answer;
}

// Redirections change no variable, except "{NAME}> file" and what their words assign.
std::optional<ShellText> ShellScript::Redirect(const ShellCommand& command) {
  std::optional<ShellText> input;
  for (const ShellRedirection& redirection : command.redirections) {
    ShellExpander expander(&state_);
    ShellText text = expander.Text(redirection.target);
    Check(expander, command.at);
    if (redirection.input) {
      input = std::nullopt;
      const ShellChar& at = command.at;
      if (redirection.kind == ShellRedirection::Kind::kHereString) {
        text.push_back({'\n', false, at.file, at.line, at.column, -1});
      }
      if (redirection.kind != ShellRedirection::Kind::kFile) input = std::move(text);
    }
    if (redirection.variable.empty()) continue;
    state_.Forget(redirection.variable, "a redirection gives it a number", command.at);
  }
  return input;
}

ShellAnswer ShellScript::RunKind(const ShellCommand& command) {
  ShellAnswer answer = Answer(Truth::kTrue);
  switch (command.kind) {
    case Kind::kSimple:
      return Simple(command);
    case Kind::kSequence:
      for (const ShellCommandPtr& child : command.children) answer = Run(*child);
      return answer;
    case Kind::kAnd:
    case Kind::kOr:
      return AndOr(command);
    case Kind::kPipeline:
      return Pipeline(command);
    case Kind::kGroup:
      return Run(*command.children[0]);
    case Kind::kBackground:
      Subshell([&] { return Run(*command.children[0]); });
      return answer;
    case Kind::kSubshell:
      return Subshell([&] { return Run(*command.children[0]); });
    case Kind::kIf:
      return If(command, 0);
    case Kind::kWhile:
    case Kind::kUntil:
      return While(command);
    case Kind::kFor:
    case Kind::kSelect:
      return For(command);
    case Kind::kForArithmetic:
      return ForArithmetic(command);
    case Kind::kCase:
      return Case(command);
    case Kind::kFunction:
      state_.functions[command.name] = command.children[0];
      return answer;
    case Kind::kArithmetic: {
      ShellExpander expander(&state_);
      const ShellNumber number = expander.Number(command.words[0]);
      Check(expander, command.at);
      if (!number.value.has_value()) return {};
      return Answer(*number.value != 0 ? Truth::kTrue : Truth::kFalse);
    }
    case Kind::kTest: {
      ShellExpander expander(&state_);
      answer = EvaluateDoubleTest(command.test, &state_, &expander);
      Check(expander, command.at);
      return answer;
    }
    case Kind::kCoprocess:
      return Coprocess(command);
  }
  return {};
}

ShellAnswer ShellScript::Assumed(const Part& first, const Part& second) {
  const ShellState before = state_;
  const size_t started = started_.size(), escapes = escapes_;
  const ShellAnswer answer = first();
  if (Stopped() && !failure_.has_value() && started_.size() == started && escapes_ == escapes) {
    state_ = before;
    return second();
  }
  return answer;
}

ShellAnswer ShellScript::Either(const Part& first, const Part& second, const std::string& why,
                                const ShellChar& at) {
  const ShellState before = state_;
  const ShellAnswer one = first();
  ShellState after = std::move(state_);
  state_ = before;
  const ShellAnswer two = second();
  const bool both = after.alive && state_.alive;
  const Truth truth = both          ? (one.truth == two.truth ? one.truth : Truth::kUnknown)
                      : after.alive ? one.truth
                                    : two.truth;
  state_.Join(after, why, at);
  return Answer(truth);
}

ShellAnswer ShellScript::Subshell(const Part& body) {
  const ShellState before = state_;
  std::vector<Loop> loops = std::exchange(loops_, {});
  std::vector<Frame> frames = std::exchange(frames_, {});
  const bool outer = std::exchange(in_outer_loop_, in_outer_loop_ || !loops.empty());
  const std::optional<ShellChar> ended = ended_;
  ShellAnswer answer = body();
  if (!state_.alive) answer = {};
  state_ = before;
  loops_ = std::move(loops);
  frames_ = std::move(frames);
  in_outer_loop_ = outer;
  ended_ = ended;
  answer.assumed = false;
  return answer;
}

ShellAnswer ShellScript::Pipeline(const ShellCommand& command) {
  ShellAnswer answer = Answer(Truth::kTrue);
  if (command.children.size() == 1) {
    answer = Run(*command.children[0]);
  } else {
    // The parts run in shells of their own.
    for (const ShellCommandPtr& child : command.children) {
      const ShellAnswer part = Subshell([&] { return Run(*child); });
      if (part.truth != Truth::kTrue) answer.truth = Truth::kUnknown;
    }
    if (state_.options.contains("lastpipe") && command.children.size() > 1) {
      state_.ForgetAll("with 'shopt -s lastpipe', the last part of this pipe may assign it",
                       command.at);
    }
  }
  if (command.negated) answer.truth = Not(answer.truth);
  return answer;
}

ShellAnswer ShellScript::AndOr(const ShellCommand& command) {
  const bool is_and = command.kind == Kind::kAnd;
  const ShellAnswer left = Run(*command.children[0]);
  if (Stopped()) return {};
  const auto right = [&] { return Run(*command.children[1]); };
  const auto skip = [&] { return Answer(is_and ? Truth::kFalse : Truth::kTrue); };
  if (left.truth == Truth::kUnknown) {
    return Either(right, skip,
                  fmt::format("the command after this '{}' may assign it or not{}",
                              is_and ? "&&" : "||", AsNeeded(left)),
                  command.at);
  }
  if ((left.truth == Truth::kTrue) != is_and) return left;
  if (!left.assumed) return right();
  ShellAnswer answer = Assumed(right, skip);
  answer.assumed = true;
  return answer;
}

ShellAnswer ShellScript::If(const ShellCommand& command, size_t at) {
  const auto& parts = command.children;
  if (at >= parts.size()) return Answer(Truth::kTrue);
  if (at + 1 == parts.size()) return Run(*parts[at]);
  const ShellAnswer condition = Run(*parts[at]);
  if (Stopped()) return {};
  const auto body = [&] { return Run(*parts[at + 1]); };
  const auto rest = [&] { return If(command, at + 2); };
  if (condition.truth == Truth::kUnknown) {
    return Either(body, rest, "this 'if' may assign it or not" + AsNeeded(condition), command.at);
  }
  const bool holds = condition.truth == Truth::kTrue;
  if (!condition.assumed) return holds ? body() : rest();
  return holds ? Assumed(body, rest) : Assumed(rest, body);
}

// Runs the body once and joins the paths that continue.
void ShellScript::Iterate(const std::function<void()>& body, const std::string& why,
                          const ShellChar& at) {
  body();
  for (const ShellState& state : std::exchange(loops_.back().continues, {})) {
    state_.Join(state, why, at);
  }
}

// Follows a loop round by round while its condition is known, then blindly. `stands_still`: a round
// that changes nothing never ends.
void ShellScript::RunLoop(const Part& condition, const Part& blind,
                          const std::function<void()>& body, const std::string& why,
                          const ShellChar& at, bool stands_still) {
  loops_.emplace_back();
  std::optional<ShellState> exit;
  for (size_t round = 0; !Stopped() && !session_.exhausted(); ++round) {
    const ShellState before = state_;
    const ShellAnswer answer = condition();
    if (Stopped()) break;
    if (answer.truth == Truth::kFalse) {
      exit = state_;
      break;
    }
    if (answer.truth == Truth::kUnknown || answer.assumed || round >= kMaxRounds) {
      state_ = before;
      RunBlindly(blind, body, why, at, &exit);
      break;
    }
    Iterate(body, why, at);
    if (stands_still && state_.alive && state_.SameAs(before)) break;
  }
  state_.alive = false;
  if (exit.has_value()) state_ = *std::move(exit);
  for (const ShellState& state : loops_.back().breaks) state_.Join(state, why, at);
  loops_.pop_back();
}

// Follows a loop whose number of rounds is not known: until another round changes nothing more.
void ShellScript::RunBlindly(const Part& condition, const std::function<void()>& body,
                             const std::string& why, const ShellChar& at,
                             std::optional<ShellState>* exit) {
  for (int pass = 0; !failure_.has_value() && !session_.exhausted(); ++pass) {
    if (pass == kMaxPasses) state_.ForgetAll(why, at);
    const ShellState head = state_;
    const size_t started = started_.size();
    const ShellAnswer answer = condition();
    const bool may_end = state_.alive && (answer.truth != Truth::kTrue || answer.assumed);
    const ShellState end = state_;
    if (state_.alive && (answer.truth != Truth::kFalse || answer.assumed)) Iterate(body, why, at);
    ShellState next = head;
    next.Join(state_, why, at);
    if (next.SameAs(head) || pass == kMaxPasses) {
      if (may_end) *exit = end;
      return;
    }
    // The next pass starts the same commands, and less of them is known.
    started_.erase(started_.begin() + static_cast<int64_t>(started), started_.end());
    state_ = std::move(next);
  }
}

ShellAnswer ShellScript::While(const ShellCommand& command) {
  const bool until = command.kind == Kind::kUntil;
  const auto condition = [&] {
    ShellAnswer answer = Run(*command.children[0]);
    if (until) answer.truth = Not(answer.truth);
    return answer;
  };
  RunLoop(
      condition, condition, [&] { Run(*command.children[1]); },
      fmt::format("this '{}' loop may assign it, and how often it runs is not known",
                  until ? "until" : "while"),
      command.at, /*stands_still=*/true);
  return {};
}

ShellAnswer ShellScript::For(const ShellCommand& command) {
  const bool select = command.kind == Kind::kSelect;
  ShellExpander expander(&state_);
  Words words;
  if (command.has_words) {
    words = expander.AllFields(command.words);
  } else {
    ShellExpansion all;
    all.name = all.list = "@";
    all.at = command.at;
    const ShellAtom atom{ShellAtom::Kind::kExpansion, true, command.at,
                         std::make_shared<const ShellExpansion>(all)};
    words = expander.Fields({atom});
  }
  Check(expander, command.at);
  // The script has no arguments but the given ones.
  std::erase_if(words, [&](const ShellText& word) {
    return word.size() == 1 && word[0].unresolved >= 0 &&
           session_.Of(word[0]).kind == ShellUnknown::Kind::kNotAssigned &&
           (session_.Of(word[0]).what == "$@" || session_.Of(word[0]).what == "$*");
  });
  const std::string why = fmt::format(
      "this '{}' loop may assign it, and how often it runs is not "
      "known",
      select ? "select" : "for");
  const Part blind = [&] {
    state_.Forget(command.name, why, command.at);
    if (select) state_.Forget("REPLY", why, command.at);
    return ShellAnswer();
  };
  size_t at = 0;
  const Part next = [&] {
    if (at >= words.size()) return Answer(Truth::kFalse);
    if (select || std::any_of(words.begin(), words.end(), IsWide)) return ShellAnswer();
    AssignWord(command.name, words[at++], command.at);
    return Answer(Truth::kTrue);
  };
  RunLoop(
      next, blind, [&] { Run(*command.children[0]); }, why, command.at,
      /*stands_still=*/false);
  return {};
}

ShellAnswer ShellScript::ForArithmetic(const ShellCommand& command) {
  const auto evaluate = [&](size_t word) {
    ShellExpander expander(&state_);
    const ShellNumber number = expander.Number(command.words[word]);
    Check(expander, command.at);
    return number;
  };
  const auto is_empty = [](const ShellWord& word) {
    return std::all_of(word.begin(), word.end(),
                       [](const ShellAtom& atom) { return atom.c.c == ' ' && !atom.expansion; });
  };
  evaluate(0);
  const Part condition = [&] {
    if (is_empty(command.words[1])) return Answer(Truth::kTrue);
    const ShellNumber number = evaluate(1);
    if (!number.value.has_value()) return ShellAnswer();
    return Answer(*number.value != 0 ? Truth::kTrue : Truth::kFalse);
  };
  const std::string why = "this 'for' loop may assign it, and how often it runs is not known";
  const auto body = [&] {
    Run(*command.children[0]);
    for (const ShellState& state : std::exchange(loops_.back().continues, {})) {
      state_.Join(state, why, command.at);
    }
    if (!Stopped()) evaluate(2);
  };
  RunLoop(condition, condition, body, why, command.at, /*stands_still=*/true);
  return {};
}

ShellTruth ShellScript::MatchesArm(const ShellText& word, const ShellCaseArm& arm) {
  Truth any = Truth::kFalse;
  for (const ShellWord& pattern : arm.patterns) {
    ShellExpander expander(&state_);
    const std::optional<ShellPattern> known = expander.Pattern(pattern);
    Check(expander, pattern.empty() ? ShellChar() : pattern[0].c);
    const bool all = known.has_value() && !known->empty() &&
                     std::all_of(known->begin(), known->end(),
                                 [](const ShellPatternChar& c) { return c.c == '*' && !c.quoted; });
    Truth truth = Truth::kUnknown;
    if (all)
      truth = Truth::kTrue;
    else if (known.has_value() && IsResolved(word))
      truth = Matches(*known, PlainText(word)) ? Truth::kTrue : Truth::kFalse;
    any = Or(any, truth);
    if (any == Truth::kTrue) break;
  }
  return any;
}

ShellAnswer ShellScript::Case(const ShellCommand& command) {
  ShellExpander expander(&state_);
  const ShellText word = expander.Text(command.words[0]);
  Check(expander, command.at);
  return CaseFrom(command, word, 0);
}

// Tries the arms from `arm` on.
ShellAnswer ShellScript::CaseFrom(const ShellCommand& command, const ShellText& word, size_t arm) {
  if (Stopped() || arm >= command.arms.size()) return Answer(Truth::kTrue);
  const auto body = [&] {
    ShellAnswer answer;
    size_t at = arm;
    for (; at < command.arms.size(); ++at) {
      answer = Run(*command.arms[at].body);
      if (command.arms[at].end != ";&") break;
    }
    const bool goes_on = at < command.arms.size() && command.arms[at].end == ";;&";
    return goes_on ? CaseFrom(command, word, at + 1) : answer;
  };
  const auto rest = [&] { return CaseFrom(command, word, arm + 1); };
  switch (MatchesArm(word, command.arms[arm])) {
    case Truth::kTrue:
      return body();
    case Truth::kFalse:
      return rest();
    case Truth::kUnknown:
      break;
  }
  ShellAnswer answer;
  for (const ShellChar& c : word) {
    if (c.unresolved >= 0 && answer.needs.empty()) answer.needs = session_.Of(c).what;
  }
  return Either(body, rest, "this 'case' may assign it or not" + AsNeeded(answer), command.at);
}

ShellAnswer ShellScript::Coprocess(const ShellCommand& command) {
  Subshell([&] { return Run(*command.children[0]); });
  const std::string why = "this 'coproc' gives it a number";
  state_.Forget(command.name, why, command.at);
  state_.Forget(command.name + "_PID", why, command.at);
  return Answer(Truth::kTrue);
}

}  // namespace drydock
