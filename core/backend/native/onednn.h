// What all uses of oneDNN share.
#pragma once

#include <dnnl.hpp>

#include "core/base/status.h"

namespace xlaprof::lazy {

// oneDNN would use OpenMP's threads, which go on spinning when a kernel is done, in the way of the
// thread that records the next step. So it is told to use one, and its work is split by us. While
// this lives it is so for the calling thread.
class OneThread {
 public:
  OneThread();
  ~OneThread();

 private:
  int before_;
};

dnnl::engine& Engine();
dnnl::stream& Stream();

// Runs `make`, which uses oneDNN: its exceptions as a status that begins with `what`.
template <class F>
auto Guarded(const std::string& what, F&& make) -> decltype(make()) {
  const OneThread one_thread;
  try {
    return make();
  } catch (const dnnl::error& error) {
    return Unsupported("{}: oneDNN: {}", what, error.what());
  }
}

}  // namespace xlaprof::lazy
