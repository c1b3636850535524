#include "core/backend/native/onednn.h"

#include <omp.h>

namespace xlaprof::lazy {

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
// A CPU's stream has no state.
dnnl::stream& Stream() {
  static dnnl::stream stream(Engine());
  return stream;
}

}  // namespace xlaprof::lazy
