#include "workload-gen/job/key_text.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/spelling.h"
#include "workload-gen/job/key.h"

namespace drydock {
namespace {

constexpr const char* kIntroduction =
    "# Keys of model.yaml\n"
    "\n"
    "`workload-gen keys --markdown` prints this page from the table that reads the file\n"
    "(`workload-gen/job/key_table.cc`). [model-file.md](model-file.md) says how to use the file.\n"
    "\n"
    "The column Megatron-LM has the arguments that `--megatron-args` reads for a key. A flag that\n"
    "gives another value than `true` is followed by that value.\n";

std::string ValuesOf(const Key& key) { return key.kind == nullptr ? "a path" : key.kind->Values(); }

std::string DefaultOf(const Key& key) {
  if (key.required) return "required";
  if (!key.default_words.empty()) return key.default_words;
  const std::string text = key.kind->Text(TrainingJob());
  return text.empty() ? "none" : text;
}

std::string MeaningOf(const Key& key) {
  if (!key.needs.empty()) return fmt::format("with `{}`: {}", key.needs, key.meaning);
  if (!key.excludes.empty()) return fmt::format("without `{}`: {}", key.excludes, key.meaning);
  return key.meaning;
}

std::string PresenceOf(const Section& section) {
  if (section.framework.has_value()) {
    return fmt::format("{} with `framework: {}`, and only there.",
                       section.required ? "Required" : "Optional",
                       FrameworkName(*section.framework));
  }
  return section.required ? "Required." : "Optional.";
}

// "`--tp-comm-overlap`, `--disable-bias-linear` (false)"
std::string ArgumentsOf(const Key& key, const char* quote) {
  std::vector<std::string> arguments;
  for (const MegatronSource& source : key.megatron) {
    const std::string value = source.value;
    arguments.push_back(fmt::format("{0}{1}{0}", quote, source.argument) +
                        (value.empty() || value == "true" ? "" : fmt::format(" ({})", value)));
  }
  return Join(arguments);
}

// A cell of a table must not hold the sign that ends it.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string SectionAsMarkdown(const Section& section) {
  std::string text = fmt::format(
      "\n## {}\n\n{}\n{}\n\n| key | values | default | Megatron-LM | meaning "
      "|\n|---|---|---|---|---|"
      "\n",
      section.name, section.meaning, PresenceOf(section));
  for (const Key& key : section.keys) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, ValuesOf(key), DefaultOf(key),
                        ArgumentsOf(key, "`"), Cell(MeaningOf(key)));
  }
  return text;
}

std::string KeyAsText(const Section& section, const Key& key) {
  std::string text = fmt::format("{}.{}\n  values: {}\n  default: {}\n  {}\n", section.name,
                                 key.name, ValuesOf(key), DefaultOf(key), MeaningOf(key));
  if (!key.megatron.empty()) text += fmt::format("  Megatron-LM: {}\n", ArgumentsOf(key, ""));
  return text;
}

std::string SectionAsText(const Section& section) {
  std::string text = fmt::format("{}: {} {}\n", section.name, section.meaning, PresenceOf(section));
  for (const Key& key : section.keys) text += KeyAsText(section, key);
  return text;
}

Error NoSuchName(const std::string& name) {
  std::vector<std::string> names;
  for (const Section& section : Sections()) {
    names.push_back(section.name);
    if (!name.starts_with(section.name + ".")) continue;
    for (const Key& key : section.keys) names.push_back(section.name + "." + key.name);
  }
  return Error(
      fmt::format("model.yaml has no section or key '{}'{}", name, DidYouMean(name, names)));
}

}  // namespace

std::string KeysAsMarkdown() {
  std::string text = kIntroduction;
  for (const Section& section : Sections()) text += SectionAsMarkdown(section);
  return text;
}

Result<std::string> KeysAsText(const std::string& name) {
  std::string text;
  for (const Section& section : Sections()) {
    if (name.empty() || name == section.name) {
      text += SectionAsText(section);
      continue;
    }
    for (const Key& key : section.keys) {
      if (name == section.name + "." + key.name) text += KeyAsText(section, key);
    }
  }
  if (text.empty()) return NoSuchName(name);
  return text;
}

}  // namespace drydock
