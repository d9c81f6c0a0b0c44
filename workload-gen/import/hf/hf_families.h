// The supported model types of Hugging Face's transformers: the fields of a config.json that each
// type has, their keys in model.yaml, and the defaults of transformers.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_FAMILIES_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_FAMILIES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace drydock {

struct HfDefault {
  const char* key;  // of the section `model`
  const char* value;
};

// The sliding windows of a family whose config.json has no field for them.
struct HfWindows {
  int64_t width = 0;   // 0: none
  int full_every = 0;  // every n-th layer has no window; 0: all layers have one
  int full_first = 0;  // the first n layers have no window
};

struct HfFamily {
  const char* type;  // "llama"
  bool gated;        // the MLP is gated
  HfWindows windows;
  std::vector<HfDefault> presets;
  std::set<std::string> fields;   // that are read
  std::set<std::string> refused;  // that would change the shape; LooksLikeASize finds others

  bool own_activation = false;  // that of the presets, whatever the file names
  bool Reads(const std::string& field) const { return fields.contains(field); }
  bool Refuses(const std::string& field) const { return refused.contains(field); }
};
const std::vector<HfFamily>& HfFamilies();

// Fields whose value is copied to a key of model.yaml.
struct HfField {
  const char* name;
  const char* key;
};
const std::vector<HfField>& HfCopiedFields();

// Other values of model_type whose files have the fields of a family.
struct HfAlias {
  const char* type;    // "kimi_k2"
  const char* family;  // "deepseek_v3"
};
const std::vector<HfAlias>& HfAliases();

// Values of model_type that are known, and the parts of such a model that Drydock does not model.
// Its files may have the value with _text, _vl or _unified behind it.
struct HfMissing {
  const char* type;
  const char* what;
};
const std::vector<HfMissing>& HfMissingParts();

struct HfActivation {
  const char* name;
  const char* plain;  // in an MLP of two linear layers; null: not supported there
  const char* gated;
};
const std::vector<HfActivation>& HfActivations();

// Fields with a small effect on what the GPUs do, and that effect.
const std::map<std::string, std::string>& HfUnmodeled();

// Fields without effect on what the GPUs do.
const std::set<std::string>& HfHarmless();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_FAMILIES_H_
