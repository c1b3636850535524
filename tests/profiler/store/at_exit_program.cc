// A recording that was started by the environment ends when the program's statics are destroyed,
// after most of them. Even then, a store can be written.
#include <unistd.h>

#include <cstdio>

#include "profiler/store/store.h"

namespace xlaprof {
namespace {

absl::Status Write() {
  XP_TRY(Store store, Store::CreateTemporary());
  XP_TRY(int64_t process_id, store.Add(ProcessRow{}));
  XP_TRY(internal::ToStatus(store.Add(StepRow{.process_id = process_id})));
  return internal::ToStatus(store.Intern("a text"));
}

struct Last {
  ~Last() {
    const absl::Status status = Write();
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", std::string(Message(status)).c_str());
    _exit(1);
  }
};

}  // namespace
}  // namespace xlaprof

int main() {
  static xlaprof::Last last;  // destroyed after everything that is made from here on
  return xlaprof::Write().ok() ? 0 : 1;
}
