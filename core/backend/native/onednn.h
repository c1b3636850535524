// Code that all uses of oneDNN share.
#pragma once

#include <dnnl.hpp>

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// Limits oneDNN to the calling thread while it lives. oneDNN would use OpenMP's threads, which keep
// spinning after a kernel, in the way of the thread that records the next step. We divide its work
// instead.
class OneThread {
 public:
  OneThread();
  ~OneThread();

 private:
  int before_;
};

dnnl::engine& Engine();
dnnl::stream& Stream();

// Calls `make`, which uses oneDNN. Turns its exceptions into a status that begins with `what`.
template <class F>
auto Guarded(const std::string& what, F&& make) -> decltype(make()) {
  const OneThread one_thread;
  try {
    return make();
  } catch (const dnnl::error& error) {
    return Unsupported("{}: oneDNN: {}", what, error.what());
  }
}

// Runs primitives one after the other, with reorders from and to the layouts in which they are
// fastest.
class Primitives : public Thunk {
 public:
  Primitives() = default;
  Primitives(const Primitives& other);
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  void Run(char* const* memory) override;

 protected:
  using Memory = dnnl::memory;
  struct Source {
    int32_t slot = -1;  // -1: in the scratch memory
    int64_t offset = 0;
  };
  // An argument of a primitive: its number (DNNL_ARG_SRC), its layout, and its place.
  struct Argument {
    int number;
    Memory::desc layout;
    Source source;
  };

  static Memory::dims Sizes(const TensorSlot& place) {
    return {place.shape.dims.begin(), place.shape.dims.end()};
  }
  // Returns the layout of four dimensions of f32 in row-major order.
  static Memory::desc Plain(const TensorSlot& place) {
    return {Sizes(place), Memory::data_type::f32, Memory::format_tag::abcd};
  }
  static Argument PlainArgument(int number, const TensorSlot& place) {
    return {number, Plain(place), {place.slot}};
  }
  // Returns the attributes of every primitive: we supply its scratch memory.
  static dnnl::primitive_attr WithOurScratch();

  Source Scratch(size_t bytes);
  void Add(const dnnl::primitive_desc_base& description, std::vector<Argument> operands,
           std::vector<Argument> results);
  void Reorder(const Memory::desc& from, Source from_source, const Memory::desc& to,
               Source to_source);

 private:
  struct Step {
    dnnl::primitive primitive;
    std::vector<Memory> memories;  // they own what `arguments` points to
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<Source> sources;
  };
  static void AddTo(Step* step, const Argument& argument);
  void Push(Step step, const Memory::desc& scratchpad);

  std::vector<Step> steps_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace xlaprof::lazy
