#include "ns3-backend/model/attributes/transport-attributes.h"

#include "core/base/check.h"
#include "core/model/fabric/transport_attributes.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <variant>

namespace ns3::rdma
{
namespace
{

using drydock::TransportAttribute;
using Kind = drydock::TransportAttribute::Kind;

/// constexpr: static initializers of other files call AddTransportAttributes.
constexpr std::string_view PREFIX = "ns3::rdma::";

Ptr<AttributeValue>
ToValue(double number)
{
    return Create<DoubleValue>(number);
}

Ptr<AttributeValue>
ToValue(int64_t number)
{
    return Create<IntegerValue>(number);
}

Ptr<AttributeValue>
ToValue(uint64_t number)
{
    return Create<UintegerValue>(number);
}

Ptr<AttributeValue>
ToValue(bool flag)
{
    return Create<BooleanValue>(flag);
}

Ptr<AttributeValue>
ToValue(drydock::Time time)
{
    return Create<TimeValue>(PicoSeconds(time.ps()));
}

Ptr<AttributeValue>
ToValue(drydock::Bandwidth rate)
{
    return Create<DataRateValue>(DataRate(static_cast<uint64_t>(rate.bits_per_second())));
}

/// Returns \p text as a value of ns-3.
Ptr<AttributeValue>
ReadValue(const TransportAttribute& attribute, const std::string& text)
{
    return std::visit([](const auto& value) { return ToValue(value); },
                      drydock::ParseTransportValue(attribute, text).value());
}

/// Returns the bound \p text of \p attribute, or \p otherwise if it has none.
template <typename Number>
Number
BoundOf(const TransportAttribute& attribute, const std::string& text, Number otherwise)
{
    return text.empty() ? otherwise
                        : std::get<Number>(drydock::ParseTransportValue(attribute, text).value());
}

ns3::Time
TimeBoundOf(const TransportAttribute& attribute, const std::string& text, ns3::Time otherwise)
{
    const auto bound = BoundOf(attribute, text, drydock::Time::Ps(otherwise.GetPicoSeconds()));
    return PicoSeconds(bound.ps());
}

Ptr<const AttributeChecker>
MakeChecker(const TransportAttribute& a)
{
    using Numbers = std::numeric_limits<double>;
    switch (a.kind)
    {
    case Kind::kNumber:
        return MakeDoubleChecker<double>(BoundOf(a, a.min, Numbers::lowest()),
                                         BoundOf(a, a.max, Numbers::max()));
    case Kind::kInteger:
        return MakeIntegerChecker<int64_t>(BoundOf(a, a.min, INT64_MIN),
                                           BoundOf(a, a.max, INT64_MAX));
    case Kind::kCount:
        return MakeUintegerChecker<uint64_t>(BoundOf(a, a.min, uint64_t{0}),
                                             BoundOf(a, a.max, UINT64_MAX));
    case Kind::kFlag:
        return MakeBooleanChecker();
    case Kind::kTime:
        return MakeTimeChecker(TimeBoundOf(a, a.min, ns3::Time(0)),
                               TimeBoundOf(a, a.max, Seconds(1000)));
    case Kind::kRate:
        return MakeDataRateChecker();
    case Kind::kDerived:
        break;
    }
    CHECK_NOTE(false, "another key decides a derived attribute");
}

/// Returns "Dcqcn" for ns3::rdma::Dcqcn.
std::string
ClassOf(const TypeId& type)
{
    return type.GetName().substr(PREFIX.size());
}

/// Returns how many attributes of the class \p owner a cluster file may set.
size_t
CountOf(const std::string& owner)
{
    const auto& table = drydock::TransportAttributes();
    return static_cast<size_t>(
        std::count_if(table.begin(), table.end(), [&owner](const TransportAttribute& each) {
            return each.kind != Kind::kDerived && each.name.starts_with(owner + "::");
        }));
}

/// Whether \p type is the class \p owner or a child of it.
bool
IsA(const TypeId& type, const std::string& owner)
{
    const TypeId wanted = TypeId::LookupByName(std::string(PREFIX) + owner);
    return type == wanted || type.IsChildOf(wanted);
}

} // namespace

TypeId
AddTransportAttributes(TypeId type, const std::vector<AttributeMember>& members)
{
    const std::string owner = ClassOf(type);
    CHECK_NOTE(members.size() == CountOf(owner), owner);
    for (const AttributeMember& member : members)
    {
        const TransportAttribute* attribute =
            drydock::FindTransportAttribute(owner + "::" + member.name);
        CHECK_NOTE(attribute != nullptr, owner + "::" + member.name);
        type = type.AddAttribute(member.name,
                                 attribute->help,
                                 *ReadValue(*attribute, attribute->default_value),
                                 member.accessor,
                                 MakeChecker(*attribute));
    }
    return type;
}

void
SetTransportAttributes(const drydock::Transport& transport, ObjectBase& object)
{
    for (const auto& [name, text] : transport.attributes)
    {
        const size_t colons = name.find("::");
        if (IsA(object.GetInstanceTypeId(), name.substr(0, colons)))
        {
            const TransportAttribute& attribute = *drydock::FindTransportAttribute(name);
            object.SetAttribute(name.substr(colons + 2), *ReadValue(attribute, text));
        }
    }
}

} // namespace ns3::rdma
