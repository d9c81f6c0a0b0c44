#include "session.h"

namespace drydock {
namespace {
Session* current = nullptr;
}  // namespace

Session& Current() { return *current; }
void SetCurrent(Session* session) { current = session; }

}  // namespace drydock
