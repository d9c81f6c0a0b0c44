#include "core/model/fabric/idle_time.h"

#include <algorithm>
#include <map>
#include <vector>

namespace drydock {
namespace {

// The frames of all parts on one link.
struct Passage {
  int64_t begin = INT64_MAX;  // earliest first bit
  int64_t occupied = 0;       // by all frames
  int64_t rest = INT64_MAX;   // shortest time of the last bit from here to the end of its path
};

using Passages = std::map<uint32_t, Passage>;  // by link

int64_t Occupancy(const FabricDirection& direction, int64_t bytes) {
  return direction.full_rate.TimeFor(Bytes(bytes)).ps();
}

// A frame in flight: when its current node can forward it, and when all of it has arrived there.
struct FrameInFlight {
  int64_t begin = 0;
  int64_t whole = 0;

  // Crosses a link that is free from `free` on. Returns when the last bit has left.
  int64_t Pass(const FabricDirection& direction, int64_t bytes, int64_t free, int64_t cut_through) {
    const int64_t all = Occupancy(direction, bytes);
    const int64_t end = std::max(std::max(begin, free) + all, whole);
    const int64_t head = cut_through > 0 ? std::min(Occupancy(direction, cut_through), all) : all;
    whole = end + direction.delay;
    begin = end - all + head + direction.delay;
    return end;
  }
};

// Sets the `rest` of the links on the path.
void AddRests(const FabricMap& map, const std::vector<uint32_t>& path, const PartOnWire& part,
              Passages* passages) {
  int64_t rest = 0;
  for (size_t i = path.size(); i-- > 0;) {
    const FabricDirection& direction = map.direction(path[i]);
    rest += direction.delay;
    Passage& passage = (*passages)[path[i]];
    passage.rest = std::min(passage.rest, rest);
    rest += map.cut_through() > 0 ? 0 : Occupancy(direction, part.last);
  }
}

// Returns the time of a part alone. Full frames follow each other at the pace of the slowest link
// so far, so the first and the last frame determine the time. Adds to `passages`, unless it is
// null.
int64_t MeasurePart(const FabricMap& map, const PartOnWire& part, Passages* passages) {
  const std::vector<uint32_t> path = map.LinksOf(part.ends, part.path);
  int64_t pace = 0;
  FrameInFlight first, last;
  for (const uint32_t link : path) {
    const FabricDirection& direction = map.direction(link);
    const int64_t each = Occupancy(direction, part.full);
    if (passages != nullptr) {
      Passage& passage = (*passages)[link];
      passage.begin = std::min(passage.begin, part.full_frames > 0 ? first.begin : last.begin);
      passage.occupied += Occupancy(direction, part.last) + part.full_frames * each;
    }
    int64_t free = 0;
    if (part.full_frames > 0) {
      pace = std::max(pace, each);
      free = first.Pass(direction, part.full, 0, map.cut_through()) + (part.full_frames - 1) * pace;
    }
    last.Pass(direction, part.last, free, map.cut_through());
  }
  if (passages != nullptr) AddRests(map, path, part, passages);
  return last.whole;
}

}  // namespace

int64_t MeasureIdlePart(const FabricMap& map, const PartOnWire& part) {
  return MeasurePart(map.unbroken(), part, nullptr);
}

int64_t MeasureIdle(const FabricMap& map, std::span<const PartOnWire> parts) {
  int64_t time = 0;
  Passages passages;
  for (const PartOnWire& part : parts) {
    time = std::max(time, MeasurePart(map.unbroken(), part, &passages));
  }
  for (const auto& [link, passage] : passages) {
    time = std::max(time, passage.begin + passage.occupied + passage.rest);
  }
  return time;
}

}  // namespace drydock
