// $NAME and ${...}, and assignments.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/scan.h"
#include "workload-gen/import/shell/shell_expansion.h"

namespace drydock {
namespace {

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

char ToCase(char c, bool upper) {
  if (upper) return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

ShellText Part(const ShellText& text, size_t begin, size_t end) {
  return ShellText(text.begin() + static_cast<int64_t>(begin),
                   text.begin() + static_cast<int64_t>(end));
}

bool IsNumber(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the text without the shortest or longest part that fits, at its begin or end.
ShellText Trimmed(const ShellText& value, const ShellPattern& pattern, bool front, bool longest) {
  const std::string text = PlainText(value);
  const size_t size = text.size();
  for (size_t k = 0; k <= size; ++k) {
    const size_t length = longest ? size - k : k;
    const std::string part = front ? text.substr(0, length) : text.substr(size - length);
    if (!Matches(pattern, part)) continue;
    return front ? Part(value, length, size) : Part(value, 0, size - length);
  }
  return value;
}

// anchor: '#' only at the begin, '%' only at the end, '\0' anywhere.
ShellText Replaced(const ShellText& value, const ShellPattern& pattern,
                   const ShellText& replacement, char anchor, bool all) {
  const std::string text = PlainText(value);
  ShellText out;
  size_t at = 0;
  bool done = pattern.empty() && anchor == '\0';
  while (at <= text.size()) {
    size_t length = 0;
    bool found = false;
    const bool here = !done && (anchor != '#' || at == 0);
    for (size_t k = text.size() - at + 1; here && k-- > 0 && !found;) {
      if (k == 0 && anchor == '\0') break;  // an empty part
      if (anchor == '%' && at + k != text.size()) continue;
      found = Matches(pattern, text.substr(at, k));
      if (found) length = k;
    }
    if (found) {
      out.insert(out.end(), replacement.begin(), replacement.end());
      at += length;
      done = !all;
      if (length > 0) continue;
    }
    if (at < text.size()) out.push_back(value[at]);
    ++at;
  }
  return out;
}

}  // namespace

ShellExpander::Operand ShellExpander::UnknownOperand(const ShellExpansion& expansion,
                                                     const std::string& name, int32_t cause) {
  Operand operand;
  const ShellUnknown of = state_.session().Of(cause);
  const bool same = expansion.operation.empty() && !expansion.length;
  operand.set = of.kind == ShellUnknown::Kind::kNotAssigned ? Operand::Set::kNotAssigned
                                                            : Operand::Set::kUnknown;
  operand.unknown =
      same ? cause
           : state_.session().Add({expansion.source, of.why,
                                   of.variable.empty() ? name : of.variable, of.kind, of.at});
  operand.list = !expansion.list.empty();
  operand.joined = expansion.list == "*";
  return operand;
}

// $1, $@, $#.
ShellExpander::Operand ShellExpander::Arguments(const ShellExpansion& expansion) {
  Operand operand;
  const std::string& name = expansion.name;
  operand.list = !expansion.list.empty();
  operand.joined = expansion.list == "*";
  const auto not_known = [&](const std::string& what, ShellUnknown::Kind kind,
                             const std::string& why, const ShellChar& at) {
    const std::string variable = kind == ShellUnknown::Kind::kNotAssigned ? what.substr(1) : "";
    return UnknownOperand(expansion, name, state_.session().Add({what, why, variable, kind, at}));
  };
  if (state_.lost_arguments >= 0) {
    const ShellUnknown cause = state_.session().Of(state_.lost_arguments);
    return not_known("$" + name, ShellUnknown::Kind::kOther, cause.why, cause.at);
  }
  const bool top = state_.top_arguments;
  const size_t count = state_.arguments.size();
  const auto wide_before = [&](size_t end) {
    return std::any_of(state_.arguments.begin(),
                       state_.arguments.begin() + static_cast<int64_t>(std::min(end, count)),
                       IsWide);
  };
  if (operand.list) {
    if (top && count == 0) {
      return not_known("$" + name, ShellUnknown::Kind::kNotAssigned, "", expansion.at);
    }
    operand.set = count > 0 ? Operand::Set::kYes : Operand::Set::kNo;
    operand.values = state_.arguments;
    return operand;
  }
  if (name == "#") {
    if (top && count == 0) {
      return not_known("$#", ShellUnknown::Kind::kNotAssigned, "", expansion.at);
    }
    if (wide_before(count)) {
      return not_known("$#", ShellUnknown::Kind::kOther, "the number of arguments is not known",
                       expansion.at);
    }
    operand.set = Operand::Set::kYes;
    operand.values = {TextAt(std::to_string(count), expansion.at)};
    return operand;
  }
  const auto number = static_cast<size_t>(WholeNumber(name).value_or(1 << 20));
  if (wide_before(number)) {
    return not_known("$" + name, ShellUnknown::Kind::kOther,
                     "the number of arguments before it is not known", expansion.at);
  }
  if (number <= count) {
    operand.set = Operand::Set::kYes;
    operand.values = {state_.arguments[number - 1]};
  } else if (top) {
    return not_known(fmt::format("${}", number + state_.shifted), ShellUnknown::Kind::kNotAssigned,
                     "", expansion.at);
  }
  return operand;
}

ShellExpander::Operand ShellExpander::Lookup(const std::string& name,
                                             const ShellExpansion& expansion) {
  if (name == "@" || name == "*" || name == "#" || (IsNumber(name) && name != "0")) {
    ShellExpansion of = expansion;
    of.name = name;
    return Arguments(of);
  }
  if (!IsShellName(name)) {
    return UnknownOperand(expansion, "",
                          state_.session().Add({"$" + name, "bash itself sets it", "",
                                                ShellUnknown::Kind::kOther, expansion.at}));
  }
  const std::optional<int32_t> distrusted = state_.Distrusted(name, expansion.at);
  if (distrusted.has_value()) return UnknownOperand(expansion, name, *distrusted);
  const ShellVariable* variable = state_.Find(name);
  if (variable == nullptr) {
    Operand operand = UnknownOperand(expansion, name, state_.Unassigned(name, expansion.at));
    // ${#X[@]} of a variable that no line assigns.
    if (operand.set == Operand::Set::kNotAssigned && (operand.list || expansion.length)) {
      const ShellUnknown of = state_.session().Of(operand.unknown);
      operand.unknown = state_.session().Add({expansion.source, "", name, of.kind, expansion.at});
    }
    return operand;
  }
  if (variable->unknown >= 0) return UnknownOperand(expansion, name, variable->unknown);
  return Element(*variable, name, expansion);
}

ShellExpander::Operand ShellExpander::Element(const ShellVariable& variable,
                                              const std::string& name,
                                              const ShellExpansion& expansion) {
  Operand operand;
  operand.list = !expansion.list.empty();
  operand.joined = expansion.list == "*";
  const auto not_known = [&](const std::string& why) {
    return UnknownOperand(expansion, name,
                          state_.session().Add({expansion.source, why, name,
                                                ShellUnknown::Kind::kOther, expansion.at}));
  };
  const bool map = variable.form == ShellVariable::Form::kMap;
  if (operand.list) {
    operand.values = variable.all();
    operand.set = operand.values.empty() ? Operand::Set::kNo : Operand::Set::kYes;
    if (map && operand.values.size() > 1 && !expansion.length) {
      return not_known("the order of an associative array is not known");
    }
    return operand;
  }
  const ShellText* text = variable.text();
  const auto first_wide = std::find_if(variable.elements.begin(), variable.elements.end(),
                                       [](const auto& element) { return IsWide(element.second); });
  int64_t index = 0;
  if (expansion.has_index && map) {
    ShellExpander inner(&state_);
    const ShellText key = inner.Text(expansion.index);
    if (!IsResolved(key)) return not_known("its key is not known");
    const auto found = variable.keyed.find(PlainText(key));
    text = found == variable.keyed.end() ? nullptr : &found->second;
  } else if (expansion.has_index) {
    const ShellNumber number = Number(expansion.index);
    // The expression may have changed the variable.
    const ShellVariable* now = state_.Find(name);
    if (!number.value.has_value() || now == nullptr || now->unknown >= 0) {
      return not_known("its index is not known");
    }
    index = *number.value;
    if (index < 0) {
      if (first_wide != now->elements.end() || now->elements.empty()) {
        return not_known("the number of elements is not known");
      }
      index += now->elements.rbegin()->first + 1;
    }
    const auto found = now->elements.find(index);
    text = found == now->elements.end() ? nullptr : &found->second;
  }
  if (!map && first_wide != variable.elements.end() && first_wide->first <= index) {
    return not_known("the number of elements before it is not known");
  }
  if (text == nullptr) return operand;
  operand.set = Operand::Set::kYes;
  operand.values = {*text};
  return operand;
}

void ShellExpander::AddParameter(const ShellExpansion& expansion, bool quoted) {
  std::string name = expansion.name;
  ShellExpansion of = expansion;
  if (expansion.indirect) {
    if (!expansion.list.empty()) return AddKeys(expansion, name, quoted);
    ShellExpansion plain = expansion;
    plain.operation.clear();
    const Operand reference = Lookup(name, plain);
    const bool known = reference.set == Operand::Set::kYes && reference.values.size() == 1 &&
                       IsResolved(reference.values[0]);
    name = known ? PlainText(reference.values[0]) : "";
    if (!IsShellName(name) && !IsNumber(name)) {
      return AddUnknown(expansion.source, "the variable that it names is not known", quoted,
                        expansion.at);
    }
    of.has_index = false;
  }
  Operand operand = Lookup(name, of);
  if (expansion.length) return AddLength(expansion, operand, quoted);
  const std::string& operation = expansion.operation;
  if (operation.empty()) return AddValues(operand, quoted, expansion.at);
  if (operation == ":") return AddSlice(expansion, std::move(operand), quoted);
  if (std::strchr("-=?+", operation.back()) != nullptr) {
    if (!AddDefault(expansion, operand, quoted)) AddValues(operand, quoted, expansion.at);
    return;
  }
  // Evaluated even where the value is not known: they may assign.
  ShellExpander inner(&state_);
  inner.depth_ = depth_;
  const std::optional<ShellPattern> pattern = inner.Pattern(expansion.word);
  bool special = false;  // & and \ stand for more in a replacement
  for (const ShellAtom& atom : expansion.word2) {
    special = special || (atom.kind == ShellAtom::Kind::kChar && !atom.quoted &&
                          (atom.c.c == '&' || atom.c.c == '\\'));
  }
  const ShellText replacement = inner.Text(expansion.word2);
  if (inner.mistake_.has_value()) Fail(inner.mistake_->message, inner.mistake_->at);
  special = special || PlainText(replacement).find_first_of("&\\") != std::string::npos;
  if (operand.set != Operand::Set::kYes) return AddValues(operand, quoted, expansion.at);
  for (ShellText& value : operand.values) {
    std::optional<ShellText> changed;
    if (!special) changed = Changed(expansion, pattern, replacement, value);
    if (!changed.has_value()) {
      return AddUnknown(expansion.source, "its parts are not known", quoted && !operand.list,
                        expansion.at);
    }
    if (!state_.session().Spend(value.size() * (operation[0] == '/' ? 16 : 1))) return;
    value = std::move(*changed);
  }
  AddValues(operand, quoted, expansion.at);
}

// ${NAME:-word}, ${NAME-word}, ${NAME:=word}, ${NAME=word}; :+ inverts the condition. Returns false
// if the operand itself is the value.
bool ShellExpander::AddDefault(const ShellExpansion& expansion, const Operand& operand,
                               bool quoted) {
  const bool colon = expansion.operation[0] == ':';
  const char kind = expansion.operation.back();
  const auto only_unknown = [&](bool not_assigned) {
    return operand.values.size() == 1 && !operand.values[0].empty() &&
           std::all_of(operand.values[0].begin(), operand.values[0].end(), [&](const ShellChar& c) {
             return c.unresolved >= 0 && (!not_assigned || state_.session().Of(c).kind ==
                                                               ShellUnknown::Kind::kNotAssigned);
           });
  };
  using Set = Operand::Set;
  Set set = operand.set == Set::kNotAssigned ? Set::kNo : operand.set;
  if (set == Set::kYes && colon) {
    const bool empty = operand.values.size() == 1 && operand.values[0].empty();
    if (empty || only_unknown(true))
      set = Set::kNo;
    else if (only_unknown(false))
      set = Set::kUnknown;
  }
  if (set == Set::kUnknown) {
    // What the word assigns may happen or not.
    if (kind == '=' && IsShellName(expansion.name)) {
      state_.Forget(expansion.name, fmt::format("'{}' may assign it", expansion.source),
                    expansion.at);
    }
    AddUnknown(expansion.source, "whether its variable is set is not known",
               quoted && !operand.list, expansion.at);
    return true;
  }
  if (kind == '+') {
    if (set == Set::kYes) {
      AddInner(expansion.word, quoted);
    } else if (quoted && !operand.list) {
      open_ = true;
    }
    return true;
  }
  if (set == Set::kYes) return false;
  if (kind == '?') {
    // bash would end the script: the caller gives the variable.
    if (operand.set == Set::kNo) {
      AddUnknown(expansion.source, "its variable is not set, and bash ends the script", quoted,
                 expansion.at);
      return true;
    }
    return false;
  }
  if (kind == '=') {
    ShellExpander inner(&state_);
    inner.depth_ = depth_;
    const ShellText value = inner.Text(expansion.word);
    if (IsShellName(expansion.name) && !expansion.indirect) {
      inner.AssignElement(expansion.name, expansion.has_index ? &expansion.index : nullptr, value,
                          /*append=*/false, expansion.at);
    }
    if (inner.mistake_.has_value()) Fail(inner.mistake_->message, inner.mistake_->at);
    AddText(value, quoted, expansion.at);
    return true;
  }
  AddInner(expansion.word, quoted);
  return true;
}

// The word of ${NAME:-word} is split like the value of a variable.
void ShellExpander::AddInner(const ShellWord& word, bool quoted) {
  for (size_t i = 0; i < word.size(); ++i) {
    const ShellAtom& atom = word[i];
    if (i == 0 && !quoted && !atom.quoted && atom.kind == ShellAtom::Kind::kChar &&
        atom.c.c == '~') {
      AddTilde(word, &i, /*assignment=*/false);
    } else if (atom.kind == ShellAtom::Kind::kExpansion) {
      ShellAtom inner = atom;
      inner.quoted = atom.quoted || quoted;
      AddAtom(inner);
    } else if (atom.kind == ShellAtom::Kind::kChar && !atom.quoted && !quoted) {
      AddText({atom.c}, /*quoted=*/false, atom.c);
    } else if (atom.kind == ShellAtom::Kind::kChar) {
      AddChar(atom.c, /*quoted=*/true);
    } else {
      // "${A[@]}" without elements is no word.
      const bool list = i + 1 < word.size() && word[i + 1].quoted &&
                        word[i + 1].kind == ShellAtom::Kind::kExpansion &&
                        word[i + 1].expansion->list == "@";
      if (!list) open_ = true;
    }
  }
  if (quoted && word.empty()) open_ = true;
}

void ShellExpander::AddLength(const ShellExpansion& expansion, const Operand& operand,
                              bool quoted) {
  using Set = Operand::Set;
  if (operand.set == Set::kNo) return AddText(TextAt("0", expansion.at), quoted, expansion.at);
  if (operand.set != Set::kYes) return AddUnknown(operand.unknown, quoted, expansion.at);
  const bool wide = std::any_of(operand.values.begin(), operand.values.end(), IsWide);
  if (operand.list && !wide) {
    return AddText(TextAt(std::to_string(operand.values.size()), expansion.at), quoted,
                   expansion.at);
  }
  const ShellText& value = operand.values[0];
  if (operand.list || !IsResolved(value) || !IsAscii(PlainText(value))) {
    return AddUnknown(expansion.source, "its value is not known", quoted, expansion.at);
  }
  AddText(TextAt(std::to_string(value.size()), expansion.at), quoted, expansion.at);
}

// ${!NAME[@]}: the indices.
void ShellExpander::AddKeys(const ShellExpansion& expansion, const std::string& name, bool quoted) {
  const ShellVariable* variable = state_.Find(name);
  const bool known = variable != nullptr && variable->unknown < 0 && expansion.operation.empty() &&
                     variable->form != ShellVariable::Form::kMap &&
                     !state_.Distrusted(name, expansion.at).has_value() && IsShellName(name) &&
                     std::none_of(variable->elements.begin(), variable->elements.end(),
                                  [](const auto& element) { return IsWide(element.second); });
  if (!known) {
    return AddUnknown(expansion.source, "the keys of the array are not known", false, expansion.at);
  }
  Operand operand;
  operand.set = variable->elements.empty() ? Operand::Set::kNo : Operand::Set::kYes;
  operand.list = true;
  operand.joined = expansion.list == "*";
  for (const auto& [index, value] : variable->elements) {
    operand.values.push_back(TextAt(std::to_string(index), expansion.at));
  }
  AddValues(operand, quoted, expansion.at);
}

// ${NAME:offset:length}, ${@:2}, ${NAME[@]:1:2}.
void ShellExpander::AddSlice(const ShellExpansion& expansion, Operand operand, bool quoted) {
  const ShellNumber first = Number(expansion.word);
  const ShellNumber length =
      expansion.has_word2 ? Number(expansion.word2) : ShellNumber{INT64_MAX, ""};
  using Set = Operand::Set;
  if (operand.set == Set::kNo) return AddValues(operand, quoted, expansion.at);
  const bool wide = std::any_of(operand.values.begin(), operand.values.end(), IsWide);
  const bool arguments = expansion.name == "@" || expansion.name == "*";
  const ShellVariable* variable = arguments ? nullptr : state_.Find(expansion.name);
  const bool map = variable != nullptr && variable->form == ShellVariable::Form::kMap;
  const bool known = operand.set == Set::kYes && first.value.has_value() &&
                     length.value.has_value() && !wide && !map;
  const auto not_known = [&] {
    AddUnknown(expansion.source, "its value is not known", quoted && !operand.list, expansion.at);
  };
  if (!known) return not_known();
  if (!operand.list) {
    const ShellText& value = operand.values[0];
    const auto size = static_cast<int64_t>(value.size());
    if (!IsResolved(value) || !IsAscii(PlainText(value))) return not_known();
    const int64_t begin = *first.value < 0 ? size + *first.value : *first.value;
    if (begin < 0 || begin > size) return AddText({}, quoted, expansion.at);
    const int64_t end = *length.value < 0              ? size + *length.value
                        : *length.value > size - begin ? size
                                                       : begin + *length.value;
    if (end < begin) return not_known();
    return AddText(Part(value, static_cast<size_t>(begin), static_cast<size_t>(end)), quoted,
                   expansion.at);
  }
  if (*length.value < 0) return not_known();
  std::vector<std::pair<int64_t, ShellText>> elements;
  if (arguments) {
    if (*first.value < 1) return not_known();  // $0
    for (size_t i = 0; i < operand.values.size(); ++i) {
      elements.emplace_back(static_cast<int64_t>(i) + 1, operand.values[i]);
    }
  } else if (variable != nullptr) {
    elements.assign(variable->elements.begin(), variable->elements.end());
  }
  int64_t begin = *first.value;
  if (begin < 0 && !elements.empty()) begin += elements.back().first + 1;
  operand.values.clear();
  for (const auto& [index, value] : elements) {
    if (begin >= 0 && index >= begin &&
        static_cast<int64_t>(operand.values.size()) < *length.value) {
      operand.values.push_back(value);
    }
  }
  if (operand.values.empty()) operand.set = Set::kNo;
  AddValues(operand, quoted, expansion.at);
}

// ${NAME#pattern}, ${NAME%pattern}, ${NAME/pattern/text}, ${NAME^^}. Nothing if it is not known.
std::optional<ShellText> ShellExpander::Changed(const ShellExpansion& expansion,
                                                const std::optional<ShellPattern>& pattern,
                                                const ShellText& replacement,
                                                const ShellText& value) const {
  const std::string& operation = expansion.operation;
  const char kind = operation[0];
  const bool twice = operation.size() == 2 && operation[1] == kind;
  if (!IsResolved(value) || !IsAscii(PlainText(value)) || !pattern.has_value()) {
    return std::nullopt;
  }
  if (kind == '#' || kind == '%') return Trimmed(value, *pattern, kind == '#', twice);
  if (kind == '/') {
    const char anchor = operation.size() == 2 && !twice ? operation[1] : '\0';
    return Replaced(value, *pattern, replacement, anchor, twice);
  }
  if (!expansion.word.empty()) return std::nullopt;  // ${NAME^^pattern}
  ShellText text = value;
  for (size_t i = 0; i < text.size() && (twice || i == 0); ++i) {
    text[i].c = ToCase(text[i].c, kind == '^');
  }
  return text;
}

void ShellExpander::Assign(const ShellAssignment& assignment) {
  const std::string& name = assignment.name;
  if (!assignment.is_array) {
    const ShellText value = Text(assignment.value);
    return AssignElement(name, assignment.has_index ? &assignment.index : nullptr, value,
                         assignment.append, assignment.at);
  }
  std::vector<std::pair<const ShellElement*, ShellText>> values;
  bool keyed = false, wide = false, braces = false;
  for (const ShellElement& element : assignment.elements) {
    keyed = keyed || element.has_key;
    if (element.has_key) {
      braces = braces || Braces(element.value).size() > 1;
      values.emplace_back(&element, Text(element.value));
      continue;
    }
    for (ShellText& field : Fields(element.value)) {
      wide = wide || IsWide(field);
      values.emplace_back(&element, std::move(field));
    }
  }
  ShellVariable* variable = state_.Change(name);
  if (variable == nullptr) return;
  const bool map = variable->form == ShellVariable::Form::kMap;
  const bool lost = (keyed && wide) || braces || (map && !keyed && !values.empty()) ||
                    variable->integer || variable->letters != '\0' || assignment.has_index;
  if (!map) variable->form = ShellVariable::Form::kArray;
  if (!assignment.append) {
    variable->unknown = -1;
    variable->elements.clear();
    variable->keyed.clear();
  }
  variable->is_set = true;
  if (variable->unknown >= 0) return;
  if (lost) {
    return state_.Forget(name, "this form of an array is not understood", assignment.at);
  }
  int64_t next = variable->elements.empty() ? 0 : variable->elements.rbegin()->first + 1;
  for (auto& [element, value] : values) {
    if (!state_.session().Spend(value.size() + 1)) return;
    for (const ShellChar& c : value) {
      if (c.unresolved >= 0) state_.session().NameVariable(c.unresolved, name);
    }
    if (element->has_key) {
      AssignElement(name, &element->key, value, /*append=*/false, assignment.at);
      variable = state_.Change(name);
      if (variable == nullptr || variable->unknown >= 0) return;
      if (!map && !variable->elements.empty()) {
        const ShellNumber number = Number(element->key);
        if (!number.value.has_value()) return;
        next = *number.value + 1;
      }
      continue;
    }
    variable->elements[next++] = std::move(value);
  }
}

void ShellExpander::AssignElement(const std::string& name, const ShellWord* index,
                                  const ShellText& value, bool append, const ShellChar& at) {
  using Form = ShellVariable::Form;
  const ShellVariable* old = state_.Find(name);
  const bool map = old != nullptr && old->form == Form::kMap;
  const bool integer = old != nullptr && old->integer;
  const char letters = old == nullptr ? '\0' : old->letters;
  std::optional<std::string> key;
  int64_t number = 0;
  const auto lose = [&](const std::string& why) {
    state_.Change(name);  // finds a readonly variable
    state_.Forget(name, why, at);
  };
  if (map) {
    const ShellText text = index != nullptr ? Text(*index) : TextAt("0", at);
    if (!IsResolved(text)) return lose("one of its keys is not known");
    key = PlainText(text);
  } else if (index != nullptr) {
    const ShellNumber evaluated = Number(*index);
    old = state_.Find(name);
    if (!evaluated.value.has_value()) return lose("one of its indices is not known");
    number = *evaluated.value;
    const bool wide = old != nullptr && std::any_of(old->elements.begin(), old->elements.end(),
                                                    [](const auto& e) { return IsWide(e.second); });
    if (wide) return lose("the number of its elements is not known");
    if (number < 0) {
      if (old == nullptr || old->elements.empty()) return lose("a negative index");
      number += old->elements.rbegin()->first + 1;
      if (number < 0) return lose("a negative index");
    }
  } else if (old != nullptr && old->form == Form::kArray && !old->elements.empty() &&
             IsWide(old->elements.begin()->second)) {
    return lose("the number of its elements is not known");
  }
  const bool whole = index == nullptr && !map && (old == nullptr || old->form == Form::kText);
  if (old != nullptr && old->unknown >= 0 && !whole) {
    state_.Change(name);
    return;
  }
  ShellText text = value;
  if (append) {
    ShellText before;
    if (old == nullptr) {
      const int32_t id = state_.Unassigned(name, at);
      if (state_.session().Of(id).kind != ShellUnknown::Kind::kNotAssigned) {
        before = state_.session().Text(id, at);
      }
    } else if (old->unknown >= 0) {
      before = state_.session().Text(old->unknown, at);
    } else if (key.has_value()) {
      const auto found = old->keyed.find(*key);
      if (found != old->keyed.end()) before = found->second;
    } else {
      const auto found = old->elements.find(number);
      if (found != old->elements.end()) before = found->second;
    }
    if (integer) {
      before.push_back({'+', false, at.file, at.line, at.column, -1});
      if (before.size() == 1) before.clear();
    }
    text.insert(text.begin(), before.begin(), before.end());
  }
  if (integer) {
    const ShellNumber evaluated = NumberOf(text);
    if (!evaluated.value.has_value()) return lose("its expression is not known");
    text = TextAt(std::to_string(*evaluated.value), at);
  }
  if (letters != '\0') {
    if (!IsResolved(text) || !IsAscii(PlainText(text))) return lose("its value is not known");
    for (ShellChar& c : text) c.c = ToCase(c.c, letters == 'u');
  }
  if (whole) return state_.AssignText(name, text);
  for (ShellChar& c : text) {
    if (c.unresolved >= 0) state_.session().NameVariable(c.unresolved, name);
    c.wide = false;
  }
  ShellVariable* variable = state_.Change(name);
  if (variable == nullptr || !state_.session().Spend(text.size() + 1)) return;
  variable->is_set = true;
  if (map) {
    variable->keyed[*key] = std::move(text);
    return;
  }
  variable->form = Form::kArray;
  variable->elements[number] = std::move(text);
}

}  // namespace drydock
