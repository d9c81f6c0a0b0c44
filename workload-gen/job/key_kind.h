// The kinds of value that a key of model.yaml may have. A kind binds one member of TrainingJob: it
// reads the member from YAML, checks it, and prints it.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_KEY_KIND_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_KEY_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Where a section's values come from and where its errors go.
struct SectionInput {
  YamlReader* reader;
  Diagnostics* diagnostics;
};

class KeyKind {
 public:
  virtual ~KeyKind() = default;
  // Reads the value of `key` if the section has the key. Otherwise leaves the member as it is, and
  // reports the lack if the key is `required`. Reports a value that is not of this kind.
  virtual void Read(const std::string& key, bool required, const SectionInput& input,
                    TrainingJob* job) const = 0;
  // The value as YAML text; "" if the job has no value.
  virtual std::string Text(const TrainingJob& job) const = 0;
  // The valid values, in words.
  virtual std::string Values() const = 0;
};

using KeyKindPtr = std::shared_ptr<const KeyKind>;

// A member of TrainingJob or of a part of it.
template <typename T>
struct Member {
  T& (*of)(TrainingJob& job);
  const T& (*in)(const TrainingJob& job);
};

// `get`: a captureless [](auto& job) -> auto& that returns the member.
template <typename Get>
auto MemberOf(Get get) {
  using T = std::remove_reference_t<decltype(get(std::declval<TrainingJob&>()))>;
  return Member<T>{get, get};
}

namespace kind {

// A whole number from `low` to `high`. A value below `low` means "none".
KeyKindPtr Count(Member<int> member, int64_t low, int64_t high);
KeyKindPtr Count(Member<int64_t> member, int64_t low, int64_t high);
// A whole number from `low` to `high`, or `word`, which means 0.
KeyKindPtr CountOr(const char* word, Member<int> member, int64_t low, int64_t high);
// A number from `low` to `high`; of Fraction, from 0 to below 1.
KeyKindPtr Number(Member<double> member, double low, double high);
KeyKindPtr Fraction(Member<double> member);
KeyKindPtr Flag(Member<bool> member);
KeyKindPtr Size(Member<Bytes> member, Bytes high);
KeyKindPtr Duration(Member<Time> member, Time high);
// Text of one word, and any text.
KeyKindPtr Word(Member<std::string> member);
KeyKindPtr Text(Member<std::string> member);

// Returns what to write in place of a value that is not valid; "" if nothing is known.
using Advice = std::string (*)(const std::string& given);

// One of `names`, as its index.
KeyKindPtr Choice(const std::vector<std::string>& names,
                  std::function<int(const TrainingJob& job)> get,
                  std::function<void(int index, TrainingJob* job)> set, Advice advice = nullptr);
template <typename Enum>
requires std::is_enum_v<Enum> KeyKindPtr Choice(Member<Enum> member,
                                                const std::vector<std::string>& names,
                                                Advice advice = nullptr) {
  return Choice(
      names, [member](const TrainingJob& job) { return static_cast<int>(member.in(job)); },
      [member](int index, TrainingJob* job) { member.of(*job) = static_cast<Enum>(index); },
      advice);
}
// One of two names, of which the second means true.
KeyKindPtr Either(Member<bool> member, const std::string& no, const std::string& yes);
// Lists of names, each of which sets a flag.
KeyKindPtr Modules(Member<RecomputeModules> member);
KeyKindPtr Offloaded(Member<OffloadModules> member);
KeyKindPtr Linears(Member<LinearParts> member, bool with_mtp);
KeyKindPtr Adapters(Member<LoraTargets> member);
// A scope of CUDA graphs by its name, or the names of parts of a layer: one, or a list.
KeyKindPtr Graphs(Member<GraphRules> member);

}  // namespace kind
}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_KEY_KIND_H_
