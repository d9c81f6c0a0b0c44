// Plain values as bytes, for another process of the same run. The processes have the same build and
// the same kind of machine, so no conversion is needed. Not for files.
#ifndef DRYDOCK_CORE_BASE_PARCEL_H_
#define DRYDOCK_CORE_BASE_PARCEL_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/check.h"

namespace drydock {

template <typename T>
void Pack(const T& value, std::string* parcel) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
  parcel->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
void Pack(const std::vector<T>& values, std::string* parcel) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
  Pack(uint64_t{values.size()}, parcel);
  parcel->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline void Pack(std::string_view text, std::string* parcel) {
  Pack(uint64_t{text.size()}, parcel);
  parcel->append(text);
}
inline void Pack(const std::string& text, std::string* parcel) {
  Pack(std::string_view(text), parcel);
}

// Takes values out of a parcel in the order they were packed.
// REQUIRES: the parcel has all values that are taken (CHECK).
class Unpacker {
 public:
  // REQUIRES: the parcel outlives the Unpacker.
  explicit Unpacker(std::string_view parcel) : rest_(parcel) {}

  bool empty() const { return rest_.empty(); }

  template <typename T>
  void Take(T* value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    std::memcpy(value, TakeBytes(sizeof(T)).data(), sizeof(T));
  }

  template <typename T>
  void Take(std::vector<T>* values) {
    values->resize(Take<uint64_t>());
    if (values->empty()) return;
    const size_t bytes = values->size() * sizeof(T);
    std::memcpy(values->data(), TakeBytes(bytes).data(), bytes);
  }

  void Take(std::string* text) { *text = TakeBytes(Take<uint64_t>()); }

  template <typename T>
  T Take() {
    T value;
    Take(&value);
    return value;
  }

  std::string_view TakeBytes(size_t count) {
    CHECK(count <= rest_.size());
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

 private:
  std::string_view rest_;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_PARCEL_H_
