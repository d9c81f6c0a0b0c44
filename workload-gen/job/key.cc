#include "workload-gen/job/key.h"

#include <algorithm>
#include <utility>

namespace drydock {
namespace {

struct Condition {
  std::string key;                  // "training.recompute"
  std::vector<std::string> values;  // empty: any
};

Condition ParseCondition(const std::string& text, const std::string& section) {
  const size_t colon = text.find(": ");
  Condition condition;
  condition.key = text.substr(0, colon);
  if (condition.key.find('.') == std::string::npos) condition.key = section + "." + condition.key;
  if (colon == std::string::npos) return condition;
  std::string rest = text.substr(colon + 2);
  const std::string separator = " or ";
  for (size_t at = rest.find(separator); at != std::string::npos; at = rest.find(separator)) {
    condition.values.push_back(rest.substr(0, at));
    rest = rest.substr(at + separator.size());
  }
  condition.values.push_back(rest);
  return condition;
}

}  // namespace

Key& Key::Required() {
  required = true;
  return *this;
}

Key& Key::Default(const char* words, void (*set)(TrainingJob* job)) {
  default_words = words;
  set_default = set;
  return *this;
}

Key& Key::Needs(const char* condition) {
  needs = condition;
  return *this;
}

Key& Key::Excludes(const char* key) {
  excludes = key;
  return *this;
}

Key& Key::InPlaceOf(const char* key, FrameworkKind framework) {
  elsewhere = key;
  elsewhere_with = framework;
  return *this;
}

Key& Key::Megatron(std::vector<MegatronSource> sources) {
  megatron = std::move(sources);
  return *this;
}

std::vector<std::string> SectionNames() {
  std::vector<std::string> names;
  for (const Section& section : Sections()) names.push_back(section.name);
  return names;
}

const Key* FindKey(const std::string& name) {
  for (const Section& section : Sections()) {
    if (!name.starts_with(section.name + ".")) continue;
    for (const Key& key : section.keys) {
      if (name == section.name + "." + key.name) return &key;
    }
  }
  return nullptr;
}

bool MeetsRequirements(const Key& key, const Section& section, const TrainingJob& job) {
  if (key.needs.empty()) return true;
  const Condition condition = ParseCondition(key.needs, section.name);
  const std::string value = FindKey(condition.key)->kind->Text(job);
  const std::vector<std::string>& values = condition.values;
  if (values.empty()) return job.places.contains(condition.key) || !value.empty();
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool IsElsewhere(const Key& key, const TrainingJob& job) {
  return key.elsewhere_with == job.training.framework;
}

bool IsExcluded(const Key& key, const Section& section, const TrainingJob& job) {
  if (key.excludes.empty()) return false;
  return !FindKey(section.name + "." + key.excludes)->kind->Text(job).empty();
}

}  // namespace drydock
