#include "ns3-backend/model/transport-attributes.h"

#include "core/base/check.h"
#include "core/base/spelling.h"
#include "ns3-backend/model/dcqcn.h"
#include "ns3-backend/model/fabric-switch.h"
#include "ns3-backend/model/rdma-host.h"

#include "ns3/string.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <vector>

namespace ns3::rdma
{
namespace
{

const std::string PREFIX = "ns3::rdma::";

/// The classes whose attributes a cluster file may set.
std::vector<TypeId>
AttributeClasses()
{
    return {Dcqcn::GetTypeId(), FabricSwitch::GetTypeId(), RdmaHost::GetTypeId()};
}

std::string
NameOf(const TypeId& type, size_t attribute)
{
    return type.GetName().substr(PREFIX.size()) + "::" + type.GetAttribute(attribute).name;
}

/// Attributes that the cluster file sets by keys of its own.
bool
HasKeyOfItsOwn(const std::string& name)
{
    for (const char* taken : {"RdmaHost::Mtu",
                              "RdmaHost::PacketsPerAck",
                              "RdmaHost::NicLatency",
                              "RdmaHost::CongestionControl",
                              "RdmaHost::Retransmission",
                              "FabricSwitch::Buffer",
                              "FabricSwitch::FlowControl"})
    {
        if (name == taken)
        {
            return true;
        }
    }
    return false;
}

/// What values of a kind look like. ns-3 ends the process over text that does not parse, so it
/// must not see any.
struct Form
{
    const char* type;
    const char* pattern;
    const char* words;
};

constexpr const char* NUMBER = R"([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?)";

const Form&
FormOf(const std::string& type)
{
    static const std::string time = std::string(R"((\d+\.?\d*|\.\d+) ?)") + "(ps|ns|us|ms|s)";
    static const std::string rate = std::string(R"((\d+\.?\d*|\.\d+) ?)") + "([kMG]?b(ps|/s))";
    static const Form forms[] = {
        {"DoubleValue", NUMBER, "a number"},
        {"IntegerValue", R"(-?\d{1,18})", "a whole number"},
        {"UintegerValue", R"(\d{1,18})", "a whole number from 0 on"},
        {"BooleanValue", "true|false", "true or false"},
        {"TimeValue", time.c_str(), "a time, as 55us"},
        {"DataRateValue", rate.c_str(), "a rate, as 50Mbps"},
    };
    for (const Form& form : forms)
    {
        if (type == form.type || type == std::string("ns3::") + form.type)
        {
            return form;
        }
    }
    CHECK_NOTE(false, "an attribute of a kind without a form: " + type);
}

/// As ns-3 reads it: no space before the unit.
std::string
Compact(std::string value)
{
    value.erase(std::remove(value.begin(), value.end(), ' '), value.end());
    return value;
}

/// What is wrong with \p value for an attribute, empty if nothing.
std::string
ValueFault(const TypeId::AttributeInformation& attribute,
           const std::string& name,
           const std::string& value)
{
    const Form& form = FormOf(attribute.checker->GetValueTypeName());
    if (!std::regex_match(value, std::regex(form.pattern)))
    {
        return fmt::format("attribute '{}' is '{}'; it must be {}", name, value, form.words);
    }
    if (!attribute.checker->CreateValidValue(StringValue(Compact(value))))
    {
        return fmt::format("attribute '{}' is '{}', which is out of its range ({})",
                           name,
                           value,
                           attribute.checker->GetUnderlyingTypeInformation());
    }
    return "";
}

} // namespace

std::string
CheckTransportAttributes(const drydock::Transport& transport)
{
    std::vector<std::string> names;
    for (const auto& [name, value] : transport.attributes)
    {
        bool known = false;
        names.clear();
        for (const TypeId& type : AttributeClasses())
        {
            for (size_t i = 0; i < type.GetAttributeN(); ++i)
            {
                const std::string candidate = NameOf(type, i);
                if (HasKeyOfItsOwn(candidate))
                {
                    continue;
                }
                names.push_back(candidate);
                if (candidate != name)
                {
                    continue;
                }
                known = true;
                const std::string fault = ValueFault(type.GetAttribute(i), name, value);
                if (!fault.empty())
                {
                    return fault;
                }
            }
        }
        if (!known)
        {
            return fmt::format("the packet network has no attribute '{}'{}",
                               name,
                               drydock::DidYouMean(name, names));
        }
    }
    return "";
}

void
SetTransportAttributes(const drydock::Transport& transport, ObjectBase& object)
{
    const std::string own = object.GetInstanceTypeId().GetName().substr(PREFIX.size()) + "::";
    for (const auto& [name, value] : transport.attributes)
    {
        if (name.compare(0, own.size(), own) == 0)
        {
            object.SetAttribute(name.substr(own.size()), StringValue(Compact(value)));
        }
    }
}

} // namespace ns3::rdma
