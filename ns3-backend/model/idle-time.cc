#include "ns3-backend/model/idle-time.h"

#include "core/base/check.h"

#include <algorithm>
#include <map>
#include <vector>

namespace ns3::rdma
{
namespace
{

/// What parts do on a link.
struct Passage
{
    int64_t begin = NEVER; //!< no first bit sooner
    int64_t occupied = 0;  //!< by all frames
    int64_t rest = NEVER;  //!< no way on from the last bit out is shorter
};

using Passages = std::map<uint32_t, Passage>; //!< by link

std::vector<const FabricDirection*>
WayOf(const FabricMap& map, const PartOnWire& part)
{
    std::vector<const FabricDirection*> way;
    uint32_t link = part.ends.first;
    for (;;)
    {
        const FabricDirection& direction = map.GetDirection(link);
        way.push_back(&direction);
        if (link == part.ends.second)
        {
            return way;
        }
        CHECK(map.IsSwitch(direction.toNode));
        const uint32_t at = direction.toNode - map.GetNHosts();
        link = map.GetPorts(direction.toNode)[map.NextPort(at, part.ends.second, part.path)];
    }
}

int64_t
Occupancy(const FabricDirection& direction, int64_t bytes)
{
    return direction.made.TimeFor(drydock::Bytes(bytes)).ps();
}

/// A frame on its way: when it can go on at the node that it has come to, and when all of it is
/// there.
struct OnItsWay
{
    int64_t begin = 0;
    int64_t whole = 0;

    /// Over a link that is free from \p free on; when its last bit has left.
    int64_t Pass(const FabricDirection& direction, int64_t bytes, int64_t free, int64_t cutThrough)
    {
        const int64_t all = Occupancy(direction, bytes);
        const int64_t end = std::max(std::max(begin, free) + all, whole);
        const int64_t head = cutThrough > 0 ? std::min(Occupancy(direction, cutThrough), all) : all;
        whole = end + direction.delay;
        begin = end - all + head + direction.delay;
        return end;
    }
};

/// A part alone. Full frames follow each other at the pace of the slowest link so far, so that the
/// first and the last frame say all. Adds what it does on its links to \p passages.
int64_t
MeasurePart(const FabricMap& map, const PartOnWire& part, Passages& passages)
{
    const std::vector<const FabricDirection*> way = WayOf(map, part);
    const int64_t cutThrough = map.GetCutThrough();
    int64_t pace = 0;
    OnItsWay first;
    OnItsWay last;
    for (const FabricDirection* direction : way)
    {
        Passage& passage = passages[map.GetPorts(direction->fromNode)[direction->fromPort]];
        passage.begin = std::min(passage.begin, part.nFull > 0 ? first.begin : last.begin);
        passage.occupied += Occupancy(*direction, part.last);
        int64_t free = 0;
        if (part.nFull > 0)
        {
            const int64_t each = Occupancy(*direction, part.full);
            passage.occupied += part.nFull * each;
            pace = std::max(pace, each);
            free = first.Pass(*direction, part.full, 0, cutThrough) + (part.nFull - 1) * pace;
        }
        last.Pass(*direction, part.last, free, cutThrough);
    }
    int64_t rest = 0;
    for (size_t i = way.size(); i-- > 0;)
    {
        rest += way[i]->delay;
        Passage& passage = passages[map.GetPorts(way[i]->fromNode)[way[i]->fromPort]];
        passage.rest = std::min(passage.rest, rest);
        rest += cutThrough > 0 ? 0 : Occupancy(*way[i], part.last);
    }
    return last.whole;
}

} // namespace

int64_t
MeasureIdle(const FabricMap& map, std::span<const PartOnWire> parts)
{
    int64_t time = 0;
    Passages passages;
    for (const PartOnWire& part : parts)
    {
        time = std::max(time, MeasurePart(map.GetUnbroken(), part, passages));
    }
    for (const auto& [link, passage] : passages)
    {
        time = std::max(time, passage.begin + passage.occupied + passage.rest);
    }
    return time;
}

} // namespace ns3::rdma
