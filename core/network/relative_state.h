// The state of a replay at one moment, relative to that moment: two moments with equal states have
// equal futures, shifted in time and along the programs. The replay compares such states to find
// that a schedule repeats itself (exec-engine/steady/steady_state.h).
//
// A state is a list of numbers. Everything that can affect the future is in it, in an order that
// does not depend on where it lies in memory. Caches and hints are not.
#ifndef DRYDOCK_CORE_NETWORK_RELATIVE_STATE_H_
#define DRYDOCK_CORE_NETWORK_RELATIVE_STATE_H_

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/network/message.h"

namespace drydock {

// Names ops and calls relative to the place in their programs that the moment has reached.
class RelativeNames {
 public:
  virtual ~RelativeNames() = default;
  virtual int64_t OpOf(int rank, uint32_t op) const = 0;
  virtual void AppendCall(uint64_t tag, std::vector<int64_t>* out) const = 0;
};

class RelativeState {
 public:
  // Nothing that happens after `now` depends on how long before `oldest` something was free.
  RelativeState(Time now, Time oldest, const RelativeNames& names)
      : now_(now), oldest_(oldest), names_(names) {}

  void Add(int64_t value) { values_.push_back(value); }
  void AddReal(double value) { Add(std::bit_cast<int64_t>(value)); }
  void AddTime(Time time) { Add(time == Time::Max() ? INT64_MAX : (time - now_).ps()); }
  // The time since which something is free, or known.
  void AddFree(Time time) { time < oldest_ ? Add(INT64_MIN) : AddTime(time); }
  void AddOp(int rank, uint32_t op) { Add(names_.OpOf(rank, op)); }
  void AddCall(uint64_t tag) { names_.AppendCall(tag, &values_); }
  // The cookie of a message is a time (Proxy::SendMessage). Its id only orders messages of a host.
  void AddMessage(const Message& m) {
    AddCall(m.tag);
    for (const int64_t value : {int64_t{m.source}, int64_t{m.destination}, int64_t{m.source_nic},
                                int64_t{m.destination_nic}, int64_t{m.flow}, m.size.count(),
                                int64_t{m.detail}, int64_t{m.control}}) {
      Add(value);
    }
    AddFree(Time::Ps(static_cast<int64_t>(m.cookie)));
  }
  std::vector<int64_t> Take() { return std::move(values_); }

 private:
  const Time now_, oldest_;
  const RelativeNames& names_;
  std::vector<int64_t> values_;
};

class InstantObserver {
 public:
  virtual ~InstantObserver() = default;
  // All events of the present time are done. Returns false to end the run.
  virtual bool OnEndOfInstant(Time now) = 0;
};

// A network that can be stopped between two moments and knows its state.
class ObservableNetwork {
 public:
  virtual ~ObservableNetwork() = default;
  // The observer outlives the run. Call before Run.
  virtual void Observe(InstantObserver* observer) = 0;
  virtual void AppendState(RelativeState* out) const = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NETWORK_RELATIVE_STATE_H_
