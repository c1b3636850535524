// Python's limited API of 3.10, and what the extension adds to it. The target defines
// Py_LIMITED_API, so that one build runs on CPython 3.10 and all later versions.
#pragma once

#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace xlaprof::python {

// Owns one reference.
class Owned {
 public:
  Owned() = default;
  explicit Owned(PyObject* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// A call with its arguments in an array (PEP 590). CPython 3.8 and later call a type's objects so if
// the type has this flag and the member __vectorcalloffset__. The limited API names both from 3.12
// on, with the same meaning and the same value.
using Vectorcall = PyObject* (*)(PyObject* callable, PyObject* const* args, size_t count,
                                 PyObject* names);
inline constexpr unsigned long kHasVectorcall = 1UL << 11;
// The count's highest bit is a flag for the caller.
inline size_t CountOf(size_t count) { return count & ~(size_t{1} << (8 * sizeof(size_t) - 1)); }

// Returns the bytes of a str, which live as long as it. Returns nothing and clears the error if it
// has no UTF-8, because it has lone surrogates.
inline std::string_view Utf8(PyObject* text) {
  Py_ssize_t bytes = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &bytes);
  if (data != nullptr) return {data, size_t(bytes)};
  PyErr_Clear();
  return "?";
}

// Raises a status as an error of type `type`. Returns null.
inline PyObject* Raise(PyObject* type, const absl::Status& status) {
  PyErr_SetString(type, std::string(Message(status)).c_str());
  return nullptr;
}

template <class F>
PyCFunction Method(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace xlaprof::python
