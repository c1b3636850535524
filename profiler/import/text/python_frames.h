// Python frames as torch_xla prints them, `  function (file:line)`, and what can be told from a
// stack of them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "profiler/store/store.h"

namespace xlaprof {

// Parses `  function (file:line)`; empty when the line is no frame. Sets is_user by IsUserFile.
std::optional<Store::Frame> ParseFrame(std::string_view line);

// False for files of Python, of installed packages (site-packages, dist-packages), of torch,
// torch_xla and jax, and for `<frozen ...>`, `<string>` and other pseudo files.
bool IsUserFile(std::string_view file);

// The innermost user frame: the line that cut the graph or read a tensor. Null when there is none.
const Store::Frame* InnermostUser(std::span<const Store::Frame> frames);

// function@file:line of the nearest user frame of `stack`, else of its innermost frame; "" for
// none.
std::string NearestLine(std::span<const Store::Frame> stack);

// Kind of cut by torch_xla's own rules (csrc/debug_util.cpp), from a stack, innermost frame first.
// Falls back to kValueAccess; kUnknown when `frames` is empty.
CutKind CauseFromFrames(std::span<const Store::Frame> frames);

// Kind of cut from a printed cause line, in every spelling that torch_xla ever used.
CutKind CauseFromText(std::string_view text);

}  // namespace xlaprof
