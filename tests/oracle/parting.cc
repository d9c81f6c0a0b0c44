#include "tests/oracle/parting.h"

#include <algorithm>
#include <map>
#include <utility>

namespace drydock {

std::vector<std::vector<int>> Parting::Parts(int ranks) const {
  std::map<int32_t, std::vector<int>> by_color;
  for (int r = 0; r < ranks; ++r) {
    const auto i = static_cast<size_t>(r);
    const bool left_out = std::find(excluded.begin(), excluded.end(), r) != excluded.end();
    const int32_t color = left_out ? -1 : colors.empty() ? 0 : colors[i];
    if (color >= 0) by_color[color].push_back(r);
  }
  std::vector<std::vector<int>> parts;
  for (auto& [color, members] : by_color) {
    if (!keys.empty()) {
      std::stable_sort(members.begin(), members.end(), [this](int a, int b) {
        return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
      });
    }
    parts.push_back(std::move(members));
  }
  return parts;
}

std::vector<Parting> Partings(int ranks) {
  Parting parity = {" split by parity", {}, {}, {}};
  Parting uneven = {" split unevenly", {}, {}, {}};
  for (int r = 0; r < ranks; ++r) {
    parity.colors.push_back(r % 2);
    parity.keys.push_back(-r);
    uneven.colors.push_back(r == 2 ? -1 : r < ranks / 4 ? 0 : r < 3 * ranks / 4 ? 1 : 2);
    uneven.keys.push_back(0);
  }
  return {parity, uneven, {" shrunk", {}, {}, {1, ranks - 1}}};
}

}  // namespace drydock
