#include "workload-gen/job/key_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/spelling.h"

namespace drydock {
namespace {

template <typename T>
void ReadValue(const std::string& key, bool required, const SectionInput& input, T* out) {
  if (required)
    input.reader->Read(key, out);
  else
    input.reader->ReadOptional(key, out);
}

// Single quotes keep every character but the quote itself.
std::string Quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return fmt::format("'{}'", quoted);
}

template <typename T>
class CountKind : public KeyKind {
 public:
  CountKind(Member<T> member, int64_t low, int64_t high)
      : member_(member), low_(low), high_(high) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    T& value = member_.of(*job);
    ReadValue(key, required, input, &value);
    if (input.reader->Has(key)) input.reader->CheckRange(key, value, low_, high_);
  }
  std::string Text(const TrainingJob& job) const override {
    const T value = member_.in(job);
    return value < low_ ? "" : std::to_string(value);
  }
  std::string Values() const override { return fmt::format("{} to {}", low_, high_); }

 private:
  const Member<T> member_;
  const int64_t low_;
  const int64_t high_;
};

class CountOrKind final : public CountKind<int> {
 public:
  CountOrKind(const char* word, Member<int> member, int64_t low, int64_t high)
      : CountKind(member, low, high), word_(word) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    const YamlNode* node = input.reader->Take(key, required);
    if (node == nullptr || (node->kind == YamlNode::Kind::kScalar && node->scalar == word_)) return;
    CountKind::Read(key, required, input, job);
  }
  std::string Text(const TrainingJob& job) const override {
    const std::string count = CountKind::Text(job);
    return count.empty() ? word_ : count;
  }
  std::string Values() const override { return fmt::format("{}, {}", word_, CountKind::Values()); }

 private:
  const std::string word_;
};

class NumberKind final : public KeyKind {
 public:
  NumberKind(Member<double> member, double low, double high, bool below)
      : member_(member), low_(low), high_(high), below_(below) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    double& value = member_.of(*job);
    ReadValue(key, required, input, &value);
    if (value >= low_ && (below_ ? value < high_ : value <= high_)) return;
    const char* range = below_ ? "'{}' is {}; it must be at least {} and below {}"
                               : "'{}' is {}; it must be between {} and {}";
    input.reader->Fail(key, fmt::format(fmt::runtime(range), key, value, low_, high_));
  }
  std::string Text(const TrainingJob& job) const override {
    return fmt::format("{}", member_.in(job));
  }
  std::string Values() const override {
    return fmt::format("{} to {}{}", low_, below_ ? "below " : "", high_);
  }

 private:
  const Member<double> member_;
  const double low_;
  const double high_;
  const bool below_;
};

class FlagKind final : public KeyKind {
 public:
  explicit FlagKind(Member<bool> member) : member_(member) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    ReadValue(key, required, input, &member_.of(*job));
  }
  std::string Text(const TrainingJob& job) const override {
    return member_.in(job) ? "true" : "false";
  }
  std::string Values() const override { return "true, false"; }

 private:
  const Member<bool> member_;
};

class SizeKind final : public KeyKind {
 public:
  SizeKind(Member<Bytes> member, Bytes high) : member_(member), high_(high) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    Bytes& value = member_.of(*job);
    ReadValue(key, required, input, &value);
    if (input.reader->Has(key)) {
      input.reader->CheckRange(key, value.count(), 0, high_.count());
    }
  }
  std::string Text(const TrainingJob& job) const override {
    const Bytes value = member_.in(job);  // below 0: none
    return value < Bytes() ? "" : fmt::format("{} B", value.count());
  }
  std::string Values() const override { return fmt::format("0 B to {} B", high_.count()); }

 private:
  const Member<Bytes> member_;
  const Bytes high_;
};

class DurationKind final : public KeyKind {
 public:
  DurationKind(Member<Time> member, Time high) : member_(member), high_(high) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    Time& value = member_.of(*job);
    ReadValue(key, required, input, &value);
    if (value >= Time() && value <= high_) return;
    input.reader->Fail(key, fmt::format("'{}' must be a time from 0 s to {}, not {}", key,
                                        ToString(high_), ToString(value)));
  }
  std::string Text(const TrainingJob& job) const override { return ToString(member_.in(job)); }
  std::string Values() const override { return fmt::format("0 s to {}", ToString(high_)); }

 private:
  const Member<Time> member_;
  const Time high_;
};

class TextKind final : public KeyKind {
 public:
  TextKind(Member<std::string> member, bool word) : member_(member), word_(word) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    ReadValue(key, required, input, &member_.of(*job));
  }
  std::string Text(const TrainingJob& job) const override {
    const std::string& text = member_.in(job);
    return word_ || text.empty() ? text : Quoted(text);
  }
  std::string Values() const override { return word_ ? "a name" : "text"; }

 private:
  const Member<std::string> member_;
  const bool word_;
};

class ChoiceKind final : public KeyKind {
 public:
  ChoiceKind(std::vector<std::string> names, std::function<int(const TrainingJob&)> get,
             std::function<void(int, TrainingJob*)> set, kind::Advice advice)
      : names_(std::move(names)), get_(std::move(get)), set_(std::move(set)), advice_(advice) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    if (Advises(key, input)) return;
    int index = get_(*job);
    input.reader->ReadChoice(key, names_, &index, required);
    set_(index, job);
  }
  std::string Text(const TrainingJob& job) const override {
    return names_[static_cast<size_t>(get_(job))];
  }
  std::string Values() const override { return Join(names_); }

 private:
  // Returns whether it reported a value for which it knows what to write.
  bool Advises(const std::string& key, const SectionInput& input) const {
    const YamlNode* node = advice_ == nullptr ? nullptr : input.reader->Take(key, false);
    if (node == nullptr || node->kind != YamlNode::Kind::kScalar) return false;
    if (std::find(names_.begin(), names_.end(), node->scalar) != names_.end()) return false;
    const std::string write = advice_(node->scalar);
    if (write.empty()) return false;
    input.reader->Fail(key,
                       fmt::format("'{}' is not a valid {}; write {}", node->scalar, key, write));
    return true;
  }

  const std::vector<std::string> names_;
  const std::function<int(const TrainingJob&)> get_;
  const std::function<void(int, TrainingJob*)> set_;
  const kind::Advice advice_;
};

// A list of names, each of which sets a flag of `Flags`.
template <typename Flags>
class FlagsKind final : public KeyKind {
 public:
  using Names = std::vector<std::pair<const char*, bool Flags::*>>;

  // `what`: "a module to recompute".
  FlagsKind(Member<Flags> member, const char* what, Names flags)
      : member_(member), what_(what), flags_(std::move(flags)) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    const YamlNode* list = input.reader->Take(key, required);
    if (list == nullptr) return;
    if (list->kind != YamlNode::Kind::kList || list->items.empty()) {
      return input.reader->Fail(key, fmt::format("'{}' must be a list of names", key));
    }
    Flags& flags = member_.of(*job);
    flags = {};
    for (const YamlNode& item : list->items) ReadName(item, input.diagnostics, &flags);
  }
  std::string Text(const TrainingJob& job) const override {
    std::vector<std::string> names;
    for (const auto& [name, flag] : flags_) {
      if (member_.in(job).*flag) names.emplace_back(name);
    }
    return names.empty() ? "" : fmt::format("[{}]", Join(names));
  }
  std::string Values() const override { return "a list of " + Join(AllNames()); }

 private:
  std::vector<std::string> AllNames() const {
    std::vector<std::string> names;
    for (const auto& [name, flag] : flags_) names.emplace_back(name);
    return names;
  }
  void ReadName(const YamlNode& item, Diagnostics* diagnostics, Flags* flags) const {
    const Result<std::string> given = AsString(item);
    if (!given.ok()) return diagnostics->Add(given.error());
    for (const auto& [name, flag] : flags_) {
      if (*given != name) continue;
      flags->*flag = true;
      return;
    }
    const std::vector<std::string> names = AllNames();
    diagnostics->Add(item.ErrorHere(fmt::format("'{}' is not {}{}; valid values are {}", *given,
                                                what_, DidYouMean(*given, names), Join(names))));
  }

  const Member<Flags> member_;
  const char* const what_;
  const Names flags_;
};

struct GraphScopeName {
  const char* name;
  GraphScope scope;
};

constexpr GraphScopeName kGraphScopes[] = {
    {"none", GraphScope::kNone},
    {"layers", GraphScope::kLayers},
    {"full", GraphScope::kFull},
    {"full_iteration", GraphScope::kIteration},
};

class GraphsKind final : public KeyKind {
 public:
  explicit GraphsKind(Member<GraphRules> member) : member_(member) {}

  void Read(const std::string& key, bool required, const SectionInput& input,
            TrainingJob* job) const override {
    const YamlNode* node = input.reader->Take(key, required);
    if (node == nullptr) return;
    GraphRules& graphs = member_.of(*job);
    graphs = {};
    if (node->kind == YamlNode::Kind::kList && !node->items.empty()) {
      for (const YamlNode& item : node->items) ReadPart(item, PartNames(), input, &graphs);
      return;
    }
    for (const GraphScopeName& choice : kGraphScopes) {
      if (node->kind == YamlNode::Kind::kScalar && node->scalar == choice.name) {
        graphs.scope = choice.scope;
        return;
      }
    }
    ReadPart(*node, AllNames(), input, &graphs);
  }
  std::string Text(const TrainingJob& job) const override { return member_.in(job).Text(); }
  std::string Values() const override {
    return fmt::format("{}, a list of {}", Join(ScopeNames()), Join(PartNames()));
  }

 private:
  static std::vector<std::string> ScopeNames() {
    std::vector<std::string> names;
    for (const GraphScopeName& choice : kGraphScopes) names.emplace_back(choice.name);
    return names;
  }
  static std::vector<std::string> PartNames() {
    std::vector<std::string> names;
    for (const GraphModuleName& module : GraphModuleNames()) names.emplace_back(module.name);
    return names;
  }
  static std::vector<std::string> AllNames() {
    std::vector<std::string> names = ScopeNames();
    for (const std::string& name : PartNames()) names.push_back(name);
    return names;
  }
  // `valid`: the names that a message shows.
  static void ReadPart(const YamlNode& item, const std::vector<std::string>& valid,
                       const SectionInput& input, GraphRules* graphs) {
    const Result<std::string> name = AsString(item);
    if (!name.ok()) return input.diagnostics->Add(name.error());
    for (const GraphModuleName& module : GraphModuleNames()) {
      if (*name != module.name) continue;
      graphs->scope = GraphScope::kParts;
      graphs->modules.*module.member = true;
      return;
    }
    input.diagnostics->Add(
        item.ErrorHere(fmt::format("'{}' is not a scope of CUDA graphs{}; valid values are {}",
                                   *name, DidYouMean(*name, valid), Join(valid))));
  }

  const Member<GraphRules> member_;
};

}  // namespace

namespace kind {

KeyKindPtr Count(Member<int> member, int64_t low, int64_t high) {
  return std::make_shared<CountKind<int>>(member, low, high);
}
KeyKindPtr Count(Member<int64_t> member, int64_t low, int64_t high) {
  return std::make_shared<CountKind<int64_t>>(member, low, high);
}
KeyKindPtr CountOr(const char* word, Member<int> member, int64_t low, int64_t high) {
  return std::make_shared<CountOrKind>(word, member, low, high);
}
KeyKindPtr Number(Member<double> member, double low, double high) {
  return std::make_shared<NumberKind>(member, low, high, /*below=*/false);
}
KeyKindPtr Fraction(Member<double> member) {
  return std::make_shared<NumberKind>(member, 0, 1, /*below=*/true);
}
KeyKindPtr Flag(Member<bool> member) { return std::make_shared<FlagKind>(member); }
KeyKindPtr Size(Member<Bytes> member, Bytes high) {
  return std::make_shared<SizeKind>(member, high);
}
KeyKindPtr Duration(Member<Time> member, Time high) {
  return std::make_shared<DurationKind>(member, high);
}
KeyKindPtr Word(Member<std::string> member) {
  return std::make_shared<TextKind>(member, /*word=*/true);
}
KeyKindPtr Text(Member<std::string> member) {
  return std::make_shared<TextKind>(member, /*word=*/false);
}
KeyKindPtr Choice(const std::vector<std::string>& names,
                  std::function<int(const TrainingJob& job)> get,
                  std::function<void(int index, TrainingJob* job)> set, Advice advice) {
  return std::make_shared<ChoiceKind>(names, std::move(get), std::move(set), advice);
}
KeyKindPtr Either(Member<bool> member, const std::string& no, const std::string& yes) {
  return Choice(
      {no, yes}, [member](const TrainingJob& job) { return member.in(job) ? 1 : 0; },
      [member](int index, TrainingJob* job) { member.of(*job) = index == 1; });
}
KeyKindPtr Modules(Member<RecomputeModules> member) {
  using M = RecomputeModules;
  return std::make_shared<FlagsKind<M>>(
      member, "a module to recompute",
      FlagsKind<M>::Names{{"core_attn", &M::core_attention},
                          {"layernorm", &M::norms},
                          {"moe_act", &M::moe_activation},
                          {"mlp", &M::mlp},
                          {"moe", &M::moe},
                          {"shared_experts", &M::shared_experts},
                          {"mla_up_proj", &M::mla_up_projection}});
}
KeyKindPtr Offloaded(Member<OffloadModules> member) {
  FlagsKind<OffloadModules>::Names names;
  for (const OffloadModuleName& name : kOffloadModuleNames) {
    names.emplace_back(name.name, name.member);
  }
  return std::make_shared<FlagsKind<OffloadModules>>(member, "a module to offload", names);
}
KeyKindPtr Linears(Member<LinearParts> member, bool with_mtp) {
  using P = LinearParts;
  FlagsKind<P>::Names names = {
      {"qkv", &P::qkv}, {"proj", &P::proj}, {"latent", &P::latent}, {"mamba_out", &P::mamba_out}};
  if (with_mtp) names.push_back({"mtp", &P::mtp});
  return std::make_shared<FlagsKind<P>>(member, "a linear layer", names);
}
KeyKindPtr Adapters(Member<LoraTargets> member) {
  using T = LoraTargets;
  return std::make_shared<FlagsKind<T>>(member, "a layer with an adapter",
                                        FlagsKind<T>::Names{{"linear_qkv", &T::qkv},
                                                            {"linear_proj", &T::proj},
                                                            {"linear_fc1", &T::fc1},
                                                            {"linear_fc2", &T::fc2}});
}
KeyKindPtr Graphs(Member<GraphRules> member) { return std::make_shared<GraphsKind>(member); }

}  // namespace kind
}  // namespace drydock
