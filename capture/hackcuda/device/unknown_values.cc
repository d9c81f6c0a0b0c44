#include "capture/hackcuda/device/unknown_values.h"

#include <iterator>
#include <map>
#include <mutex>

#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"

namespace drydock::hackcuda {
namespace {

// Never destroyed.
struct All {
  std::mutex mutex;
  // The values from an address on, up to the next address of the map.
  std::map<uintptr_t, Values> from = {{0, {}}};
};
All& Known() {
  static All& all = *new All;
  return all;
}

// Returns the part that begins at the address, which it splits off if need be.
std::map<uintptr_t, Values>::iterator Split(std::map<uintptr_t, Values>* from, uintptr_t at) {
  const auto next = from->upper_bound(at);
  const auto own = std::prev(next);
  return own->first == at ? own : from->emplace_hint(next, at, own->second);
}

}  // namespace

void SetValues(const void* at, size_t bytes, Values values) {
  if (bytes == 0) return;
  if (values.knowledge == Knowledge::kComputed && IsCapturing()) {
    values = {Knowledge::kUnknown, NameNumber("a CUDA graph")};
  }
  const auto begin = reinterpret_cast<uintptr_t>(at);
  All& all = Known();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto end = Split(&all.from, begin + bytes);
  const auto own = Split(&all.from, begin);
  all.from.erase(std::next(own), end);
  own->second = values;
  if (end->second == values) all.from.erase(end);
  if (own != all.from.begin() && std::prev(own)->second == values) all.from.erase(own);
}

Values ValuesAt(const void* at, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(at);
  All& all = Known();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Values least;
  for (auto it = std::prev(all.from.upper_bound(begin));
       it != all.from.end() && it->first < begin + bytes; ++it) {
    if (it->second.knowledge > least.knowledge) least = it->second;
  }
  return least;
}

}  // namespace drydock::hackcuda
