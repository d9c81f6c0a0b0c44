// The keys of model.yaml. Sections() is the one table of them: the reader, --print-model, the
// reference page (workload-gen keys) and the import of Megatron-LM command lines use its rows.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_KEY_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_KEY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload-gen/job/key_kind.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// An argument of Megatron-LM that determines or affects a key.
struct MegatronSource {
  enum class Use : uint8_t {
    kCopied,   // the argument takes one value, which is the value of the key
    kFlag,     // the argument takes no value; it gives the key `value`
    kComputed  // workload-gen/import/megatron computes the value of the key
  };
  const char* argument;  // "--num-layers"
  Use use = Use::kComputed;
  const char* value = "";
};
inline MegatronSource Copied(const char* argument) {
  return {argument, MegatronSource::Use::kCopied, ""};
}
inline MegatronSource Sets(const char* argument, const char* value) {
  return {argument, MegatronSource::Use::kFlag, value};
}
inline MegatronSource Computed(const char* argument) {
  return {argument, MegatronSource::Use::kComputed, ""};
}

struct Key {
  Key(const char* key_name, KeyKindPtr key_kind, const char* key_meaning)
      : name(key_name), kind(std::move(key_kind)), meaning(key_meaning) {}

  // A section that may have the key must have it.
  Key& Required();
  // The default of the key, in words; `set` sets it in the job. Without this, the default is the
  // value in TrainingJob().
  Key& Default(const char* words, void (*set)(TrainingJob* job) = nullptr);
  // The condition under which the section may have the key: "window" (that key is given),
  // "recompute: full", "stage: 1 or 2" (that key has one of these values), "model.experts".
  Key& Needs(const char* condition);
  // The key of the same section without which the section may have this one.
  Key& Excludes(const char* key);
  // The key "fsdp.fp8_recipe" that jobs of `framework` have in place of this one.
  Key& InPlaceOf(const char* key, FrameworkKind framework);
  Key& Megatron(std::vector<MegatronSource> sources);

  std::string name;
  KeyKindPtr kind;  // null: the key names a file, which is expanded before the section is read
  std::string meaning;
  bool required = false;
  std::string default_words;
  void (*set_default)(TrainingJob* job) = nullptr;
  std::string needs;
  std::string excludes;
  std::string elsewhere;  // InPlaceOf
  std::optional<FrameworkKind> elsewhere_with;
  std::vector<MegatronSource> megatron;
};

struct Section {
  std::string name;
  bool required;
  std::optional<FrameworkKind> framework;  // the only framework that has the section
  std::string meaning;
  std::vector<Key> keys;  // a key follows the keys that its default and condition need
  // Completes and checks the section that was read. Null: there is nothing to check.
  void (*check)(YamlReader* reader, TrainingJob* job);
};

const std::vector<Section>& Sections();

std::vector<std::string> SectionNames();

// The key "model.layers"; null if there is no such key.
const Key* FindKey(const std::string& name);

// True if the job fulfills the condition of `key` of `section` (Key::Needs).
bool MeetsRequirements(const Key& key, const Section& section, const TrainingJob& job);
// True if the job's framework has another key in place of this one.
bool IsElsewhere(const Key& key, const TrainingJob& job);
// True if the job has a value for the key that `key` of `section` excludes.
bool IsExcluded(const Key& key, const Section& section, const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_KEY_H_
