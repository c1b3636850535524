// Says what bytes look like to a person if no importer recognises them.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

enum class Look : uint8_t { kEmpty, kText, kJson, kSqlite, kPng, kZip, kProgram, kBinary };

// Judges by the beginning of the bytes.
Look LookOf(std::string_view bytes);

// Returns the look in words, such as "a PNG image".
std::string_view TextOf(Look look);

}  // namespace xlaprof
