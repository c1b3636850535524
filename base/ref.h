// Shared ownership with the count inside the object: a Ref has a pointer's size, and an object
// takes one allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/fork.h"

namespace xlaprof {

// Objects are made by MakeRef and destroyed by the last Ref, on the thread of that Ref.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  // The last Ref calls Hide() before it destroys the object; false means that another Ref has come
  // meanwhile. A class whose objects are looked up by pointer has a Hide() of its own. If
  // has_one_ref(), it removes the object from where it is looked up, under the lock that lookups
  // hold. A fork does not call it, because the lock could be held by a thread of its parent.
  bool Hide() const { return true; }

 protected:
  RefCounted() = default;
  virtual ~RefCounted() = default;
  bool has_one_ref() const { return count_.load(std::memory_order_acquire) == 1; }

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

  // Makes the first Ref of a new object, which nobody else knows.
  static Ref First(T* object) {
    Count(object).store(1, std::memory_order_relaxed);
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref& other) const { return object_ == other.object_; }
  // Returns whether this is the only Ref of the object. If it is, nobody else can get another one.
  bool unique() const { return object_ != nullptr && object_->RefCounted::has_one_ref(); }

 private:
  template <class U>
  friend class Ref;
  static std::atomic<uint32_t>& Count(const RefCounted* object) { return object->count_; }
  void Take() {
    if (object_ != nullptr) Count(object_).fetch_add(1, std::memory_order_relaxed);
  }
  void Drop() {
    if (object_ == nullptr) return;
    std::atomic<uint32_t>& count = Count(object_);
    uint32_t now = count.load(std::memory_order_acquire);
    // The only Ref need not decrement the count.
    while (now > 1 || !(is_forked || object_->Hide())) {
      if (now > 1 && count.compare_exchange_weak(now, now - 1, std::memory_order_acq_rel)) return;
      now = count.load(std::memory_order_acquire);
    }
    delete static_cast<const RefCounted*>(object_);
  }

  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> MakeRef(Args&&... args) {
  if constexpr (sizeof...(args) == 0) {
    return Ref<T>::First(new T);  // not T(), which would first write zeros
  } else {
    return Ref<T>::First(new T(std::forward<Args>(args)...));
  }
}

}  // namespace xlaprof
