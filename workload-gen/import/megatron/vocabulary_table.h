// How many tokens tokenizers have: configs/vocabularies.yaml. Megatron-LM learns it from a file
// that is not on this machine.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_VOCABULARY_TABLE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_VOCABULARY_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

struct Vocabulary {
  int64_t tokens = 0;
  std::string source;
};

class VocabularyTable {
 public:
  // Reads a file; the errors have places in it.
  static Result<VocabularyTable> Parse(const std::string& text, const std::string& file_name);

  // By --tokenizer-type.
  std::optional<Vocabulary> OfType(const std::string& type) const;
  // The --tokenizer-type of a Python file that is started without one; "" if there is none.
  std::string TypeOfScript(const std::string& script) const;
  // By the path or name of a model: the longest of the table's names that begins one of its
  // folders, up to a '-', '_' or '.', in any case of letters.
  std::optional<Vocabulary> OfModel(const std::string& path) const;
  // By --patch-tokenizer-type of Pai-Megatron-Patch, without the extra tokens. `extra`: -1 if a
  // script states none.
  std::optional<Vocabulary> OfPatchType(const std::string& type, int64_t extra) const;
  const Vocabulary& otherwise() const { return otherwise_; }

 private:
  struct PatchType {
    std::string name;
    int64_t extra = -1;  // -1: any
    Vocabulary vocabulary;
  };
  std::map<std::string, Vocabulary> types_, models_;
  std::map<std::string, std::string> scripts_;
  std::vector<PatchType> patch_types_;
  Vocabulary otherwise_;
};

std::string VocabulariesPath();
// The table at VocabulariesPath().
Result<VocabularyTable> LoadVocabularies();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_VOCABULARY_TABLE_H_
