// Keeps memory for objects of one class that are made and destroyed by the thousand: a thread
// reuses the memory that it has freed, without asking the allocator.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "base/sanitized.h"

namespace xlaprof {

// The base class of such objects: `class Node final : public Pooled<Node>`. Any thread may make and
// destroy them; each thread keeps the memory of up to 4096 objects until it ends. Under a sanitizer
// no memory is kept, so that the sanitizer sees every object.
template <class T>
class Pooled {
#ifndef XLAPROF_SANITIZED
 public:
  static void* operator new(size_t bytes) {
    Kept& kept = kept_;
    if (kept.first == nullptr) return ::operator new(bytes);
    ++kept.room;
    return std::exchange(kept.first, kept.first->next);
  }
  static void operator delete(void* memory) {
    Kept& kept = kept_;
    if (kept.room == 0) [[unlikely]] {
      if (kept.is_open) return ::operator delete(memory);
      // When this thread ends, at_end frees the memory that it has kept.
      thread_local const AtEnd at_end;
      kept.is_open = true;
      kept.room = 4096;
    }
    --kept.room;
    kept.first = new (memory) Free{kept.first};
  }

 private:
  struct Free {
    Free* next;
  };
  struct Kept {
    Free* first = nullptr;
    size_t room = 0;
    bool is_open = false;
  };
  struct AtEnd {
    ~AtEnd() {
      while (kept_.first != nullptr)
        ::operator delete(std::exchange(kept_.first, kept_.first->next));
      kept_.room = 0;
    }
  };
  static inline constinit thread_local Kept kept_{};
#endif
};

}  // namespace xlaprof
