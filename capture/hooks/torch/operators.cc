#include "capture/hooks/torch/operators.h"

#include <optional>
#include <set>
#include <unordered_map>

#include "capture/hackcuda/device/hooks.h"

namespace drydock::torch_hooks {
namespace {

// Make no values, or read them for the host: the operators that these call compute.
const std::set<std::string> kOpen = {"aten::empty",
                                     "aten::empty_strided",
                                     "aten::empty_like",
                                     "aten::new_empty",
                                     "aten::new_empty_strided",
                                     "aten::resize_",
                                     "aten::set_",
                                     "aten::record_stream",
                                     "aten::_local_scalar_dense",
                                     "aten::equal",
                                     "aten::is_nonzero",
                                     "aten::item",
                                     "aten::is_pinned",
                                     "aten::_pin_memory",
                                     "aten::_reshape_alias",
                                     "aten::view",
                                     "aten::as_strided",
                                     "aten::detach",
                                     "aten::lift_fresh",
                                     "aten::to",
                                     "aten::_to_copy",
                                     "aten::contiguous",
                                     "aten::clone"};
const std::set<std::string> kTakesShapes = {
    "aten::zeros_like", "aten::ones_like",  "aten::full_like",
    "aten::rand_like",  "aten::randn_like", "aten::randint_like",
    "aten::new_zeros",  "aten::new_ones",   "aten::new_full"};
const std::set<std::string> kOverwrites = {
    "aten::copy_",       "aten::fill_",      "aten::zero_",        "aten::normal_",
    "aten::uniform_",    "aten::random_",    "aten::exponential_", "aten::cauchy_",
    "aten::log_normal_", "aten::geometric_", "aten::bernoulli_"};
const std::set<std::string> kZeros = {"aten::zeros", "aten::zeros_like", "aten::new_zeros",
                                      "aten::zero_"};
const std::set<std::string> kPicks = {"aten::topk", "aten::sort", "aten::argsort", "aten::argmax",
                                      "aten::multinomial"};
const std::set<std::string> kCounts = {
    "aten::nonzero",    "aten::masked_select",     "aten::_unique2", "aten::unique_consecutive",
    "aten::unique_dim", "aten::repeat_interleave", "aten::bincount", "aten::_coalesce"};

bool ComputesItself(const c10::OperatorHandle& handle) {
  if (handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) return false;
  return handle.hasKernelForDispatchKey(c10::DispatchKey::CUDA) ||
         handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
         handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional);
}

bool IsView(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) return true;
  }
  return false;
}

}  // namespace

const Operator& OperatorOf(const c10::OperatorName& name) {
  struct Known {
    Operator own;
    std::optional<c10::OperatorHandle> handle;
  };
  thread_local std::unordered_map<c10::OperatorName, Known> known;
  const auto [it, is_new] = known.try_emplace(name);
  Known& found = it->second;
  if (!is_new) return found.own;
  found.own.name = name.name;
  found.handle = c10::Dispatcher::singleton().findSchema(name);
  found.own.number = hackcuda_name(name.name.data(), name.name.size());
  if (!found.handle) return found.own;
  found.own.handle = &*found.handle;
  found.own.is_foreign = name.name.rfind("aten::", 0) != 0;
  found.own.computes = !found.own.is_foreign && kOpen.count(name.name) == 0 &&
                       !IsView(found.handle->schema()) && ComputesItself(*found.handle);
  found.own.takes_shapes = kTakesShapes.count(name.name) != 0;
  found.own.overwrites = kOverwrites.count(name.name) != 0;
  found.own.makes_zeros = kZeros.count(name.name) != 0;
  found.own.picks = kPicks.count(name.name) != 0;
  found.own.counts = kCounts.count(name.name) != 0;
  found.own.count_offset = name.name == "aten::bincount" ? -1 : 0;
  return found.own;
}

}  // namespace drydock::torch_hooks
