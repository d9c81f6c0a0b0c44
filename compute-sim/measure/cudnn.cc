#include "compute-sim/measure/cudnn.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace drydock {

bool Cudnn::Load(const std::string& path, std::string* error) {
  // The library stays open: threads that it started may outlive this object.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *error = dlerror();
    return false;
  }
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    return *function != nullptr;
  };
  if (!find("cudnnGetVersion", &version_) || version_() / 10000 != 9) {
    *error = version_ == nullptr ? "the library is not cuDNN"
                                 : fmt::format("the library is not cuDNN 9 ({})", version_());
    return false;
  }
  const bool complete =
      find("cudnnCreate", &create) && find("cudnnDestroy", &destroy) &&
      find("cudnnGetLastErrorString", &last_error_) &&
      find("cudnnBackendCreateDescriptor", &create_object) &&
      find("cudnnBackendDestroyDescriptor", &destroy_object) &&
      find("cudnnBackendFinalize", &finalize) && find("cudnnBackendSetAttribute", &set) &&
      find("cudnnBackendGetAttribute", &get) && find("cudnnBackendExecute", &execute);
  if (!complete) *error = "the graph interface of cuDNN is not complete";
  return complete;
}

std::shared_ptr<const Cudnn> Cudnn::Open(const std::string& path, std::string* error) {
  const std::shared_ptr<Cudnn> library(new Cudnn);
  return library->Load(path.empty() ? "libcudnn.so.9" : path, error) ? library : nullptr;
}

std::string Cudnn::Version() const {
  const size_t v = version_();
  return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

std::string Cudnn::LastError() const {
  char text[1024] = {};
  last_error_(text, sizeof text);
  return text;
}

}  // namespace drydock
