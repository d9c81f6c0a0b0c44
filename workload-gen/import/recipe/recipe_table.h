// What the keys of a recipe mean: the arguments of Megatron-LM that say the same.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_TABLE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

struct RecipeKey {
  enum class Use : uint8_t {
    kValue,      // the value of `argument`
    kFlag,       // `argument` if it is true
    kFlagOff,    // `argument` if it is false
    kComputed,   // recipe.cc reads it
    kIgnored,    // no effect on what the GPUs do
    kUnmodeled,  // a small effect, unless it is false or `argument`: `text`
    kRefused     // an error unless it is null, false, 0, or `argument`: `text`
  };
  std::string path;  // "model.num_layers"; "trainer.*": any key of the section
  Use use = Use::kIgnored;
  std::string argument;
  std::string text;
};

// NeMo 1 and the NeMo launcher: sections model, trainer, exp_manager.
const std::vector<RecipeKey>& NemoKeys();
// A ConfigContainer of Megatron-Bridge: sections model, train, optimizer, ddp and others. Keys of
// these four that are missing here mean the argument of that name.
const std::vector<RecipeKey>& BridgeKeys();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_TABLE_H_
