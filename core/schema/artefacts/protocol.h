// Functions that the readers and writers of artefacts share: provenance, parsing, bounds. Internal
// to core/schema.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_PROTOCOL_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_PROTOCOL_H_

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/result.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock::protocol {

inline constexpr uint32_t kFormat = kArtefactFormat;

inline void FillProvenance(const std::string& kind, const Provenance& from, proto::Provenance* to) {
  to->set_kind(kind);
  to->set_format(kFormat);
  to->set_tool(from.tool);
  to->set_version(DrydockVersion());
  for (const Provenance::Input& input : from.inputs) {
    proto::Provenance::Input* added = to->add_inputs();
    added->set_name(input.name);
    added->set_sha256(input.sha256);
  }
  for (const std::string& option : from.options) to->add_options(option);
}

inline Provenance ReadProvenance(const proto::Provenance& from) {
  Provenance to;
  to.tool = from.tool();
  for (const auto& input : from.inputs()) to.inputs.push_back({input.name(), input.sha256()});
  to.options.assign(from.options().begin(), from.options().end());
  return to;
}

// Seal appends the checksum field (CRC-32) to a message. IsSealed returns true if the message ends
// with its correct checksum.
std::string Seal(std::string message);
bool IsSealed(const std::string& message);

// Converts a stored number to an enumerator. A number out of range stays out of range.
template <typename Enum>
Enum ToEnum(uint32_t stored) {
  return static_cast<Enum>(stored < 0xFF ? stored : 0xFF);
}
// Converts a stored name to an enumerator. `names` has the names of the enumerators in their order.
// A name that is not among them becomes an enumerator out of range.
template <typename Enum>
Enum ToEnum(const std::string& stored, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), stored);
  return ToEnum<Enum>(static_cast<uint32_t>(found - names.begin()));
}
template <typename Enum>
bool Within(Enum value, size_t count) {
  return static_cast<size_t>(value) < count;
}

// Returns the error for a file that is not of this kind.
inline Error NotThis(const std::string& path, const std::string& kind, const std::string& maker) {
  return Error(fmt::format("this is not {}{}, or it is damaged; run {} again",
                           kind.ends_with('s') ? "" : "a ", kind, maker),
               {path, 0, 0});
}

// Returns an error unless the file `path` has this provenance. Errors say to run the tool `maker`.
inline Status CheckKind(const std::string& path, const std::string& kind, const std::string& maker,
                        const proto::Provenance& provenance) {
  if (provenance.kind() != kind) return NotThis(path, kind, maker);
  if (provenance.format() == kFormat) return OkStatus();
  return Error(fmt::format("this {} has format {}, but this version reads format {}; run {} again",
                           kind, provenance.format(), kFormat, maker),
               {path, 0, 0});
}

// Reads the file `path`, which has its correct checksum.
inline Result<std::string> ReadContent(const std::string& path, const std::string& kind,
                                       const std::string& maker, std::string* sha256) {
  if (!FileExists(path)) {
    return Error(fmt::format("there {} no {} yet; run {} first", kind.ends_with('s') ? "are" : "is",
                             kind, maker),
                 {path, 0, 0});
  }
  ASSIGN_OR_RETURN(std::string content, ReadFile(path));
  if (!IsSealed(content)) return NotThis(path, kind, maker);
  if (sha256 != nullptr) *sha256 = Sha256(content);
  return content;
}

// Parses the file `path`, whose provenance must have this `kind`. Errors say to run the tool
// `maker`.
template <typename Message>
Status Load(const std::string& path, const std::string& kind, const std::string& maker,
            Message* message, std::string* sha256) {
  ASSIGN_OR_RETURN(const std::string content, ReadContent(path, kind, maker, sha256));
  const google::protobuf::LogSilencer quiet;  // the Error has the reason
  if (!message->ParseFromString(content)) return NotThis(path, kind, maker);
  return CheckKind(path, kind, maker, message->provenance());
}

// Returns an error unless `input` with this hash is an input of the artefact.
inline Status CheckMadeFrom(const proto::Provenance& provenance, const std::string& path,
                            const std::string& input, const std::string& sha256) {
  for (const proto::Provenance::Input& made_from : provenance.inputs()) {
    if (made_from.name() == input && made_from.sha256() == sha256) return OkStatus();
  }
  return Error(
      fmt::format("stale: it was made from another {}; run {} again", input, provenance.tool()),
      {path, 0, 0});
}

inline Error Damaged(const std::string& path, const std::string& what) {
  return Error(fmt::format("damaged: {}", what), {path, 0, 0});
}

inline Error TooLarge(const std::string& path) {
  return Error("the artefact would be larger than 2 GB", {path, 0, 0});
}

template <typename Message>
Result<std::string> Serialize(const Message& message, const std::string& path) {
  std::string out;
  if (message.ByteSizeLong() > INT32_MAX || !message.SerializeToString(&out)) {
    return TooLarge(path);
  }
  return Seal(std::move(out));
}

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_PROTOCOL_H_
