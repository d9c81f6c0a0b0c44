// What other programs call a value of model.yaml: a message about a value that does not exist says
// what to write for it.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_NAMES_OTHER_NAMES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_NAMES_OTHER_NAMES_H_

#include <string>

namespace drydock {

// Of training.precision: "precision: fp8 with fp8_recipe: mxfp8" for "mxfp8". "" if no program is
// known to say `given`.
std::string PrecisionFor(const std::string& given);
// Of training.fp8_recipe and of training.moe_dispatcher.
std::string Fp8RecipeFor(const std::string& given);
std::string MoeDispatcherFor(const std::string& given);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_NAMES_OTHER_NAMES_H_
