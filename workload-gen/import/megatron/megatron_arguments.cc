#include "workload-gen/import/megatron/megatron_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/spelling.h"
#include "workload-gen/job/inference_scope.h"

namespace drydock {
namespace {

using Effect = MegatronArgument::Effect;

const std::vector<std::string>& Names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, argument] : MegatronArguments()) list.push_back(name);
    return list;
  }();
  return names;
}

// Assigns the words up to the next argument to an argument.
class Sorter {
 public:
  Sorter(const std::vector<ScriptWord>& words, const ArgumentRules& rules, ImportNotes* notes,
         Diagnostics* diagnostics)
      : words_(words), rules_(rules), notes_(*notes), diagnostics_(*diagnostics) {}

  GivenArguments Sort() {
    while (at_ < words_.size()) {
      const ScriptWord& word = words_[at_++];
      if (IsFlag(word))
        Argument(word);
      else if (!word.unresolved.empty())
        Unresolved(word);
      else
        diagnostics_.Add(word.ErrorHere(
            fmt::format("unexpected '{}': no argument before it takes a value", word.text)));
    }
    return std::move(given_);
  }

 private:
  // A word that begins with two known dashes.
  static bool IsFlag(const ScriptWord& word) {
    return word.known >= 2 && word.text.starts_with("--");
  }

  // "$EXTRA_ARGUMENTS": which arguments it stands for is not known. It may be left out only if the
  // script does not assign it.
  void Unresolved(const ScriptWord& word) {
    const bool not_assigned = word.not_assigned && word.text.empty();
    if (rules_.ignore_unknown && not_assigned) {
      notes_.unknown.push_back(
          fmt::format("{} (no line before assigns it; give --variable)", word.unresolved));
    } else {
      const std::string empty =
          word.variable.empty()
              ? ""
              : fmt::format(", with --variable {}= if it is empty", word.variable);
      diagnostics_.Add(word.ErrorHere(
          fmt::format("arguments of the training command: {}{}", word.Unknown(),
                      not_assigned ? empty + ", or leave it out with --ignore-unknown" : "")));
    }
  }

  // True for a value that is known, or that is one word at most in any sensible script: the first
  // one after the flag, or one after a weight ("--data-path 0.3 $A 0.7 $B"). Any other $NAME may
  // stand for further arguments.
  static bool IsValue(const ScriptWord& word, const std::vector<ScriptWord>& before) {
    if (!word.wide || !word.text.empty() || before.empty()) return true;
    const std::string& last = before.back().text;
    return before.back().unresolved.empty() && !last.empty() &&
           last.find_first_not_of("0123456789.") == std::string::npos;
  }

  // Takes the words after a flag, or the text after its "=".
  GivenArgument Take(const ScriptWord& flag) {
    GivenArgument given{flag, {}};
    const size_t equals = flag.text.find('=');
    if (equals != std::string::npos) {
      given.flag.text = flag.text.substr(0, equals);
      ScriptWord value = flag;
      value.text = flag.text.substr(equals + 1);
      given.values.push_back(value);
      return given;
    }
    while (at_ < words_.size() && !IsFlag(words_[at_]) && IsValue(words_[at_], given.values)) {
      given.values.push_back(words_[at_++]);
    }
    return given;
  }

  void Argument(const ScriptWord& flag) {
    if (flag.known < std::min(flag.text.find('='), flag.text.size()) ||
        (!flag.unresolved.empty() && flag.text.find('=') == std::string::npos)) {
      return Unresolved(flag);  // a part of its name
    }
    GivenArgument given = Take(flag);
    const auto known = MegatronArguments().find(given.flag.text);
    if (known == MegatronArguments().end()) return Unknown(given);
    if (!CheckValues(known->second, &given)) return;
    Keep(known->second, std::move(given));
  }

  // Families of arguments that are not generated: "--rl-...".
  static const char* RefusedFamily(const std::string& name) {
    for (const char* prefix : {"--rl-", "--grpo-", "--langrl-"}) {
      if (name.starts_with(prefix)) return "reinforcement learning is not generated";
    }
    if (name.starts_with("--inference-")) return kInferenceText;
    return nullptr;
  }

  // A reason is reported once: its other arguments follow from the first.
  void Refuse(const GivenArgument& given, const std::string& why) {
    if (!refused_.insert(why).second) return;
    diagnostics_.Add(given.flag.ErrorHere(fmt::format("'{}': {}", given.flag.text, why)));
  }

  void Unknown(const GivenArgument& given) {
    if (const char* why = RefusedFamily(given.flag.text)) return Refuse(given, why);
    const std::string hint = DidYouMean(given.flag.text, Names());
    for (const ScriptWord& value : given.values) {
      // It may stand for more arguments, which are not to be left out.
      if (value.wide && value.text.empty() && !value.not_assigned) return Unresolved(value);
    }
    if (rules_.ignore_unknown) {
      notes_.unknown.push_back(given.flag.text +
                               (hint.empty() ? "" : fmt::format(" ({})", hint.substr(2))));
    } else {
      diagnostics_.Add(given.flag.ErrorHere(
          fmt::format("Megatron-LM has no argument '{}'{}; --ignore-unknown leaves it out",
                      given.flag.text, hint)));
    }
  }

  // Returns false if the argument needs a value and has none. Reports and drops extra values.
  bool CheckValues(const MegatronArgument& argument, GivenArgument* given) {
    const size_t most = argument.values == '0' ? 0 : argument.values == '1' ? 1 : SIZE_MAX;
    if (argument.values == '1' && given->values.empty()) {
      diagnostics_.Add(given->flag.ErrorHere(fmt::format("'{}' needs a value", given->flag.text)));
      return false;
    }
    while (given->values.size() > most) {
      const ScriptWord& extra = given->values.back();
      if (!extra.unresolved.empty())
        Unresolved(extra);
      else
        diagnostics_.Add(
            extra.ErrorHere(fmt::format("unexpected '{}': '{}' takes {}", extra.text,
                                        given->flag.text, most == 0 ? "no value" : "one value")));
      given->values.pop_back();
    }
    return true;
  }

  void Keep(const MegatronArgument& argument, GivenArgument given) {
    switch (argument.effect) {
      case Effect::kIgnored:
        notes_.ignored.push_back(argument.name);
        return;
      case Effect::kUnmodeled:
        if (IsDefault(given)) return notes_.ignored.push_back(argument.name);
        Unmodeled(argument, given);
        return;
      case Effect::kRefused:
        if (IsDefault(given)) return notes_.ignored.push_back(argument.name);
        return Refuse(given, argument.text);
      case Effect::kHint:
        given_[argument.name] = std::move(given);
        return;
      case Effect::kUsed:
        break;
    }
    for (const ScriptWord& value : given.values) {
      if (value.unresolved.empty()) continue;
      diagnostics_.Add(
          value.ErrorHere(fmt::format("the value of '{}'{}: {}", argument.name,
                                      value.location.line == given.flag.location.line
                                          ? ""
                                          : fmt::format(" (line {})", given.flag.location.line),
                                      value.Unknown())));
      return;
    }
    given_[argument.name] = std::move(given);
  }

  void Unmodeled(const MegatronArgument& argument, const GivenArgument& given) {
    const std::string what = fmt::format("{} ({})", argument.name, argument.text);
    if (rules_.strict) {
      diagnostics_.Add(given.flag.ErrorHere(fmt::format("not modeled: {}", what)));
    } else {
      notes_.unmodeled.push_back(what);
    }
  }

  // True if the value is the default, which changes nothing.
  static bool IsDefault(const GivenArgument& given) {
    static const std::map<std::string, std::string> kDefaults = {
        {"--zero-stage", "0"},
        {"--megatron-fsdp-version", "1"},
        {"--megatron-fsdp-main-params-dtype", "fp32"},
        {"--muon-fp32-matmul-prec", "medium"},
        {"--muon-coefficient-type", "quintic"},
        {"--muon-scalar-optimizer", "adam"},
        {"--exp-avg-dtype", "fp32"},
        {"--exp-avg-sq-dtype", "fp32"},
        {"--main-params-dtype", "fp32"},
        {"--inference-batch-times-seqlen-threshold", "-1"},
        {"--dsa-indexer-topk-freq", "1"},
        {"--dsa-indexer-skip-topk-offset", "0"},
        {"--delta-offload-bytes-across-pp-ranks", "0"},
        {"--activation-offload-fraction", "1.0"},
        {"--linear-conv-kernel-dim", "4"},
    };
    if (given.values.size() != 1 || !given.values[0].unresolved.empty()) return false;
    const auto found = kDefaults.find(given.flag.text);
    return found != kDefaults.end() && found->second == given.values[0].text;
  }

  const std::vector<ScriptWord>& words_;
  const ArgumentRules rules_;
  ImportNotes& notes_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
  std::set<std::string> refused_;  // reasons
  GivenArguments given_;
};

}  // namespace

GivenArguments SortMegatronArguments(const std::vector<ScriptWord>& words,
                                     const ArgumentRules& rules, ImportNotes* notes,
                                     Diagnostics* diagnostics) {
  return Sorter(words, rules, notes, diagnostics).Sort();
}

}  // namespace drydock
