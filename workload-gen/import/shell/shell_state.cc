#include "workload-gen/import/shell/shell_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scan.h"

namespace drydock {
namespace {

// bash computes them; an assignment has no effect, or a special one.
const std::set<std::string> kOfBash = {
    "BASH",          "BASHOPTS",      "BASHPID",      "BASH_ALIASES",
    "BASH_ARGC",     "BASH_ARGV",     "BASH_ARGV0",   "BASH_CMDS",
    "BASH_COMMAND",  "BASH_LINENO",   "BASH_REMATCH", "BASH_SOURCE",
    "BASH_SUBSHELL", "BASH_VERSINFO", "BASH_VERSION", "COMP_WORDBREAKS",
    "DIRSTACK",      "EPOCHREALTIME", "EPOCHSECONDS", "EUID",
    "FUNCNAME",      "GROUPS",        "HISTCMD",      "LINENO",
    "PIPESTATUS",    "PPID",          "RANDOM",       "SECONDS",
    "SHELLOPTS",     "SRANDOM",       "UID",          "_"};

// The system or bash sets them before the script begins.
const std::set<std::string> kOfSystem = {
    "COLUMNS", "DISPLAY",  "EDITOR", "HOME",   "HOSTNAME", "HOSTTYPE", "LANG",   "LINES",
    "LOGNAME", "MACHTYPE", "MAIL",   "OLDPWD", "OPTERR",   "OPTIND",   "OSTYPE", "PATH",
    "PS4",     "PWD",      "SHELL",  "SHLVL",  "TERM",     "TMPDIR",   "USER",   "LD_LIBRARY_PATH"};

bool SameTexts(const std::map<int64_t, ShellText>& a, const std::map<int64_t, ShellText>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && SameText(x.second, y.second);
  });
}

bool SameAttributes(const ShellVariable& a, const ShellVariable& b) {
  return a.exported == b.exported && a.readonly == b.readonly && a.integer == b.integer &&
         a.letters == b.letters && a.fixed == b.fixed;
}

bool SameValue(const ShellVariable& a, const ShellVariable& b) {
  if (a.unknown >= 0 || b.unknown >= 0) return a.unknown == b.unknown;
  const bool keyed = std::equal(a.keyed.begin(), a.keyed.end(), b.keyed.begin(), b.keyed.end(),
                                [](const auto& x, const auto& y) {
                                  return x.first == y.first && SameText(x.second, y.second);
                                });
  return a.form == b.form && a.is_set == b.is_set && SameTexts(a.elements, b.elements) && keyed;
}

bool SameList(const std::vector<ShellText>& a, const std::vector<ShellText>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameText);
}

}  // namespace

bool IsVariableOfBash(const std::string& name) { return kOfBash.contains(name); }

namespace {

// The number of "$2"; 0 for other names.
int64_t ArgumentNumber(const ShellUnknown& unknown) {
  if (unknown.kind != ShellUnknown::Kind::kNotAssigned || unknown.what.size() < 2) return 0;
  const std::optional<int64_t> number = WholeNumber(unknown.what.substr(1));
  return unknown.what[0] == '$' ? number.value_or(0) : 0;
}

}  // namespace

std::string ShellSession::MissingArgumentOf(const ShellText& text) const {
  for (const ShellChar& c : text) {
    if (c.unresolved >= 0 && ArgumentNumber(Of(c)) > 0) return Of(c).what;
  }
  return "";
}

void ShellSession::NoteAssigned(const ShellText& value, const std::string& variable) {
  if (value.size() != 1 || value[0].unresolved < 0) return;
  const auto missing = missing_arguments_.find(ArgumentNumber(Of(value[0])));
  if (missing != missing_arguments_.end() && missing->second.empty()) missing->second = variable;
}

int32_t ShellSession::Add(ShellUnknown unknown) {
  if (ArgumentNumber(unknown) > 0) missing_arguments_.try_emplace(ArgumentNumber(unknown));
  unknowns_.push_back(std::move(unknown));
  Spend(1);
  return static_cast<int32_t>(unknowns_.size() - 1);
}

ShellText ShellSession::Text(int32_t id, const ShellChar& at) const {
  const ShellChar& place = at.line > 0 ? at : Of(id).at;
  return {{'\0', false, place.file, place.line, place.column, id}};
}

const ShellUnknown& ShellSession::Of(const ShellChar& unresolved) const {
  return Of(unresolved.unresolved);
}

void ShellSession::NameVariable(int32_t id, const std::string& variable) {
  std::string& name = unknowns_[static_cast<size_t>(id)].variable;
  if (name.empty()) name = variable;
}

bool ShellSession::Spend(size_t characters) {
  left_ -= std::min(left_, characters);
  return left_ > 0;
}

const ShellText* ShellVariable::text() const {
  if (form == Form::kMap) {
    const auto found = keyed.find("0");
    return found == keyed.end() ? nullptr : &found->second;
  }
  const auto found = elements.find(0);
  return found == elements.end() ? nullptr : &found->second;
}

std::vector<ShellText> ShellVariable::all() const {
  std::vector<ShellText> list;
  for (const auto& [index, value] : elements) list.push_back(value);
  for (const auto& [key, value] : keyed) list.push_back(value);
  return list;
}

void ShellState::Fix(const std::string& name, const std::string& value) {
  ShellVariable variable;
  variable.is_set = true;
  variable.fixed = true;
  variable.exported = true;
  variable.elements[0] = WithPlaces(value);
  for (ShellChar& c : variable.elements[0]) c.line = c.column = 0;
  variables_[name] = std::make_shared<ShellVariable>(variable);
}

const ShellVariable* ShellState::Find(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second.get();
}

ShellVariable* ShellState::Change(const std::string& name) {
  Pointer& pointer = variables_[name];
  if (pointer != nullptr && pointer->fixed) return nullptr;
  if (pointer != nullptr && pointer->readonly) changed_readonly_ = name;
  std::shared_ptr<ShellVariable> copy = pointer == nullptr
                                            ? std::make_shared<ShellVariable>()
                                            : std::make_shared<ShellVariable>(*pointer);
  if (pointer == nullptr && everything_ >= 0) copy->unknown = Unassigned(name, ShellChar());
  size_t characters = 1;
  for (const auto& [index, value] : copy->elements) characters += value.size();
  for (const auto& [key, value] : copy->keyed) characters += value.size();
  session_->Spend(characters / 16);
  if (options.contains("allexport")) copy->exported = true;
  pointer = copy;
  return copy.get();
}

void ShellState::AssignText(const std::string& name, const ShellText& value) {
  ShellVariable* variable = Change(name);
  if (variable == nullptr || !session_->Spend(value.size() + 1)) return;
  session_->NoteAssigned(value, name);
  for (const ShellChar& c : value) {
    if (c.unresolved >= 0) session_->NameVariable(c.unresolved, name);
  }
  ShellText stored = value;
  for (ShellChar& c : stored) c.wide = false;
  variable->unknown = -1;
  variable->is_set = true;
  if (variable->form == ShellVariable::Form::kMap)
    variable->keyed["0"] = std::move(stored);
  else
    variable->elements[0] = std::move(stored);
}

void ShellState::Unset(const std::string& name) {
  ShellVariable* variable = Change(name);
  if (variable != nullptr) *variable = ShellVariable();
}

void ShellState::Forget(const std::string& name, const std::string& why, const ShellChar& at) {
  const ShellVariable* old = Find(name);
  if (old != nullptr && old->readonly) return;
  ShellVariable* variable = Change(name);
  if (variable == nullptr) return;
  variable->unknown = session_->Add({"$" + name, why, name, ShellUnknown::Kind::kOther, at});
  variable->is_set = true;
  variable->elements.clear();
  variable->keyed.clear();
}

void ShellState::ForgetAll(const std::string& why, const ShellChar& at, bool keeps_separators) {
  if (keeps_separators && Find("IFS") == nullptr && everything_ < 0) {
    AssignText("IFS", TextAt(" \t\n", at));
  }
  for (const std::string& name : Names()) {
    if (name != "IFS" || !keeps_separators) Forget(name, why, at);
  }
  everything_ = session_->Add({"", why, "", ShellUnknown::Kind::kOther, at});
  lost_arguments = session_->Add({"$@", why, "@", ShellUnknown::Kind::kOther, at});
  for (auto& [name, function] : functions) function = nullptr;
  unknown_functions = true;
}

void ShellState::Distrust(const std::string& name, const std::string& why, const ShellChar& at) {
  const ShellVariable* variable = Find(name);
  if (variable != nullptr && variable->fixed) return;
  Forget(name, why, at);
  distrusted_[name] = session_->Add({"$" + name, why, name, ShellUnknown::Kind::kOther, at});
}

void ShellState::DistrustAll(const std::string& why, const ShellChar& at) {
  ForgetAll(why, at);
  distrusts_all_ = everything_;
}

std::optional<int32_t> ShellState::Distrusted(const std::string& name, const ShellChar& at) const {
  const ShellVariable* variable = Find(name);
  if (variable != nullptr && variable->fixed) return std::nullopt;
  if (kOfBash.contains(name)) {
    return session_->Add({"$" + name, "bash itself sets it", name, ShellUnknown::Kind::kOther, at});
  }
  const auto distrusted = distrusted_.find(name);
  if (distrusted != distrusted_.end()) return distrusted->second;
  if (distrusts_all_ < 0) return std::nullopt;
  const ShellUnknown cause = session_->Of(distrusts_all_);
  return session_->Add({"$" + name, cause.why, name, ShellUnknown::Kind::kOther, cause.at});
}

int32_t ShellState::Unassigned(const std::string& name, const ShellChar& at) const {
  if (everything_ >= 0) {
    const ShellUnknown cause = session_->Of(everything_);
    return session_->Add({"$" + name, cause.why, name, ShellUnknown::Kind::kOther, cause.at});
  }
  if (kOfSystem.contains(name)) {
    return session_->Add({"$" + name, "the system sets it", name, ShellUnknown::Kind::kOther, at});
  }
  const auto line = session_->assigned_lines.find(name);
  const std::string why =
      line == session_->assigned_lines.end()
          ? ""
          : fmt::format("line {} assigns it, on a path that does not run before this",
                        line->second);
  return session_->Add({"$" + name, why, name, ShellUnknown::Kind::kNotAssigned, ShellChar()});
}

void ShellState::TakeFixedArguments() {
  const auto is_fixed = [&](const std::string& name) {
    const ShellVariable* variable = Find(name);
    return variable != nullptr && variable->fixed ? variable->text() : nullptr;
  };
  size_t last = 0;
  for (const std::string& name : Names()) {
    const std::optional<int64_t> number = WholeNumber(name);
    if (number.has_value() && *number > 0 && *number < 1000) {
      last = std::max(last, static_cast<size_t>(*number));
    }
  }
  for (size_t i = 1; i <= last; ++i) {
    const ShellText* text = is_fixed(std::to_string(i));
    arguments.push_back(
        text != nullptr ? *text : session_->Text(Unassigned(std::to_string(i), ShellChar()), {}));
  }
  const ShellText* all = is_fixed("@");
  if (all == nullptr) return;
  arguments.clear();
  bool open = false;
  for (const ShellChar& c : *all) {
    const bool blank = c.c == ' ' || c.c == '\t' || c.c == '\n';
    if (!blank && !open) arguments.emplace_back();
    if (!blank) arguments.back().push_back(c);
    open = !blank;
  }
}

std::vector<std::string> ShellState::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : variables_) names.push_back(name);
  return names;
}

bool ShellState::SameAs(const ShellState& other) const {
  if (alive != other.alive || arguments.size() != other.arguments.size() ||
      !SameList(arguments, other.arguments) || lost_arguments != other.lost_arguments ||
      functions != other.functions || unknown_functions != other.unknown_functions ||
      no_globs != other.no_globs || odd_patterns != other.odd_patterns || folder != other.folder ||
      shifted != other.shifted || changed_readonly_ != other.changed_readonly_ ||
      options != other.options || everything_ != other.everything_ ||
      distrusted_ != other.distrusted_ || distrusts_all_ != other.distrusts_all_ ||
      locals != other.locals || variables_.size() != other.variables_.size()) {
    return false;
  }
  return std::equal(variables_.begin(), variables_.end(), other.variables_.begin(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first &&
                             (a.second == b.second || (SameAttributes(*a.second, *b.second) &&
                                                       SameValue(*a.second, *b.second)));
                    });
}

std::vector<std::string> ShellState::Differences(const ShellState& other) const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : variables_) {
    const ShellVariable* theirs = other.Find(name);
    if (theirs == variable.get()) continue;
    if (theirs == nullptr || !SameAttributes(*variable, *theirs) ||
        !SameValue(*variable, *theirs)) {
      names.push_back(name);
    }
  }
  for (const auto& [name, variable] : other.variables_) {
    if (!variables_.contains(name)) names.push_back(name);
  }
  return names;
}

void ShellState::KeepExported(bool exported) {
  std::erase_if(variables_, [&](const auto& entry) {
    const ShellVariable& variable = *entry.second;
    const bool text = variable.form == ShellVariable::Form::kText && variable.is_set;
    return !variable.fixed && !(exported && variable.exported && text);
  });
  // A shell never takes IFS from its environment.
  if (everything_ >= 0 && Find("IFS") == nullptr) AssignText("IFS", WithPlaces(" \t\n"));
  for (auto& [name, variable] : variables_) {
    auto copy = std::make_shared<ShellVariable>(*variable);
    copy->readonly = copy->integer = false;
    copy->letters = '\0';
    variable = std::move(copy);
  }
  functions.clear();
  locals.clear();
  options.clear();
  no_globs = odd_patterns = unknown_functions = false;
  lost_arguments = -1;
}

void ShellState::Join(const ShellState& other, const std::string& why, const ShellChar& at) {
  if (!other.alive) return;
  if (!alive) {
    *this = other;
    return;
  }
  session_->Spend(variables_.size() / 16 + 1);
  if (everything_ != other.everything_) {
    if (everything_ < 0) everything_ = other.everything_;
  }
  std::vector<std::string> names = Names();
  for (const std::string& name : other.Names()) {
    if (!variables_.contains(name)) names.push_back(name);
  }
  for (const std::string& name : names) {
    const ShellVariable* mine = Find(name);
    const ShellVariable* theirs = other.Find(name);
    if (mine == theirs) continue;
    const bool both = mine != nullptr && theirs != nullptr;
    if (both && !SameAttributes(*mine, *theirs)) {
      const bool only_export = mine->readonly == theirs->readonly &&
                               mine->integer == theirs->integer && mine->letters == theirs->letters;
      if (!only_export) {
        Distrust(name, why, at);
        continue;
      }
    } else if (both && SameValue(*mine, *theirs)) {
      continue;
    }
    const ShellVariable& some = mine != nullptr ? *mine : *theirs;
    const bool array = some.form != ShellVariable::Form::kText ||
                       (both && theirs->form != ShellVariable::Form::kText);
    if (!both && (some.readonly || some.integer || some.letters != '\0')) {
      Distrust(name, why, at);
      continue;
    }
    // A value that is unknown already stays the same unknown.
    const bool settled = both && mine->unknown >= 0 && SameAttributes(*mine, *theirs);
    if (!settled) Forget(name, why, at);
    ShellVariable* joined = array ? Change(name) : nullptr;
    if (joined != nullptr && joined->form == ShellVariable::Form::kText)
      joined->form = ShellVariable::Form::kArray;
  }
  for (const auto& [name, unknown] : other.distrusted_) distrusted_.emplace(name, unknown);
  if (distrusts_all_ < 0) distrusts_all_ = other.distrusts_all_;
  if (lost_arguments < 0 && (other.lost_arguments >= 0 || !SameList(arguments, other.arguments))) {
    lost_arguments = session_->Add({"$@", why, "", ShellUnknown::Kind::kOther, at});
  }
  for (const auto& [name, function] : other.functions) {
    if (!functions.contains(name) || functions.at(name) != function) functions[name] = nullptr;
  }
  for (auto& [name, function] : functions) {
    if (!other.functions.contains(name)) function = nullptr;
  }
  unknown_functions = unknown_functions || other.unknown_functions;
  odd_patterns = odd_patterns || other.odd_patterns;
  if (no_globs != other.no_globs) odd_patterns = true;
  no_globs = no_globs && other.no_globs;
  if (folder != other.folder) folder = Folder::kUnknown;
  if (changed_readonly_.empty()) changed_readonly_ = other.changed_readonly_;
  options.insert(other.options.begin(), other.options.end());
  if (locals != other.locals) {
    // A function made a variable local on one path only: what it hides is not certain.
    for (size_t i = 0; i < locals.size() && i < other.locals.size(); ++i) {
      for (const auto& [name, hidden] : other.locals[i]) {
        if (locals[i].emplace(name, hidden).second) Distrust(name, why, at);
      }
      for (const auto& [name, hidden] : locals[i]) {
        if (!other.locals[i].contains(name)) Distrust(name, why, at);
      }
    }
  }
}

void ShellScope::Hide(ShellState* state, const std::string& name,
                      std::map<std::string, std::shared_ptr<const ShellVariable>>* hidden) {
  const auto found = state->variables_.find(name);
  hidden->emplace(name, found == state->variables_.end() ? nullptr : found->second);
}

void ShellScope::Restore(
    ShellState* state, const std::map<std::string, std::shared_ptr<const ShellVariable>>& hidden) {
  for (const auto& [name, variable] : hidden) {
    if (variable == nullptr)
      state->variables_.erase(name);
    else
      state->variables_[name] = variable;
  }
}

}  // namespace drydock
