// The commands of bash that change its own state.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/base/scan.h"
#include "workload-gen/import/shell/shell_script.h"

namespace drydock {
namespace {

ShellAnswer Succeeded() { return {ShellTruth::kTrue, false, ""}; }

// Files that set up a Python environment. They change PATH and variables of their own.
bool IsEnvironmentFile(const std::string& path) {
  return path == "activate" || path.ends_with("/activate") || path.ends_with("/conda.sh");
}

// Commands whose output does the same: eval "$(conda shell.bash hook)".
bool IsEnvironmentText(const std::string& what) {
  return what.find("conda shell.") != std::string::npos || what.starts_with("$(pyenv ");
}

bool IsFlag(const ShellText& word) {
  return IsResolved(word) && word.size() > 1 && (word[0].c == '-' || word[0].c == '+');
}

// The number that follows shift, break and continue; 1 without one.
std::optional<int64_t> CountOf(const std::vector<ShellText>& words) {
  if (words.size() < 2) return 1;
  if (!IsResolved(words[1])) return std::nullopt;
  return WholeNumber(PlainText(words[1]));
}

ShellWord QuotedWord(const ShellText& text) {
  ShellWord word;
  for (const ShellChar& c : text) word.push_back({ShellAtom::Kind::kChar, true, c});
  return word;
}

}  // namespace

// The options of declare and its like.
struct ShellScript::Declaration {
  std::string command;
  bool array = false, map = false, integer = false, readonly = false, global = false;
  bool refers = false, exported = false, not_exported = false, prints = false;
  char letters = '\0';
  ShellChar at;
};

ShellScript::Builtin ShellScript::FindBuiltin(const std::string& name) {
  static const std::map<std::string, Builtin> builtins = {{"export", &ShellScript::Declare},
                                                          {"declare", &ShellScript::Declare},
                                                          {"typeset", &ShellScript::Declare},
                                                          {"local", &ShellScript::Declare},
                                                          {"readonly", &ShellScript::Declare},
                                                          {"read", &ShellScript::Read},
                                                          {"mapfile", &ShellScript::MapFile},
                                                          {"readarray", &ShellScript::MapFile},
                                                          {"printf", &ShellScript::Printf},
                                                          {"let", &ShellScript::Let},
                                                          {"set", &ShellScript::Set},
                                                          {"shift", &ShellScript::Shift},
                                                          {"unset", &ShellScript::Unset},
                                                          {"eval", &ShellScript::Eval},
                                                          {"source", &ShellScript::Source},
                                                          {".", &ShellScript::Source},
                                                          {"exec", &ShellScript::Exec},
                                                          {"exit", &ShellScript::Exit},
                                                          {"logout", &ShellScript::Exit},
                                                          {"return", &ShellScript::Return},
                                                          {"break", &ShellScript::LeaveLoop},
                                                          {"continue", &ShellScript::LeaveLoop},
                                                          {"trap", &ShellScript::Trap},
                                                          {"getopts", &ShellScript::GetOptions},
                                                          {"cd", &ShellScript::ChangeFolder},
                                                          {"pushd", &ShellScript::ChangeFolder},
                                                          {"popd", &ShellScript::ChangeFolder},
                                                          {"[", &ShellScript::Test},
                                                          {"test", &ShellScript::Test},
                                                          {"true", &ShellScript::Succeed},
                                                          {":", &ShellScript::Succeed},
                                                          {"echo", &ShellScript::Succeed},
                                                          {"false", &ShellScript::NotSucceed},
                                                          {"alias", &ShellScript::Alias},
                                                          {"shopt", &ShellScript::ShellOptions},
                                                          {"wait", &ShellScript::Wait},
                                                          {"umask", &ShellScript::Succeed},
                                                          {"ulimit", &ShellScript::Succeed},
                                                          {"unalias", &ShellScript::Succeed},
                                                          {"hash", &ShellScript::Succeed},
                                                          {"enable", &ShellScript::Alias}};
  const auto found = builtins.find(name);
  return found == builtins.end() ? nullptr : found->second;
}

ShellAnswer ShellScript::Succeed(const Words& /*words*/, const ShellCommand& /*command*/) {
  return Succeeded();
}

ShellAnswer ShellScript::NotSucceed(const Words& /*words*/, const ShellCommand& /*command*/) {
  return {Truth::kFalse, false, ""};
}

ShellAnswer ShellScript::Test(const Words& words, const ShellCommand& /*command*/) {
  return EvaluateTest(words, session_);
}

// Assigns to NAME or NAME[index], as read and printf -v do.
void ShellScript::AssignWord(const std::string& name, const ShellText& value, const ShellChar& at) {
  ShellExpander expander(&state_);
  const size_t open = name.find('[');
  const std::string base = name.substr(0, open);
  if (!IsShellName(base)) {
    return state_.ForgetAll(fmt::format("'{}' is not the name of a variable", name), at);
  }
  if (open != std::string::npos) {
    state_.Change(base);
    return state_.Forget(base, "one of its elements is read", at);
  }
  expander.AssignElement(name, nullptr, value, /*append=*/false, at);
  Check(expander, at);
}

// Makes the variable unknown that a word names, or all if the word is not known.
void ShellScript::LoseWord(const ShellText& name, const std::string& why, const ShellChar& at) {
  const std::string plain = PlainText(name);
  const std::string base = plain.substr(0, plain.find('['));
  if (!IsResolved(name) || !IsShellName(base)) return state_.ForgetAll(why, at);
  state_.Change(base);  // finds a readonly variable
  state_.Forget(base, why, at);
}

// export, declare, typeset, local and readonly.
ShellAnswer ShellScript::Declare(const Words& words, const ShellCommand& command) {
  Declaration declaration;
  declaration.command = PlainText(words[0]);
  declaration.at = command.at;
  declaration.exported = declaration.command == "export";
  declaration.readonly = declaration.command == "readonly";
  size_t at = 1;
  for (; at < words.size() && IsFlag(words[at]); ++at) {
    const std::string flags = PlainText(words[at]);
    if (flags == "--") {
      ++at;
      break;
    }
    const bool on = flags[0] == '-';
    for (const char flag : flags.substr(1)) {
      if (flag == 'a') declaration.array = on;
      if (flag == 'A') declaration.map = on;
      if (flag == 'i') declaration.integer = on;
      if (flag == 'r') declaration.readonly = on;
      if (flag == 'g') declaration.global = on;
      if (flag == 'f' || flag == 'F' || flag == 'p') declaration.prints = on;
      if (flag == 'l' || flag == 'u') declaration.letters = flag;
      if (flag == 'x') (on ? declaration.exported : declaration.not_exported) = true;
      if (flag == 'n' && declaration.command == "export") {
        declaration.not_exported = true;
        declaration.exported = false;
      } else if (flag == 'n') {
        declaration.refers = on;
      }
      const bool removes = !on && (flag == 'i' || flag == 'l' || flag == 'u');
      if (removes || std::strchr("aAirgfFplunxI", flag) == nullptr) {
        state_.DistrustAll(fmt::format("this form of '{}' is not understood", declaration.command),
                           command.at);
        return {};
      }
    }
  }
  if (declaration.prints) return Succeeded();
  if (declaration.command == "local" && state_.locals.empty()) {
    // Outside of a function it fails, after its words are expanded.
    for (const ShellArgument& argument : command.arguments) {
      ShellExpander expander(&state_);
      if (argument.assignment.has_value()) expander.Text(argument.assignment->value);
      Check(expander, command.at);
    }
    return {Truth::kFalse, false, ""};
  }
  for (const ShellArgument& argument : command.arguments) {
    if (!argument.assignment.has_value()) continue;
    const ShellAssignment& whole = *argument.assignment;
    if (whole.is_array) {
      DeclareOne(declaration, &whole, whole.name);
      continue;
    }
    for (ShellWord& value : ShellExpander(&state_).Braces(whole.value)) {
      ShellAssignment assignment = whole;
      assignment.value = std::move(value);
      DeclareOne(declaration, &assignment, whole.name);
    }
  }
  for (; at < words.size(); ++at) {
    // A word such as "NAME=VALUE", which an expansion may have made.
    const ShellText& word = words[at];
    const auto equals = std::find_if(word.begin(), word.end(), [](const ShellChar& c) {
      return c.c == '=' && c.unresolved < 0;
    });
    const ShellText name(word.begin(), equals);
    const std::string plain = PlainText(name);
    const bool append = plain.ends_with('+') && equals != word.end();
    const std::string base = append ? plain.substr(0, plain.size() - 1) : plain;
    const std::string why = fmt::format("'{}' may assign it", declaration.command);
    if (!IsResolved(name) || IsWide(word) || !IsShellName(base)) {
      if (IsResolved(name) && !IsShellName(base) && base.find('[') == std::string::npos) continue;
      if (IsResolved(word) || !IsShellName(base)) {
        LoseWord(name, why, command.at);
      } else {
        // NAME=$VALUE that may be several words, which name more variables.
        state_.ForgetAll(why, command.at);
      }
      continue;
    }
    if (equals == word.end()) {
      DeclareOne(declaration, nullptr, base);
      continue;
    }
    ShellAssignment assignment;
    assignment.at = command.at;
    assignment.name = base;
    assignment.append = append;
    assignment.value = QuotedWord(ShellText(equals + 1, word.end()));
    DeclareOne(declaration, &assignment, base);
  }
  return Succeeded();
}

void ShellScript::DeclareOne(const Declaration& declaration, const ShellAssignment* assignment,
                             const std::string& name) {
  using Form = ShellVariable::Form;
  if (declaration.refers) return Refer(name, assignment, declaration.at);
  const bool may_hide = declaration.command == "local" || declaration.command == "declare" ||
                        declaration.command == "typeset";
  const bool local = may_hide && !declaration.global && !state_.locals.empty();
  const auto set_attributes = [&](ShellVariable* variable) {
    if (variable == nullptr) return;
    if (declaration.map) variable->form = Form::kMap;
    if (declaration.array && variable->form == Form::kText) variable->form = Form::kArray;
    if (declaration.integer) variable->integer = true;
    if (declaration.letters != '\0') variable->letters = declaration.letters;
  };
  const bool attributes =
      declaration.map || declaration.array || declaration.integer || declaration.letters != '\0';
  ShellExpander expander(&state_);
  if (local) {
    // The value is expanded before the variable hides the outer one.
    const std::string temporary = "\x02";
    state_.Unset(temporary);
    set_attributes(state_.Change(temporary));
    if (assignment != nullptr) {
      ShellAssignment copy = *assignment;
      copy.name = temporary;
      expander.Assign(copy);
      Check(expander, declaration.at);
    }
    ShellVariable made = *state_.Change(temporary);
    state_.Unset(temporary);
    const ShellVariable* outer = state_.Find(name);
    if (outer != nullptr && (outer->fixed || outer->readonly)) {
      if (outer->readonly) state_.Change(name);
      return Check(expander, declaration.at);
    }
    if (made.unknown >= 0) session_.NameVariable(made.unknown, name);
    for (const ShellText& text : made.all()) {
      for (const ShellChar& c : text) {
        if (c.unresolved >= 0) session_.NameVariable(c.unresolved, name);
      }
    }
    const bool again = state_.locals.back().contains(name);
    if (again && assignment == nullptr && !attributes) return;
    if (assignment != nullptr && (assignment->append || assignment->has_index)) {
      state_.Change(name);
      return state_.Forget(name, "this form of a local variable is not understood", declaration.at);
    }
    ShellScope::Hide(&state_, name, &state_.locals.back());
    state_.Unset(name);
    ShellVariable* variable = state_.Change(name);
    const bool exported = outer != nullptr && variable->exported;
    *variable = std::move(made);
    variable->exported = exported || declaration.exported || variable->exported;
    variable->readonly = declaration.readonly;
    return;
  }
  const bool exists = state_.Find(name) != nullptr;
  if (attributes) set_attributes(state_.Change(name));
  if (assignment != nullptr) {
    expander.Assign(*assignment);
    Check(expander, declaration.at);
  }
  if (!exists && assignment == nullptr && !declaration.readonly) return;
  ShellVariable* variable = state_.Change(name);
  if (variable == nullptr) return Check(expander, declaration.at);
  if (!exists && assignment == nullptr) variable->unknown = state_.Unassigned(name, declaration.at);
  if (declaration.exported) variable->exported = true;
  if (declaration.not_exported) variable->exported = false;
  if (declaration.readonly) variable->readonly = true;
}

// declare -n: the name stands for another variable.
void ShellScript::Refer(const std::string& name, const ShellAssignment* assignment,
                        const ShellChar& at) {
  const std::string why = "'declare -n' makes one name stand for another variable";
  std::optional<std::string> target;
  if (assignment != nullptr && !assignment->is_array) {
    ShellExpander expander(&state_);
    const ShellText text = expander.Text(assignment->value);
    if (IsResolved(text) && IsShellName(PlainText(text))) target = PlainText(text);
  }
  if (!target.has_value()) return state_.DistrustAll(why, at);
  state_.Distrust(name, why, at);
  state_.Distrust(*target, why, at);
}

ShellAnswer ShellScript::Read(const Words& words, const ShellCommand& command) {
  bool raw = false, understood = true, array = false, whole = false;
  std::vector<ShellText> names;
  for (size_t i = 1; i < words.size(); ++i) {
    const ShellText& word = words[i];
    if (!names.empty() || !IsResolved(word) || word.empty() || word[0].c != '-') {
      names.push_back(word);
      continue;
    }
    const std::string flags = PlainText(word);
    for (size_t k = 1; k < flags.size(); ++k) {
      const char flag = flags[k];
      if (flag == 'r') raw = true;
      if (flag == 'e' || flag == 's' || flag == '-' || flag == 'r') continue;
      const bool attached = k + 1 < flags.size();
      const bool next = !attached && i + 1 < words.size();
      const ShellText value = attached ? TextAt(flags.substr(k + 1), word[0])
                              : next   ? words[i + 1]
                                       : ShellText();
      if (next) ++i;
      if (flag == 'a') {
        array = true;
        names.push_back(value);
      } else if (flag == 'd' && IsResolved(value) && value.empty()) {
        whole = true;
      } else if (flag != 'p') {
        understood = false;
      }
      break;
    }
  }
  const std::string why = "'read' assigns it what it reads";
  const ShellChar& at = command.at;
  const std::optional<ShellText> input = std::move(input_);
  std::optional<std::string> separators = ShellExpander(&state_).Separators();
  ShellText line;
  if (input.has_value()) {
    for (const ShellChar& c : *input) {
      if (c.c == '\n' && c.unresolved < 0 && !whole) break;
      line.push_back(c);
    }
  }
  understood = understood && input.has_value() && IsResolved(line) && separators.has_value() &&
               (raw || PlainText(line).find('\\') == std::string::npos) &&
               std::all_of(names.begin(), names.end(), IsResolved) &&
               (whole || line.size() < input->size());
  if (!understood) {
    if (names.empty()) state_.Forget("REPLY", why, at);
    for (const ShellText& name : names) {
      LoseWord(name, why, at);
      ShellVariable* variable =
          array && IsResolved(name) ? state_.Change(PlainText(name)) : nullptr;
      if (variable != nullptr) variable->form = ShellVariable::Form::kArray;
    }
    return {};
  }
  const ShellAnswer answer{whole ? Truth::kFalse : Truth::kTrue, false, ""};
  if (array) {
    const std::vector<ShellText> fields = ShellExpander(&state_).Split(line);
    ShellAssignment assignment;
    assignment.at = at;
    assignment.name = PlainText(names.back());
    assignment.is_array = true;
    for (const ShellText& field : fields) {
      ShellElement element;
      element.value = QuotedWord(field);
      element.value.push_back({ShellAtom::Kind::kQuotes, true, at});
      assignment.elements.push_back(std::move(element));
    }
    if (!IsShellName(assignment.name)) {
      LoseWord(names.back(), why, at);
      return {};
    }
    ShellExpander expander(&state_);
    expander.Assign(assignment);
    Check(expander, at);
    return answer;
  }
  if (names.empty()) {
    AssignWord("REPLY", line, at);
    return answer;
  }
  const auto is_blank = [&](const ShellChar& c) {
    return std::strchr(" \t\n", c.c) != nullptr && separators->find(c.c) != std::string::npos;
  };
  const auto separates = [&](const ShellChar& c) {
    return separators->find(c.c) != std::string::npos;
  };
  std::vector<ShellText> fields = ShellExpander(&state_).Split(line);
  const bool rest = fields.size() > names.size();
  fields.resize(names.size());
  if (rest) {
    // The last name takes the rest of the line, with its separators.
    size_t begin = 0;
    while (begin < line.size() && is_blank(line[begin])) ++begin;
    for (size_t i = 0; i + 1 < names.size(); ++i) {
      while (begin < line.size() && !separates(line[begin])) ++begin;
      while (begin < line.size() && is_blank(line[begin])) ++begin;
      if (begin < line.size() && separates(line[begin])) ++begin;
      while (begin < line.size() && is_blank(line[begin])) ++begin;
    }
    ShellText last(line.begin() + static_cast<int64_t>(std::min(begin, line.size())), line.end());
    while (!last.empty() && is_blank(last.back())) last.pop_back();
    fields.back() = std::move(last);
  }
  for (size_t i = 0; i < names.size(); ++i) AssignWord(PlainText(names[i]), fields[i], at);
  return answer;
}

ShellAnswer ShellScript::MapFile(const Words& words, const ShellCommand& command) {
  std::string name = "MAPFILE";
  bool known = true, trims = false, plain = true;
  for (size_t i = 1; i < words.size(); ++i) {
    known = known && IsResolved(words[i]);
    const std::string word = PlainText(words[i]);
    trims = trims || word == "-t";
    plain = plain && (word == "-t" || !word.starts_with("-"));
    if (!word.starts_with("-")) name = word;
  }
  const std::string why = fmt::format("'{}' assigns it what it reads", PlainText(words[0]));
  if (!known || !IsShellName(name)) {
    state_.ForgetAll(why, command.at);
    return {};
  }
  const std::optional<ShellText> input = std::move(input_);
  if (!plain || !trims || !input.has_value() || !IsResolved(*input)) {
    LoseWord(TextAt(name, command.at), why, command.at);
    ShellVariable* variable = state_.Change(name);
    if (variable != nullptr) variable->form = ShellVariable::Form::kArray;
    return {};
  }
  ShellAssignment assignment;
  assignment.at = command.at;
  assignment.name = name;
  assignment.is_array = true;
  ShellText line;
  for (const ShellChar& c : *input) {
    if (c.c != '\n') {
      line.push_back(c);
      continue;
    }
    ShellElement element;
    element.value = QuotedWord(std::exchange(line, {}));
    element.value.push_back({ShellAtom::Kind::kQuotes, true, command.at});
    assignment.elements.push_back(std::move(element));
  }
  ShellExpander expander(&state_);
  expander.Assign(assignment);
  Check(expander, command.at);
  return Succeeded();
}

// Formats with %s, %d and zero-padded widths; nothing for other forms.
std::optional<std::string> ShellScript::Formatted(const Words& words, size_t format) const {
  std::string out;
  size_t next = format + 1;
  const std::string text = PlainText(words[format]);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (i + 1 >= text.size() || text[i + 1] != 'n') return std::nullopt;
      out += '\n';
      ++i;
      continue;
    }
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.compare(i, 2, "%%") == 0) {
      out += '%';
      ++i;
      continue;
    }
    std::string width;
    for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) width += text[i];
    if (i >= text.size() || width.size() > 2) return std::nullopt;
    const bool missing = next >= words.size();
    const std::string value = missing ? "" : PlainText(words[next]);
    if (!missing) ++next;
    const auto wide = static_cast<size_t>(WholeNumber(width).value_or(0));
    if (text[i] == 's') {
      if (width.starts_with("0")) return std::nullopt;
      out += std::string(wide > value.size() ? wide - value.size() : 0, ' ') + value;
    } else if (text[i] == 'd') {
      const std::optional<int64_t> number = missing ? 0 : WholeNumber(value);
      const bool octal = value.size() > 1 && value[0] == '0';
      if (!number.has_value() || *number < 0 || octal) return std::nullopt;
      const std::string digits = std::to_string(*number);
      out += std::string(wide > digits.size() ? wide - digits.size() : 0,
                         width.starts_with("0") ? '0' : ' ') +
             digits;
    } else {
      return std::nullopt;
    }
  }
  if (next < words.size()) return std::nullopt;  // the format is used again
  return out;
}

ShellAnswer ShellScript::Printf(const Words& words, const ShellCommand& command) {
  if (words.size() < 2) return {};
  const std::string flag = PlainText(words[1]);
  if (!IsResolved(words[1])) {
    state_.ForgetAll("'printf' may assign it", command.at);
    return {};
  }
  if (!flag.starts_with("-v")) return Succeeded();
  const bool attached = flag.size() > 2;
  if (!attached && words.size() < 3) return {};
  const ShellText name = attached ? ShellText(words[1].begin() + 2, words[1].end()) : words[2];
  size_t format = attached ? 2 : 3;
  if (format < words.size() && PlainText(words[format]) == "--") ++format;
  const bool known =
      format < words.size() && IsResolved(name) &&
      std::all_of(words.begin() + static_cast<int64_t>(format), words.end(), IsResolved);
  const std::optional<std::string> text =
      known ? Formatted(words, format) : std::optional<std::string>();
  if (!text.has_value()) {
    LoseWord(name, "this form of 'printf -v' is not understood", command.at);
    return {};
  }
  AssignWord(PlainText(name), TextAt(*text, command.at), command.at);
  return Succeeded();
}

ShellAnswer ShellScript::Let(const Words& words, const ShellCommand& command) {
  ShellAnswer answer;
  for (size_t i = 1; i < words.size(); ++i) {
    if (IsWide(words[i])) {
      state_.ForgetAll("'let' evaluates a text that is not known", command.at);
      return {};
    }
    ShellExpander expander(&state_);
    const ShellNumber number = expander.NumberOf(words[i]);
    Check(expander, command.at);
    answer.truth = !number.value.has_value() ? Truth::kUnknown
                   : *number.value != 0      ? Truth::kTrue
                                             : Truth::kFalse;
  }
  return answer;
}

void ShellScript::SetOption(const std::string& name, bool on, const ShellChar& at) {
  if (name == "noglob") state_.no_globs = on;
  if (name == "allexport" && on) state_.options.insert(name);
  if (name == "allexport" && !on) state_.options.erase(name);
  if (name == "noexec" && on) state_.alive = false;
  if (name == "posix" || name == "keyword" || name == "braceexpand" || name == "onecmd") {
    Fail(fmt::format("'set -o {}' changes how bash reads the script, and is not understood; remove "
                     "this line",
                     name),
         at);
  }
}

ShellAnswer ShellScript::Set(const Words& words, const ShellCommand& command) {
  static const std::map<char, std::string> letters = {{'f', "noglob"},      {'a', "allexport"},
                                                      {'n', "noexec"},      {'k', "keyword"},
                                                      {'B', "braceexpand"}, {'t', "onecmd"}};
  if (words.size() > 1 && !IsResolved(words[1])) {
    state_.ForgetAll("'set' gets words that are not known", command.at);
    return {};
  }
  size_t at = 1;
  for (; at < words.size(); ++at) {
    const std::string word = PlainText(words[at]);
    if (!IsFlag(words[at])) {
      if (word == "-") ++at;
      break;
    }
    if (word == "--") {
      state_.arguments.clear();
      state_.top_arguments = false;
      state_.lost_arguments = -1;
      ++at;
      break;
    }
    const bool on = word[0] == '-';
    for (const char letter : word.substr(1)) {
      if (letter == 'o' && at + 1 < words.size()) {
        SetOption(PlainText(words[++at]), on, command.at);
      } else if (letters.contains(letter) && !(letter == 'B' && on)) {
        SetOption(letters.at(letter), on, command.at);
      }
    }
  }
  if (at < words.size()) {
    state_.arguments.assign(words.begin() + static_cast<int64_t>(at), words.end());
    state_.top_arguments = false;
    state_.lost_arguments = -1;
  }
  return Succeeded();
}

ShellAnswer ShellScript::Shift(const Words& words, const ShellCommand& command) {
  const std::optional<int64_t> number = CountOf(words);
  if (state_.lost_arguments >= 0) return {};
  const bool wide = std::any_of(state_.arguments.begin(), state_.arguments.end(), IsWide);
  if (!number.has_value() || *number < 0 || wide) {
    state_.lost_arguments = session_.Add({"$@",
                                          "'shift' drops a number of arguments that is not "
                                          "known",
                                          "", ShellUnknown::Kind::kOther, command.at});
    return {};
  }
  const auto count = static_cast<size_t>(*number);
  if (count <= state_.arguments.size()) {
    state_.arguments.erase(state_.arguments.begin(),
                           state_.arguments.begin() + static_cast<int64_t>(count));
    return Succeeded();
  }
  if (state_.top_arguments) {
    // The caller of the script may give more arguments than are known.
    state_.shifted += count - state_.arguments.size();
    state_.arguments.clear();
    return {};
  }
  return {Truth::kFalse, false, ""};
}

ShellAnswer ShellScript::Unset(const Words& words, const ShellCommand& command) {
  bool functions = false, variables = false;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string word = PlainText(words[i]);
    if (IsFlag(words[i]) && word[0] == '-') {
      functions = functions || word == "-f";
      variables = variables || word == "-v";
      continue;
    }
    const std::string why = "'unset' may remove it";
    if (!IsResolved(words[i])) {
      state_.ForgetAll(why, command.at);
      continue;
    }
    const size_t open = word.find('[');
    if (open == std::string::npos) {
      const bool variable = !functions && IsShellName(word) && state_.Find(word) != nullptr;
      if (!functions && IsShellName(word)) state_.Unset(word);
      if (functions || (!variables && !variable)) state_.functions.erase(word);
      continue;
    }
    const std::string base = word.substr(0, open);
    ShellVariable* variable = IsShellName(base) ? state_.Change(base) : nullptr;
    const std::optional<int64_t> index =
        word.ends_with(']') ? WholeNumber(word.substr(open + 1, word.size() - open - 2))
                            : std::nullopt;
    if (variable == nullptr) continue;
    const bool wide = std::any_of(variable->elements.begin(), variable->elements.end(),
                                  [](const auto& element) { return IsWide(element.second); });
    if (!index.has_value() || *index < 0 || wide || variable->form != ShellVariable::Form::kArray) {
      state_.Forget(base, "'unset' removes one of its elements", command.at);
    } else if (variable->unknown < 0) {
      variable->elements.erase(*index);
    }
  }
  return Succeeded();
}

ShellAnswer ShellScript::Eval(const Words& words, const ShellCommand& command) {
  ShellText text;
  for (size_t i = 1; i < words.size(); ++i) {
    if (i > 1)
      text.push_back({' ', false, command.at.file, command.at.line, command.at.column, -1});
    text.insert(text.end(), words[i].begin(), words[i].end());
  }
  for (ShellChar& c : text) c.wide = c.unresolved >= 0;
  const bool known = IsResolved(text);
  if (!known && text.size() == 1 && IsEnvironmentText(session_.Of(text[0]).what)) return {};
  ShellAnswer answer = Succeeded();
  ++depth_;
  RunText(text, /*hard=*/known, &answer);
  --depth_;
  if (known) return answer;
  if (state_.alive) {
    state_.ForgetAll("'eval' may assign it, as it runs a text that is not known in full",
                     command.at);
  }
  return {};
}

// Returns the path, relative to the script's folder, of a file that `source` names; nothing if it
// is not known to lie there.
std::optional<std::string> ShellScript::PathBeside(const ShellText& word) const {
  ShellText rest = word;
  bool beside = state_.folder == ShellState::Folder::kScript;
  const bool known_folder = state_.folder != ShellState::Folder::kUnknown;
  if (!rest.empty() && rest[0].unresolved >= 0 &&
      (session_.Of(rest[0]).kind == ShellUnknown::Kind::kScriptFolder ||
       (session_.Of(rest[0]).what == "$PWD" && known_folder))) {
    if (rest.size() < 2 || rest[1].c != '/') return std::nullopt;
    rest.erase(rest.begin(), rest.begin() + 2);
    beside = true;
  }
  std::string path = PlainText(rest);
  while (path.starts_with("./")) path = path.substr(2);
  const bool plain =
      IsResolved(rest) && !path.empty() && path[0] != '/' && path.find("..") == std::string::npos;
  if (!plain || (!beside && state_.folder != ShellState::Folder::kCaller)) return std::nullopt;
  return path;
}

ShellAnswer ShellScript::Source(const Words& words, const ShellCommand& command) {
  if (words.size() < 2) return {};
  const std::string plain = PlainText(words[1]);
  if (IsEnvironmentFile(plain)) return {};
  const std::optional<std::string> path = PathBeside(words[1]);
  const std::optional<std::string> text =
      path.has_value() ? read_beside_(*path) : std::optional<std::string>();
  if (!text.has_value()) {
    const std::string argument = session_.MissingArgumentOf(words[1]);
    state_.ForgetAll(fmt::format("'{} {}' may assign it, and {}", PlainText(words[0]), plain,
                                 argument.empty() ? "that file is not beside the script"
                                                  : "which file that is depends on " + argument),
                     command.at, /*keeps_separators=*/true);
    return {};
  }
  if (session_.files.size() >= 64 || depth_ > 40) {
    Fail("files are read by 'source' without an end", command.at);
    return {};
  }
  const auto file = static_cast<int16_t>(session_.files.size());
  const std::string folder = DirectoryOf(session_.files[0].name);
  session_.files.push_back({folder == "." ? *path : folder + "/" + *path, *text});
  const ShellState caller = state_;
  if (words.size() > 2) {
    state_.arguments.assign(words.begin() + 2, words.end());
    state_.top_arguments = false;
    state_.lost_arguments = -1;
  }
  frames_.emplace_back();
  ShellAnswer answer = Succeeded();
  ++depth_;
  RunText(WithPlaces(*text, file), /*hard=*/true, &answer);
  --depth_;
  answer =
      Returned(answer, "the file of this 'source' may assign it, and where it ends is not known",
               command.at);
  if (words.size() > 2) {
    state_.arguments = caller.arguments;
    state_.top_arguments = caller.top_arguments;
    state_.lost_arguments = caller.lost_arguments;
  }
  return answer;
}

ShellAnswer ShellScript::Exec(const Words& words, const ShellCommand& command) {
  size_t at = 1;
  while (at < words.size() && IsFlag(words[at])) {
    at += PlainText(words[at]) == "-a" ? 2 : 1;
  }
  if (at >= words.size()) return Succeeded();  // only redirections
  const Words program(words.begin() + static_cast<int64_t>(at), words.end());
  if (IsResolved(program[0]))
    External(program);
  else
    Unnamed(program, command);
  ended_ = command.at;
  state_.alive = false;
  return {};
}

ShellAnswer ShellScript::Exit(const Words& /*words*/, const ShellCommand& command) {
  ended_ = command.at;
  state_.alive = false;
  return {};
}

ShellAnswer ShellScript::Return(const Words& words, const ShellCommand& /*command*/) {
  if (frames_.empty()) return {};
  const std::optional<int64_t> number =
      words.size() > 1 && IsResolved(words[1]) ? WholeNumber(PlainText(words[1])) : std::nullopt;
  Truth truth = Truth::kUnknown;
  if (number.has_value()) truth = *number % 256 == 0 ? Truth::kTrue : Truth::kFalse;
  frames_.back().returns.push_back(state_);
  frames_.back().results.push_back(truth);
  session_.Spend(state_.Names().size() / 16 + 1);
  ++escapes_;
  state_.alive = false;
  return {};
}

// break and continue.
ShellAnswer ShellScript::LeaveLoop(const Words& words, const ShellCommand& command) {
  const std::optional<int64_t> number = CountOf(words);
  const std::string name = PlainText(words[0]);
  if (!number.has_value() || *number < 1) {
    Fail(fmt::format("'{}' needs a number that the script has", name), command.at);
    return {};
  }
  if (loops_.empty()) {
    // In a subshell inside a loop, it ends the subshell.
    if (in_outer_loop_) state_.alive = false;
    return Succeeded();
  }
  const size_t levels = std::min(loops_.size(), static_cast<size_t>(*number));
  Loop& loop = loops_[loops_.size() - levels];
  (name == "break" ? loop.breaks : loop.continues).push_back(state_);
  session_.Spend(state_.Names().size() / 16 + 1);
  ++escapes_;
  state_.alive = false;
  return {};
}

// A handler may run between any two commands from here on.
ShellAnswer ShellScript::Trap(const Words& words, const ShellCommand& command) {
  size_t at = 1;
  while (at < words.size() && PlainText(words[at]) == "--") ++at;
  if (words.size() < at + 2) return Succeeded();
  const ShellText handler = words[at];
  const std::string plain = PlainText(handler);
  const bool at_end = std::all_of(words.begin() + static_cast<int64_t>(at) + 1, words.end(),
                                  [](const ShellText& word) {
                                    const std::string signal = PlainText(word);
                                    return IsResolved(word) && (signal == "EXIT" || signal == "0");
                                  });
  if (at_end || (IsResolved(handler) && (plain.empty() || plain == "-" || plain == "-p"))) {
    return Succeeded();
  }
  const std::string why = "a handler of 'trap' may assign it at any time";
  if (!IsResolved(handler)) {
    state_.DistrustAll(why, command.at);
    return Succeeded();
  }
  const ShellState before = state_;
  ShellState after = before;
  bool understood = true;
  ++mute_;
  ++depth_;
  Subshell([&] {
    understood = RunText(handler, /*hard=*/false);
    after = state_;
    return ShellAnswer();
  });
  --depth_;
  --mute_;
  if (!understood) {
    state_.DistrustAll(why, command.at);
    return Succeeded();
  }
  if (!after.alive) return Succeeded();
  for (const std::string& name : before.Differences(after)) state_.Distrust(name, why, command.at);
  return Succeeded();
}

ShellAnswer ShellScript::GetOptions(const Words& words, const ShellCommand& command) {
  const std::string why = "'getopts' assigns it an option of the script";
  if (words.size() < 3) return {};
  LoseWord(words[2], why, command.at);
  state_.Forget("OPTARG", why, command.at);
  state_.Forget("OPTIND", why, command.at);
  // The script has no arguments but the given ones.
  const bool none = words.size() == 3 && state_.top_arguments && state_.arguments.empty() &&
                    state_.lost_arguments < 0;
  if (none) return {Truth::kFalse, true, ""};
  return {};
}

ShellAnswer ShellScript::ChangeFolder(const Words& words, const ShellCommand& /*command*/) {
  const bool to_script = PlainText(words[0]) == "cd" && words.size() == 2 && words[1].size() == 1 &&
                         words[1][0].unresolved >= 0 &&
                         session_.Of(words[1][0]).kind == ShellUnknown::Kind::kScriptFolder &&
                         state_.folder == ShellState::Folder::kCaller;
  state_.folder = to_script ? ShellState::Folder::kScript : ShellState::Folder::kUnknown;
  return {};
}

ShellAnswer ShellScript::Alias(const Words& words, const ShellCommand& command) {
  if (PlainText(words[0]) == "enable") {
    Fail("'enable' changes what commands do, which is not understood; remove this line",
         command.at);
  } else if (words.size() > 1 && state_.options.contains("expand_aliases")) {
    Fail("'alias' gives commands other names, which are not understood; write the command itself",
         command.at);
  }
  return Succeeded();
}

ShellAnswer ShellScript::ShellOptions(const Words& words, const ShellCommand& command) {
  static const std::set<std::string> kPatterns = {
      "nocasematch", "nocaseglob", "nullglob", "failglob", "globasciiranges", "patsub_replacement"};
  bool on = true, sets = false;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string word = PlainText(words[i]);
    if (!IsResolved(words[i])) {
      Fail("'shopt' needs names that the script has", command.at);
      return {};
    }
    if (IsFlag(words[i])) {
      sets = sets || word.find_first_of("su") != std::string::npos;
      if (word.find('u') != std::string::npos) on = false;
      continue;
    }
    if (!sets) continue;
    if (kPatterns.contains(word)) state_.odd_patterns = true;
    if (word == "lastpipe" || word == "expand_aliases") state_.options.insert(word);
    if (word == "localvar_inherit" || word == "localvar_unset" || word == "array_expand_once" ||
        word == "assoc_expand_once" || word.starts_with("compat")) {
      Fail(
          fmt::format("'shopt {}' changes how bash reads the script, and is not understood; remove "
                      "this line",
                      word),
          command.at);
    }
    if (word == "noglob" || word == "allexport" || word == "posix" || word == "keyword") {
      SetOption(word, on, command.at);
    }
  }
  return Succeeded();
}

ShellAnswer ShellScript::Wait(const Words& words, const ShellCommand& command) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (PlainText(words[i]) == "-p" && i + 1 < words.size()) {
      LoseWord(words[i + 1], "'wait -p' assigns it a number", command.at);
    }
  }
  return {};
}

}  // namespace drydock
