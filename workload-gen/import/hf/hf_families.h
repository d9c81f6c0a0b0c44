// The model types of Hugging Face's transformers that are understood: which fields of a
// config.json each has, what they are called in model.yaml, and what transformers assumes.
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

// Its sliding windows, where no field says it.
struct HfWindows {
  int64_t width = 0;   // 0: none
  int full_every = 0;  // every so manieth layer has none; 0: no such layer
  int full_first = 0;  // so many layers at the start have none
};

struct HfFamily {
  const char* type;  // "llama"
  bool gated;        // its MLP
  HfWindows windows;
  std::vector<HfDefault> presets;
  std::set<std::string> fields;   // that it reads
  std::set<std::string> refused;  // that would change its shape, beside those that look so

  bool Reads(const std::string& field) const { return fields.contains(field); }
  bool Refuses(const std::string& field) const { return refused.contains(field); }
};
const std::vector<HfFamily>& HfFamilies();

// Fields whose value stands in model.yaml as it is.
struct HfField {
  const char* name;
  const char* key;
};
const std::vector<HfField>& HfSameFields();

struct HfActivation {
  const char* name;
  const char* plain;  // in an MLP of two linear layers; null: not known there
  const char* gated;
};
const std::vector<HfActivation>& HfActivations();

// Fields that change what the GPUs do a little, with what they change.
const std::map<std::string, std::string>& HfUnmodelled();

// Fields without bearing on what the GPUs do.
const std::set<std::string>& HfHarmless();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_FAMILIES_H_
