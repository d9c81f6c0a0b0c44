#include "core/base/processes.h"

#include <utility>

#include "core/base/parcel.h"

namespace drydock {
namespace {

class SingleProcess final : public Processes {
 public:
  int index() const override { return 0; }
  int count() const override { return 1; }
  int count_here() const override { return 1; }
  std::vector<std::string> GatherAll(const std::string& own) override { return {own}; }
  std::vector<std::string> GatherAtFirst(std::string own) override { return {std::move(own)}; }
  void Exchange(const std::vector<std::string>&, std::vector<std::string>*) override {}
};

std::string PackError(const Error& error) {
  std::string parcel;
  for (const Diagnostic& each : error.diagnostics()) {
    Pack(each.message, &parcel);
    Pack(each.location.file, &parcel);
    Pack(each.location.line, &parcel);
    Pack(each.location.column, &parcel);
    Pack(each.source_line, &parcel);
  }
  return parcel;
}

Error UnpackError(const std::string& parcel) {
  std::vector<Diagnostic> diagnostics;
  Unpacker unpacker(parcel);
  while (!unpacker.empty()) {
    Diagnostic& each = diagnostics.emplace_back();
    unpacker.Take(&each.message);
    unpacker.Take(&each.location.file);
    unpacker.Take(&each.location.line);
    unpacker.Take(&each.location.column);
    unpacker.Take(&each.source_line);
  }
  return Error(std::move(diagnostics));
}

}  // namespace

Status Processes::Agree(const Status& own) {
  if (count() == 1) return own;
  for (const std::string& parcel : GatherAll(own.ok() ? std::string() : PackError(own.error()))) {
    if (!parcel.empty()) return UnpackError(parcel);
  }
  return OkStatus();
}

Processes& OneProcess() {
  static SingleProcess process;
  return process;
}

}  // namespace drydock
