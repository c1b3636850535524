// Compares text with expectations that are kept in files of the repository.
//
// XLAPROF_UPDATE_GOLDEN=1 rewrites them (scripts/test --update); the diff is reviewed like code.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/golden_case.h"
#include "tests/read_file.h"

namespace xlaprof {

// Expects that the file holds `text`, or writes it there.
inline void ExpectFile(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("XLAPROF_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  } else {
    EXPECT_EQ(text, ReadFile(path)) << "if the new text is right: scripts/test --update";
  }
}

}  // namespace xlaprof
