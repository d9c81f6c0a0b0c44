#include "core/model/calls/plan_works.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {

std::vector<WorkKind> WorkKindsOf(const Plan& plan) {
  std::vector<WorkKind> kinds;
  for (const Work& work : plan.works) {
    if (!kinds.empty() && kinds.back().algorithm == work.algorithm &&
        kinds.back().protocol == work.protocol) {
      kinds.back().channels = std::max(kinds.back().channels, work.channels);
      ++kinds.back().works;
    } else {
      kinds.push_back({work.algorithm, work.protocol, work.channels, 1});
    }
  }
  return kinds;
}

std::string ToString(const std::vector<WorkKind>& kinds) {
  std::string text;
  for (const WorkKind& kind : kinds) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        AlgorithmNames()[static_cast<size_t>(kind.algorithm)],
                        ProtocolNames()[static_cast<size_t>(kind.protocol)]);
    if (kind.works > 1) text += fmt::format(" x{}", kind.works);
  }
  return text;
}

int MaxChannels(const std::vector<WorkKind>& kinds) {
  int most = 0;
  for (const WorkKind& kind : kinds) most = std::max(most, kind.channels);
  return most;
}

}  // namespace drydock
