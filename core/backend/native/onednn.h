// What all uses of oneDNN share.
#pragma once

#include <dnnl.hpp>

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// oneDNN would use OpenMP's threads, which go on spinning when a kernel is done, in the way of the
// thread that records the next step. So it is told to use one, and its work is split by us. While
// this lives it is so for the calling thread.
class OneThread {
 public:
  OneThread();
  ~OneThread();

 private:
  int before_;
};

dnnl::engine& Engine();
dnnl::stream& Stream();

// Runs `make`, which uses oneDNN: its exceptions as a status that begins with `what`.
template <class F>
auto Guarded(const std::string& what, F&& make) -> decltype(make()) {
  const OneThread one_thread;
  try {
    return make();
  } catch (const dnnl::error& error) {
    return Unsupported("{}: oneDNN: {}", what, error.what());
  }
}

// Primitives that run one after the other, with the reorders to and from the layouts that they are
// fastest with.
class Primitives : public Thunk {
 public:
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  void Run(char* const* memory) override;

 protected:
  using Memory = dnnl::memory;
  struct Source {
    int32_t slot = -1;  // -1: in the scratch memory
    int64_t offset = 0;
  };
  // What a primitive takes or gives under a number (DNNL_ARG_SRC), and how it lies where it is.
  struct Argument {
    int number;
    Memory::desc layout;
    Source source;
  };

  static Memory::dims Sizes(const TensorSlot& place) {
    return {place.shape.dims.begin(), place.shape.dims.end()};
  }
  // f32 of four dimensions, row by row.
  static Memory::desc Plain(const TensorSlot& place) {
    return {Sizes(place), Memory::data_type::f32, Memory::format_tag::abcd};
  }
  static Argument PlainArgument(int number, const TensorSlot& place) {
    return {number, Plain(place), {place.slot}};
  }
  // What every primitive is described with: its scratch memory is ours.
  static dnnl::primitive_attr WithOurScratch();

  Source Scratch(size_t bytes);
  void Add(const dnnl::primitive_desc_base& description, std::vector<Argument> operands,
           std::vector<Argument> results);
  void Reorder(const Memory::desc& from, Source from_source, const Memory::desc& to,
               Source to_source);

 private:
  struct Step {
    dnnl::primitive primitive;
    std::vector<Memory> memories;  // own what `arguments` points to
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<Source> sources;
  };
  static void AddTo(Step* step, const Argument& argument);
  void Push(Step step, const Memory::desc& scratchpad);

  std::vector<Step> steps_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace xlaprof::lazy
