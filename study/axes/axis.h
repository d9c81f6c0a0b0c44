// An axis of a sweep: a key of the model or the cluster, and the values that it takes in turn.
#ifndef DRYDOCK_STUDY_AXES_AXIS_H_
#define DRYDOCK_STUDY_AXES_AXIS_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/yaml.h"

namespace drydock {

struct Axis {
  std::string key;                  // "parallel.tensor"
  std::vector<std::string> values;  // as --set takes them; distinct, at least one
  Location location;                // of the axis in a study file; unknown on a command line
};

// Most values of one axis.
inline constexpr size_t kMaxAxisValues = 100'000;

// Parses "KEY=ITEMS". ITEMS are separated by commas; an item is a value or a range:
//   8..64      8, 9, ... 64
//   8..64+8    in steps of 8
//   8..64*2    8, 16, 32, 64
// A comma inside brackets, braces or quotes belongs to the value. Quotes around a whole value are
// left out.
Result<Axis> ParseAxis(const std::string& text);

// The same for an entry of `over:` in a study file: `value` is a list of values and ranges, or one
// of them.
Result<Axis> AxisOf(const YamlNode& key, const YamlNode& value);

// The axis that `name` means: its whole key, or the end of one key alone, such as "tensor" or
// "leaf.rate". Errors: no axis or several.
Result<size_t> FindAxis(const std::vector<Axis>& axes, const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_AXES_AXIS_H_
