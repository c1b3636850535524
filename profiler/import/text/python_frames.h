// Reads frames as torch_xla and our own lazy runtime print them, `  function (file:line)`, and
// finds out what a stack of them says.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "profiler/store/store.h"
#include "profiler/vocabulary/code.h"

namespace xlaprof {

// Parses `  function (file:line)`. Returns nothing if the line is not a frame. The file tells
// the owner; functions of our lazy runtime are not the user's.
std::optional<Store::Frame> ParseFrame(std::string_view line);

// Parses `  File "train.py", line 22, in main`, as Python prints the frames of a traceback. Returns nothing
// if the line is none. The file tells the owner.
std::optional<Store::Frame> ParseTracebackFrame(std::string_view line);

// Returns the innermost user frame, the line that cut the graph or read a tensor. Returns null if
// there is none.
const Store::Frame* InnermostUser(std::span<const Store::Frame> frames);

// Returns function@file:line of the nearest user frame of `stack`, or else of its innermost frame;
// "" if it is empty.
std::string NearestLine(std::span<const Store::Frame> stack);

// Returns the kind of cut that a stack shows: by torch_xla's own rules (csrc/debug_util.cpp), or by
// the function of our lazy runtime that ended the step. The innermost frame comes first. Falls back
// to kValueAccess; returns kUnknown if `frames` is empty.
CutKind CauseFromFrames(std::span<const Store::Frame> frames);

// Returns the kind of cut of a printed cause line, in every spelling that torch_xla ever used.
CutKind CauseFromText(std::string_view text);

}  // namespace xlaprof
