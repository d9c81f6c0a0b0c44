// Loaded into the programs of a script, beside the stand-ins of launchers. A command that the
// script starts by its path ("/opt/conda/bin/torchrun", "/usr/bin/env torchrun" with another PATH)
// goes to its stand-in. Uses only the C library: it is loaded into every program.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// The folder of this library, as LD_PRELOAD names it; empty if it is not known.
const char* Folder() {
  static char folder[PATH_MAX];
  if (folder[0] != 0) return folder;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&Folder), &info) == 0 || info.dli_fname == nullptr) return "";
  const char* end = strrchr(info.dli_fname, '/');
  if (end == nullptr || end - info.dli_fname >= PATH_MAX) return "";
  memcpy(folder, info.dli_fname, static_cast<size_t>(end - info.dli_fname));
  return folder;
}

const char* BaseOf(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool EndsWith(const char* text, const char* end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

// True for a file of Python that names its interpreter in its first line.
bool IsPythonScript(const char* path) {
  if (!EndsWith(path, ".py")) return false;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char line[128] = {};
  const ssize_t got = read(file, line, sizeof line - 1);
  close(file);
  if (got < 2 || line[0] != '#' || line[1] != '!') return false;
  char* end = strchr(line, '\n');
  if (end != nullptr) *end = 0;
  return strstr(line, "python") != nullptr;
}

// A command as the stand-in wants it: its name or path, the stand-in, the arguments.
class Redirected {
 public:
  Redirected(const char* path, char* const argv[]) {
    const char* folder = Folder();
    const size_t own = strlen(folder);
    if (folder[0] == 0) return;
    // A stand-in, or what is behind it.
    if (strncmp(path, folder, own) == 0 &&
        (strncmp(path + own, "/bin/", 5) == 0 || strcmp(path + own, "/intercept") == 0)) {
      return;
    }
    const bool script = IsPythonScript(path);
    const char* name = script ? "python3" : BaseOf(path);
    if (own + strlen(name) + 6 > sizeof stand_in_ || strchr(name, '/') != nullptr) return;
    strcpy(stand_in_, folder);
    strcat(stand_in_, "/bin/");
    strcat(stand_in_, name);
    if (*name == 0 || access(stand_in_, F_OK) != 0) return;
    strcpy(program_, folder);
    strcat(program_, "/intercept");
    size_t count = 0;
    while (argv[count] != nullptr) ++count;
    argv_ = static_cast<char**>(malloc((count + 4) * sizeof(char*)));
    if (argv_ == nullptr) return;
    size_t at = 0;
    argv_[at++] = const_cast<char*>(script ? "python3" : path);
    argv_[at++] = stand_in_;
    if (script) argv_[at++] = const_cast<char*>(path);
    for (size_t i = 1; i < count; ++i) argv_[at++] = argv[i];
    argv_[at] = nullptr;
  }
  ~Redirected() { free(argv_); }

  bool applies() const { return argv_ != nullptr; }
  const char* program() const { return program_; }
  char** argv() const { return argv_; }

 private:
  char stand_in_[PATH_MAX] = {};
  char program_[PATH_MAX] = {};
  char** argv_ = nullptr;
};

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int Execute(const char* path, char* const argv[], char* const envp[]) {
  const Redirected other(path, argv);
  if (other.applies())
    return Next<int (*)(const char*, char* const*, char* const*)>("execve")(other.program(),
                                                                            other.argv(), envp);
  return Next<int (*)(const char*, char* const*, char* const*)>("execve")(path, argv, envp);
}

}  // namespace

EXPORT int execve(const char* path, char* const argv[], char* const envp[]) {
  return Execute(path, argv, envp);
}

EXPORT int execv(const char* path, char* const argv[]) { return Execute(path, argv, environ); }

// A name without a path is looked up in PATH, where the stand-ins come first unless the script has
// set another.
EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) {
  const Redirected other(file, argv);
  if (other.applies()) return Execute(other.program(), other.argv(), envp);
  return Next<int (*)(const char*, char* const*, char* const*)>("execvpe")(file, argv, envp);
}

EXPORT int execvp(const char* file, char* const argv[]) { return execvpe(file, argv, environ); }

// A path that is relative to a folder, and a file that is open, belong to no launcher.
EXPORT int execveat(int folder, const char* path, char* const argv[], char* const envp[],
                    int flags) {
  if (path[0] == '/') return Execute(path, argv, envp);
  return Next<int (*)(int, const char*, char* const*, char* const*, int)>("execveat")(
      folder, path, argv, envp, flags);
}

namespace {

// The words of execl and its kin, up to the null that ends them; what follows is left in `rest`.
class Listed {
 public:
  Listed(const char* first, va_list* rest) {
    va_list counted;
    va_copy(counted, *rest);
    size_t count = 0;
    for (const char* word = first; word != nullptr; word = va_arg(counted, char*)) ++count;
    va_end(counted);
    words_ = static_cast<char**>(malloc((count + 1) * sizeof(char*)));
    if (words_ == nullptr) return;
    words_[0] = const_cast<char*>(first);
    for (size_t i = 1; i <= count; ++i) words_[i] = va_arg(*rest, char*);
  }
  ~Listed() { free(words_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

  char** words() const { return words_; }

 private:
  char** words_ = nullptr;
};

}  // namespace

// The C library's own would not come back here.
EXPORT int execl(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const Listed listed(first, &rest);
  va_end(rest);
  return listed.words() == nullptr ? -1 : Execute(path, listed.words(), environ);
}

EXPORT int execlp(const char* file, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const Listed listed(first, &rest);
  va_end(rest);
  return listed.words() == nullptr ? -1 : execvpe(file, listed.words(), environ);
}

EXPORT int execle(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const Listed listed(first, &rest);
  char* const* envp = va_arg(rest, char* const*);
  va_end(rest);
  return listed.words() == nullptr ? -1 : Execute(path, listed.words(), envp);
}

using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                      const posix_spawnattr_t*, char* const*, char* const*);

EXPORT int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const argv[],
                       char* const envp[]) {
  const Redirected other(path, argv);
  const Spawn next = Next<Spawn>("posix_spawn");
  if (other.applies()) {
    return next(child, other.program(), actions, attributes, other.argv(), envp);
  }
  return next(child, path, actions, attributes, argv, envp);
}

EXPORT int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const argv[],
                        char* const envp[]) {
  const Redirected other(file, argv);
  if (other.applies()) {
    return Next<Spawn>("posix_spawn")(child, other.program(), actions, attributes, other.argv(),
                                      envp);
  }
  return Next<Spawn>("posix_spawnp")(child, file, actions, attributes, argv, envp);
}
