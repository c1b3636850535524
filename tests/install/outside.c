/* outside_c records events of each kind to what XLAPROF_RECORD says. */
#include <xlaprof/record.h>

static void read_file(void) {
  XLAPROF_TRACE_IN("io", "read");
  XLAPROF_TRACE("inner");
}

int main(void) {
  xlaprof_name_thread("main of C");
  for (int step = 0; step < 3; ++step) {
    XLAPROF_STEP("train", step);
    XLAPROF_COUNTER("loss", 0.5 * step);
    XLAPROF_INSTANT("here");
    read_file();
  }

  XLAPROF_SITE(forward, XLAPROF_SCOPE_SITE, "forward", NULL);
  xlaprof_scope scope;
  xlaprof_scope_begin(&scope, &forward);
  xlaprof_scope_int(&scope, "layer", -7);
  xlaprof_scope_double(&scope, "ratio", 0.5);
  xlaprof_scope_text(&scope, "what", "conv");
  xlaprof_scope_end(&scope);

  xlaprof_slice slice;
  xlaprof_slice_begin_named(&slice, "request", 7, xlaprof_text("queue of C", 10));
  xlaprof_slice copy = slice;
  xlaprof_slice_end(&copy);
  return 0;
}
