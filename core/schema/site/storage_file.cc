#include "core/schema/site/storage_file.h"

#include "core/schema/fabric/limits.h"

namespace drydock {

void ReadStorage(const YamlNode& node, Storage* storage, Diagnostics* diagnostics) {
  YamlReader reader(node, "storage", diagnostics);
  reader.Read("read", &storage->read);
  CheckRate("read", storage->read, &reader);
  reader.Read("write", &storage->write);
  CheckRate("write", storage->write, &reader);
  reader.ReadOptional("host", &storage->host);
  if (reader.Has("host")) CheckRate("host", storage->host, &reader);
  reader.Read("source", &storage->source);
  if (reader.Has("source") && storage->source.empty()) {
    reader.Fail("source", "'source' is empty; say where the rates come from");
  }
  reader.Finish();
}

bool IsStorage(const Storage& storage) {
  return storage.read >= kMinRate && storage.write >= kMinRate && !storage.source.empty() &&
         (storage.host == Bandwidth() || storage.host >= kMinRate);
}

}  // namespace drydock
