// The walls around NCCL: functions of libc through which it would see the machine it runs on.
//
// They are defined here, hidden in this library, so that every use inside the library binds to them
// and nobody else's does. What NCCL learns about "this machine" comes from the session alone, and
// it cannot change the process that hosts it.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simccl/hacknccl/session.h"

extern "C" {

// Settings go through settings.cc; nothing else may come from the environment.
char* getenv(const char*) { return nullptr; }

// The only file there is: the topology of the session's host, under the name settings.cc gives it.
FILE* fopen(const char* name, const char*) {
  if (strcmp(name, "session") == 0) {
    const std::string& xml = drydock::Current().host_class().topology_xml;
    return fmemopen(const_cast<char*>(xml.data()), xml.size(), "r");
  }
  errno = ENOENT;
  return nullptr;
}

// NCCL reads it character by character; nobody else has the file, so nothing is locked for each.
size_t fread(void* out, size_t size, size_t count, FILE* file) {
  if (size != 1 || count != 1) return fread_unlocked(out, size, count, file);
  const int character = getc_unlocked(file);
  if (character == EOF) return 0;
  *static_cast<char*>(out) = static_cast<char>(character);
  return 1;
}

// No /sys, no /proc.
char* realpath(const char*, char*) {
  errno = ENOENT;
  return nullptr;
}
DIR* opendir(const char*) {
  errno = ENOENT;
  return nullptr;
}
ssize_t readlink(const char*, char*, size_t) {
  errno = ENOENT;
  return -1;
}
// Each machine of the communicator has a name of its own.
int gethostname(char* name, size_t bytes) {
  const drydock::Session& session = drydock::Current();
  snprintf(name, bytes, "host%d-%d", session.place().host, session.tray());
  return 0;
}

// No plugins, no verbs, no driver libraries.
void* dlopen(const char*, int) { return nullptr; }
char* dlerror() {
  static char reason[] = "a virtual cluster has no libraries to load";
  return reason;
}

// The XML's processors are another machine's: NCCL must not pin this process to them.
int sched_setaffinity(pid_t, size_t, const cpu_set_t*) { return 0; }

}  // extern "C"
