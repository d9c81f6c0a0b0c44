// Replaces the functions of libc through which NCCL would see the machine it runs on.
//
// The functions are hidden in this library, so that only uses inside the library bind to them. What
// NCCL learns about "this machine" comes from the current rank alone, and NCCL cannot change the
// process that hosts it.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simccl/hacknccl/session/virtual_rank.h"

extern "C" {

// Settings go through settings.cc. Nothing else may come from the environment.
char* getenv(const char*) { return nullptr; }

// The only file is the topology of the current rank's host. settings.cc gives its name.
FILE* fopen(const char* name, const char*) {
  if (strcmp(name, "session") == 0) {
    const std::string& xml = drydock::CurrentRank().host_class().topology_xml;
    return fmemopen(const_cast<char*>(xml.data()), xml.size(), "r");
  }
  errno = ENOENT;
  return nullptr;
}

// NCCL reads the file character by character. No other thread has the file, so reading takes no
// lock.
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
// Each machine of the communicator has its own name.
int gethostname(char* name, size_t bytes) {
  const drydock::VirtualRank& self = drydock::CurrentRank();
  snprintf(name, bytes, "host%d-%d", self.place().host, self.tray());
  return 0;
}

// No plugins, no verbs, no driver libraries.
void* dlopen(const char*, int) { return nullptr; }
char* dlerror() {
  static char reason[] = "a virtual cluster has no libraries to load";
  return reason;
}

// The XML describes the processors of another machine: NCCL must not pin this process to them.
int sched_setaffinity(pid_t, size_t, const cpu_set_t*) { return 0; }

}  // extern "C"
