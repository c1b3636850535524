// A plugin for PJRT that passes every call to the plugin in XLAPROF_PJRT_PLUGIN, so that TorchTPU runs without a TPU.
//
// It differs in one call: PJRT_Client_Create drops the caller's options, because those that TorchTPU passes are known to a TPU's
// plugin alone, and others refuse them. Of PJRT's C interface, which only grows at its end, it declares what it touches.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct CreateArguments {
  size_t struct_size;
  void* extension_start;
  const void* options;
  size_t options_size;
};
using Create = void* (*)(CreateArguments*);

struct Interface {
  size_t struct_size;
  void* extension_start;
  struct {
    size_t struct_size;
    void* extension_start;
    int major, minor;
  } version;
  void* before_client_create[10];
  Create client_create;
};

Create create_in_plugin = nullptr;

void* CreateWithoutOptions(CreateArguments* arguments) {
  arguments->options = nullptr;
  arguments->options_size = 0;
  return create_in_plugin(arguments);
}

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "pjrt_cpu_plugin: %s\n", what);
  std::exit(2);
}

}  // namespace

extern "C" const Interface* GetPjrtApi() {
  static const Interface* const changed = [] {
    const char* path = std::getenv("XLAPROF_PJRT_PLUGIN");
    void* plugin = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (plugin == nullptr) Fail(path != nullptr ? dlerror() : "XLAPROF_PJRT_PLUGIN names no plugin");
    auto get = reinterpret_cast<const Interface* (*)()>(dlsym(plugin, "GetPjrtApi"));
    if (get == nullptr) Fail("the plugin has no GetPjrtApi");
    const Interface* original = get();
    // A caller that is newer than the plugin may look beyond the plugin's table, and finds zeros there.
    auto* table = new std::vector<char>(original->struct_size + 4096);
    std::memcpy(table->data(), original, original->struct_size);
    auto* copy = reinterpret_cast<Interface*>(table->data());
    create_in_plugin = copy->client_create;
    copy->client_create = CreateWithoutOptions;
    return copy;
  }();
  return changed;
}
