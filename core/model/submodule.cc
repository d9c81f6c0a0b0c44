#include "core/model/submodule.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

template <size_t... kIndex>
std::vector<std::string> NamesOf(std::index_sequence<kIndex...>) {
  return {std::string(std::variant_alternative_t<kIndex, SubmoduleWork>::kName)...};
}

template <size_t... kIndex>
std::array<SubmoduleWork, kSubmoduleKindCount> EachKind(std::index_sequence<kIndex...>) {
  return {SubmoduleWork(std::in_place_index<kIndex>)...};
}

using AllKinds = std::make_index_sequence<kSubmoduleKindCount>;

}  // namespace

const std::vector<std::string>& PassNames() {
  static const std::vector<std::string> names = {"fwd", "dgrad", "wgrad", "bwd", "-"};
  return names;
}

const std::vector<std::string>& SubmoduleKindNames() {
  static const std::vector<std::string> names = NamesOf(AllKinds());
  return names;
}

SubmoduleWork MakeSubmoduleWork(size_t index) {
  CHECK(index < kSubmoduleKindCount);
  return EachKind(AllKinds())[index];
}

std::string FactsOf(const Submodule& s) {
  std::string text = fmt::format("{} {} {} {} {} {}", s.name, s.kind_name(),
                                 PassNames()[static_cast<size_t>(s.pass)], ToString(s.type),
                                 s.flops, s.bytes.count());
  ForEachField(s.work, [&](submodule::Field, std::string_view name, const auto& value) {
    fmt::format_to(std::back_inserter(text), " {} {}", name, value);
  });
  if (const auto* fixed = s.As<submodule::FixedDuration>()) {
    fmt::format_to(std::back_inserter(text), " {} ps", fixed->duration.ps());
  }
  if (s.host > Time()) fmt::format_to(std::back_inserter(text), " host {} ps", s.host.ps());
  return text;
}

}  // namespace drydock
