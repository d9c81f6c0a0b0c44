// The model types of Hugging Face's transformers that are understood: which fields of a
// config.json each has, what they are called in model.yaml, and what transformers assumes.
#ifndef DRYDOCK_WORKLOAD_GEN_HF_FAMILIES_H_
#define DRYDOCK_WORKLOAD_GEN_HF_FAMILIES_H_

#include <set>
#include <string>
#include <vector>

namespace drydock {

struct HfDefault {
  const char* key;  // of the section `model`
  const char* value;
};

struct HfFamily {
  const char* type;          // "llama"
  bool gated;                // its MLP
  int full_attention_every;  // of its sliding windows, where no field says it; 0: no such layer
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

// Fields without bearing on what the GPUs do.
const std::set<std::string>& HfHarmless();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_HF_FAMILIES_H_
