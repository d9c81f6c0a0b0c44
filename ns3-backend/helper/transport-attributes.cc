#include "ns3-backend/helper/transport-attributes.h"

#include "core/base/check.h"
#include "core/base/units.h"
#include "core/model/fabric/transport_attributes.h"
#include "ns3-backend/model/congestion/dcqcn.h"
#include "ns3-backend/model/congestion/dctcp.h"
#include "ns3-backend/model/fabric/fabric-switch.h"
#include "ns3-backend/helper/fault-injector.h"
#include "ns3-backend/model/congestion/hpcc.h"
#include "ns3-backend/model/host/rdma-transport.h"
#include "ns3-backend/model/congestion/swift.h"
#include "ns3-backend/model/congestion/timely.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace ns3::rdma
{
namespace
{

using drydock::Error;
using drydock::Result;
using Value = Ptr<AttributeValue>;

const std::string PREFIX = "ns3::rdma::";

/// The classes whose attributes a cluster file may set.
std::vector<TypeId>
AttributeClasses()
{
    return {Dcqcn::GetTypeId(),
            Dctcp::GetTypeId(),
            FabricNode::GetTypeId(),
            FabricSwitch::GetTypeId(),
            FaultInjector::GetTypeId(),
            Hpcc::GetTypeId(),
            RdmaTransport::GetTypeId(),
            Swift::GetTypeId(),
            Timely::GetTypeId()};
}

std::string
NameOf(const TypeId& type, size_t attribute)
{
    return type.GetName().substr(PREFIX.size()) + "::" + type.GetAttribute(attribute).name;
}

/// The whole of \p text as a number.
template <typename Number>
bool
Read(const std::string& text, Number* number)
{
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *number);
    return error == std::errc() && stop == end;
}

// One function for each kind of attribute: null if the text is none of it. ns-3's own readers end
// the process over text they do not understand.

Value
ReadDouble(const std::string& text)
{
    double number = 0;
    const bool fine = Read(text, &number) && std::isfinite(number);
    return fine ? Create<DoubleValue>(number) : nullptr;
}

Value
ReadInteger(const std::string& text)
{
    int64_t number = 0;
    return Read(text, &number) ? Create<IntegerValue>(number) : nullptr;
}

Value
ReadUnsigned(const std::string& text)
{
    uint64_t number = 0;
    return Read(text, &number) ? Create<UintegerValue>(number) : nullptr;
}

Value
ReadBoolean(const std::string& text)
{
    const bool known = text == "true" || text == "false";
    return known ? Create<BooleanValue>(text == "true") : nullptr;
}

Value
ReadTime(const std::string& text)
{
    const Result<drydock::Time> time = drydock::ParseTime(text);
    return time.ok() ? Create<TimeValue>(PicoSeconds(time->ps())) : nullptr;
}

Value
ReadRate(const std::string& text)
{
    const Result<drydock::Bandwidth> rate = drydock::ParseBandwidth(text);
    return rate.ok()
               ? Create<DataRateValue>(DataRate(static_cast<uint64_t>(rate->bits_per_second())))
               : nullptr;
}

struct Form
{
    const char* type; //!< of ns-3
    Value (*read)(const std::string& text);
};

const Form&
FormOf(const std::string& type)
{
    static const std::array<Form, 6> forms{{
        {"ns3::DoubleValue", ReadDouble},
        {"ns3::IntegerValue", ReadInteger},
        {"ns3::UintegerValue", ReadUnsigned},
        {"ns3::BooleanValue", ReadBoolean},
        {"ns3::TimeValue", ReadTime},
        {"ns3::DataRateValue", ReadRate},
    }};
    for (const Form& form : forms)
    {
        if (type == form.type || "ns3::" + type == form.type)
        {
            return form;
        }
    }
    CHECK_NOTE(false, "an attribute of a kind without a form: " + type);
}

/// \p text as a value of \p attribute, whose full name is \p name.
Result<Value>
ReadValue(const TypeId::AttributeInformation& attribute,
          const std::string& name,
          const std::string& text)
{
    const Form& form = FormOf(attribute.checker->GetValueTypeName());
    Value value = form.read(text);
    CHECK_NOTE(value, "checked before");
    if (!attribute.checker->Check(*value))
    {
        return Error(fmt::format("attribute '{}' is '{}', which is out of its range ({})",
                                 name,
                                 text,
                                 attribute.checker->GetUnderlyingTypeInformation()));
    }
    return value;
}

/// Of \p name, whether \p transport gives it or it has its default; in ps, bits per second or as it
/// is.
double
NumberOf(const TypeId& type, const std::string& name, const drydock::Transport& transport)
{
    TypeId::AttributeInformation attribute;
    CHECK(type.LookupAttributeByName(name, &attribute));
    const std::string whole = type.GetName().substr(PREFIX.size()) + "::" + name;
    Ptr<const AttributeValue> value = attribute.initialValue;
    for (const auto& [given, text] : transport.attributes)
    {
        if (given == whole)
        {
            value = *ReadValue(attribute, whole, text);
        }
    }
    if (const auto time = DynamicCast<const TimeValue>(value))
    {
        return static_cast<double>(time->Get().GetTimeStep());
    }
    if (const auto rate = DynamicCast<const DataRateValue>(value))
    {
        return static_cast<double>(rate->Get().GetBitRate());
    }
    if (const auto count = DynamicCast<const UintegerValue>(value))
    {
        return static_cast<double>(count->Get());
    }
    return DynamicCast<const DoubleValue>(value)->Get();
}

/// What is wrong between settings that are fine by themselves, empty if nothing.
std::string
Contradiction(const drydock::Transport& transport)
{
    struct Pair
    {
        TypeId type;
        const char* less;
        const char* more;
    };

    for (const Pair& each : {Pair{FabricSwitch::GetTypeId(), "EcnMin", "EcnMax"},
                             Pair{Swift::GetTypeId(), "FlowMin", "FlowMax"},
                             Pair{Timely::GetTypeId(), "LowRoundTrip", "HighRoundTrip"}})
    {
        if (NumberOf(each.type, each.less, transport) > NumberOf(each.type, each.more, transport))
        {
            const std::string own = each.type.GetName().substr(PREFIX.size()) + "::";
            return fmt::format("attribute '{0}{1}' is more than '{0}{2}'",
                               own,
                               each.less,
                               each.more);
        }
    }
    for (const TypeId& type : {Dcqcn::GetTypeId(), Timely::GetTypeId()})
    {
        if (NumberOf(type, "MinRate", transport) < 1e6)
        {
            return fmt::format("attribute '{}::MinRate' must be at least 1 Mbps",
                               type.GetName().substr(PREFIX.size()));
        }
    }
    return "";
}

/// What is wrong with one setting, empty if nothing.
std::string
Fault(const std::string& name, const std::string& text)
{
    if (std::string fault = drydock::CheckAttributeName(name); !fault.empty())
    {
        return fault;
    }
    if (std::string fault = drydock::CheckAttributeValue(name, text); !fault.empty())
    {
        return fault;
    }
    for (const TypeId& type : AttributeClasses())
    {
        for (size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            if (NameOf(type, i) == name)
            {
                const auto value = ReadValue(type.GetAttribute(i), name, text);
                return value.ok() ? "" : value.error().message();
            }
        }
    }
    CHECK_NOTE(false, "an attribute without a class: " + name);
}

/// Sets what belongs to \p type, a class of \p object.
void
SetOf(const TypeId& type, const drydock::Transport& transport, ObjectBase& object)
{
    for (size_t i = 0; i < type.GetAttributeN(); ++i)
    {
        for (const auto& [name, text] : transport.attributes)
        {
            if (name == NameOf(type, i))
            {
                const auto value = ReadValue(type.GetAttribute(i), name, text);
                CHECK_NOTE(value.ok(), "checked before");
                object.SetAttribute(type.GetAttribute(i).name, **value);
            }
        }
    }
}

} // namespace

std::string
CheckTransportAttributes(const drydock::Transport& transport)
{
    for (const auto& [name, text] : transport.attributes)
    {
        if (std::string fault = Fault(name, text); !fault.empty())
        {
            return fault;
        }
    }
    return Contradiction(transport);
}

void
SetTransportAttributes(const drydock::Transport& transport, ObjectBase& object)
{
    const TypeId own = object.GetInstanceTypeId();
    for (const TypeId& type : AttributeClasses())
    {
        if (own == type || own.IsChildOf(type))
        {
            SetOf(type, transport, object);
        }
    }
}

} // namespace ns3::rdma
