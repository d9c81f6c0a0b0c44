#include "report/cost/cost.h"

#include <fmt/format.h>

namespace drydock {
namespace {

constexpr double kHoursOfYear = 365.25 * 24;
constexpr double kSecondsOfHour = 3600;

// How many of each priced part there are.
struct Counts {
  double gpus = 0, hosts = 0, switches = 0, cable_ends = 0;
};

Counts CountsOf(const Topology& topology) {
  return {static_cast<double>(topology.gpu_count()), static_cast<double>(topology.host_count()),
          static_cast<double>(topology.fabric.switches.size()),
          2 * static_cast<double>(topology.fabric.links.size())};
}

class CostSum {
 public:
  CostSum(const Cost& cost, const Counts& counts) : cost_(cost), counts_(counts) {}

  CostFacts Sum() {
    facts_.currency = cost_.currency;
    if (cost_.gpu_hour) AddRent("GPU", *cost_.gpu_hour, counts_.gpus);
    if (cost_.host_hour) AddRent("host", *cost_.host_hour, counts_.hosts);
    if (cost_.capital) AddCapital(*cost_.capital);
    if (cost_.power) AddPower(*cost_.power);
    if (cost_.electricity) AddElectricity(*cost_.electricity);
    for (const auto& [name, amount] : facts_.hourly) {
      facts_.per_hour = facts_.per_hour.value_or(0) + amount;
    }
    return std::move(facts_);
  }

 private:
  void Assume(const std::string& name, const std::string& value, const std::string& source) {
    facts_.assumptions.push_back({name, value, source});
  }

  void AddRent(const std::string& what, const StatedValue& price, double count) {
    facts_.hourly.emplace_back("rent", price.value * count);
    Assume("rent of a " + what, fmt::format("{:g} {} an hour", price.value, cost_.currency),
           price.source);
  }

  double Priced(const std::string& what, const StatedValue& price, double count) {
    Assume("price of a " + what, fmt::format("{:g} {}", price.value, cost_.currency), price.source);
    return price.value * count;
  }

  void AddCapital(const Cost::Capital& capital) {
    double sum = Priced("host", capital.host, counts_.hosts);
    if (capital.fabric_switch) sum += Priced("switch", *capital.fabric_switch, counts_.switches);
    if (capital.optics) sum += Priced("cable's end", *capital.optics, counts_.cable_ends);
    Assume("amortisation", fmt::format("{:g} years", capital.years.value), capital.years.source);
    facts_.hourly.emplace_back("amortisation", sum / (capital.years.value * kHoursOfYear));
  }

  void AddDraw(const std::string& one, const std::string& name, const StatedValue& watts,
               double count) {
    facts_.draws.emplace_back(name, watts.value * count);
    Assume("power of a " + one, fmt::format("{:g} W", watts.value), watts.source);
  }

  void AddPower(const Cost::Power& power) {
    AddDraw("GPU", "GPUs", power.gpu, counts_.gpus);
    AddDraw("host", "hosts", power.host, counts_.hosts);
    if (power.fabric_switch) {
      AddDraw("switch", "switches", *power.fabric_switch, counts_.switches);
    }
    if (power.optics) AddDraw("cable's end", "optics", *power.optics, counts_.cable_ends);
    double sum = 0;
    for (const auto& [name, watts] : facts_.draws) sum += watts;
    facts_.watts = sum * power.pue.value;
    Assume("PUE", fmt::format("{:g}", power.pue.value), power.pue.source);
  }

  void AddElectricity(const StatedValue& price) {
    facts_.hourly.emplace_back("electricity", *facts_.watts / 1000 * price.value);
    Assume("electricity", fmt::format("{:g} {} a kWh", price.value, cost_.currency), price.source);
  }

  const Cost& cost_;
  const Counts counts_;
  CostFacts facts_;
};

}  // namespace

std::optional<CostFacts> CostOf(const Topology& topology, double seconds, int64_t tokens) {
  if (!topology.cost) return std::nullopt;
  CostFacts facts = CostSum(*topology.cost, CountsOf(topology)).Sum();
  if (seconds <= 0) return facts;
  if (facts.per_hour) facts.iteration = *facts.per_hour * seconds / kSecondsOfHour;
  if (facts.watts) facts.iteration_joules = *facts.watts * seconds;
  if (tokens <= 0) return facts;
  const auto count = static_cast<double>(tokens);
  if (facts.iteration) facts.token = *facts.iteration / count;
  if (facts.iteration_joules) facts.token_joules = *facts.iteration_joules / count;
  return facts;
}

}  // namespace drydock
