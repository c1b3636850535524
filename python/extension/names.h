// The numbers that the recorder has for Python's names, places, keys and values.
#pragma once

#include <cstdint>

#include "profiler/record/record.h"
#include "python/extension/limited_api.h"

namespace xlaprof::python {

enum class Use { kScope, kStep, kCounter };

// A name at a place. A coroutine is left and entered again while its scopes are open, so they are no
// part of what its thread does meanwhile.
struct NamedPlace {
  uint32_t site;
  bool is_in_coroutine;
};

// Returns the number of a name. `name` is a str, or a Place. A str has the line of the code that
// calls now, if the str is a literal that stands on one line of that code. Otherwise its place is
// unknown. The name and the code are compared by identity, so a literal is found without reading its
// text.
NamedPlace SiteOf(PyObject* name, Use use);
// Does the same for a name without a place.
uint32_t SiteWithoutPlace(PyObject* name, Use use);

// Returns the number of a str as a key or a value.
uint32_t TextOf(PyObject* text);
// Returns a value as the recorder keeps it: an int or a float by its value, and all else as text.
record::Value ValueOf(PyObject* value);

// Adds to the module: the type Place(name, file, line, function, is_in_coroutine=False), which is a
// name at a known place; and set_helpers(line, text), which takes the functions line(code, name), which returns the line or
// 0, and text(value), which returns an int, a float or a str.
bool AddNames(PyObject* module);
// Returns whether `object` can name a scope.
bool IsName(PyObject* object);
// Returns the text of a name.
PyObject* TextOfName(PyObject* name);  // borrowed

}  // namespace xlaprof::python
