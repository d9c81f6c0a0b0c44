// How often the parts of a cluster fail, and how long it takes until training goes on
// (docs/reference/failures-file.md). Plain data.
#ifndef DRYDOCK_STUDY_GOODPUT_FAILURE_MODEL_H_
#define DRYDOCK_STUDY_GOODPUT_FAILURE_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drydock {

enum class FailingPart : uint8_t { kGpu, kHbm, kNic, kSwitch, kCable, kHost, kSoftware };
inline constexpr size_t kFailingParts = 7;
const std::vector<std::string>& FailingPartNames();  // "gpu", "hbm", ...

// A number with its source; absent: unknown.
struct KnownOrNot {
  std::optional<double> value;
  std::string source;
};

struct FailureModel {
  struct Rate {
    KnownOrNot per_year;  // failures of one part
    // In place of those of all parts, in seconds. Absent: not stated.
    std::optional<KnownOrNot> detect, repair;
  };
  // In seconds.
  struct Recovery {
    KnownOrNot detect;        // until the launcher knows of a failure
    KnownOrNot replace;       // until a spare host is in the place of a lost one
    KnownOrNot repair;        // until a lost host is back
    KnownOrNot start;         // of processes, until they make communicators
    KnownOrNot communicator;  // to make one, and in addition for each of its members
    KnownOrNot member;
  };
  std::string name, source;
  std::array<Rate, kFailingParts> rates;  // by FailingPart
  Recovery recovery;

  const Rate& of(FailingPart part) const { return rates[static_cast<size_t>(part)]; }
  const KnownOrNot& DetectOf(FailingPart part) const {
    return of(part).detect ? *of(part).detect : recovery.detect;
  }
  const KnownOrNot& RepairOf(FailingPart part) const {
    return of(part).repair ? *of(part).repair : recovery.repair;
  }
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_GOODPUT_FAILURE_MODEL_H_
