#include "core/schema/artefacts/protocol.h"

#include <zlib.h>

namespace drydock::protocol {
namespace {

// Field 100, fixed32, in the file: the tag, then four bytes, least significant first.
constexpr char kChecksumTag[] = {'\xA5', '\x06'};
constexpr size_t kSealSize = sizeof kChecksumTag + 4;

std::string SealOf(std::string_view body) {
  const auto crc = static_cast<uint32_t>(
      ::crc32_z(0, reinterpret_cast<const unsigned char*>(body.data()), body.size()));
  std::string seal(kChecksumTag, sizeof kChecksumTag);
  for (int shift = 0; shift < 32; shift += 8) seal += static_cast<char>(crc >> shift & 0xFF);
  return seal;
}

}  // namespace

std::string Seal(std::string message) {
  message += SealOf(message);
  return message;
}

bool IsSealed(const std::string& message) {
  if (message.size() < kSealSize) return false;
  const std::string_view body(message.data(), message.size() - kSealSize);
  return std::string_view(message).substr(body.size()) == SealOf(body);
}

}  // namespace drydock::protocol
