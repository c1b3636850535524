// Shared ownership with the count inside the object: a pointer's size, one allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace xlaprof {

// Objects are made by MakeRef and destroyed by the last Ref, on its thread.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  // True in classes whose objects are looked for with IfAlive().
  static constexpr bool kIsLookedFor = false;

 protected:
  RefCounted() = default;
  virtual ~RefCounted() = default;

 private:
  template <class T>
  friend class Ref;
  mutable std::atomic<uint32_t> count_{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) : object_(object) { Take(); }
  Ref(const Ref& other) : object_(other.object_) { Take(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  Ref(const Ref<U>& other) : object_(other.get()) {
    Take();
  }
  template <class U>
  Ref(Ref<U>&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~Ref() { Drop(); }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  // The first of a new object, which nobody else knows.
  static Ref First(T* object) {
    Count(object).store(1, std::memory_order_relaxed);
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // What `object` is, or null where its last Ref is gone and it is about to be destroyed. The
  // caller sees to it that its memory is still there.
  static Ref IfAlive(T* object) {
    static_assert(T::kIsLookedFor);
    auto& count = Count(object);
    uint32_t now = count.load(std::memory_order_relaxed);
    while (now != 0 && !count.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) {
    }
    Ref ref;
    if (now != 0) ref.object_ = object;
    return ref;
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref& other) const { return object_ == other.object_; }
  // Whether nobody else has it: then nobody can come to have it.
  bool unique() const {
    return object_ != nullptr && Count(object_).load(std::memory_order_acquire) == 1;
  }

 private:
  template <class U>
  friend class Ref;
  static std::atomic<uint32_t>& Count(const RefCounted* object) { return object->count_; }
  void Take() {
    if (object_ != nullptr) Count(object_).fetch_add(1, std::memory_order_relaxed);
  }
  void Drop() {
    if (object_ == nullptr) return;
    const RefCounted* object = object_;
    std::atomic<uint32_t>& count = Count(object);
    // The only one need not count: nobody can come to have another.
    const bool is_only = !T::kIsLookedFor && count.load(std::memory_order_acquire) == 1;
    if (is_only || count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete object;
  }

  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>::First(new T(std::forward<Args>(args)...));
}

}  // namespace xlaprof
