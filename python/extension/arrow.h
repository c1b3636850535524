// Arrow's C data interface and C stream interface, which are three structures that producers and
// consumers each declare for themselves, and the export of a result by them. A consumer calls
// `release` when it is done.
#pragma once

#include <cstdint>
#include <memory>

#include "python/extension/columns.h"

extern "C" {

struct ArrowSchema {
  const char* format;    // a code of the type
  const char* name;      // of the column
  const char* metadata;  // none here
  int64_t flags;         // 2: values may be null
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;  // none here
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // the bits of validity, then the offsets of texts, then the values
  ArrowArray** children;
  ArrowArray* dictionary;  // none here
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);  // returns 0 or an errno, as get_next
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);     // release == nullptr: the end
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace xlaprof::python {

// These fill `out`, which shares the buffers of `columns` and keeps them alive. A result is a struct
// whose children are the columns.
void ExportSchema(const Columns& columns, ArrowSchema* out);
void ExportArray(std::shared_ptr<const Columns> columns, ArrowArray* out);
// The stream has one array.
void ExportStream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out);

}  // namespace xlaprof::python
