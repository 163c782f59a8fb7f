#pragma once
// Where tensors get their memory: straight from the system or from a pool, with an event for
// whoever wants to watch (the tracker of the lab, tests).

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"

namespace trilobite {

struct AllocationEvent {
  enum class Kind { allocate, release };
  Kind kind;
  const void* address;
  size_t bytes;
  bool from_pool;  // served from (or returned to) memory that was kept
};

/// Gets told of every allocation and release. May be called from any thread.
class AllocationObserver {
 public:
  virtual ~AllocationObserver() = default;
  virtual void on_event(const AllocationEvent& event) = 0;
};

/// Thread-safe. Buffers must be given back to the allocator that made them, and it outlives them.
class Allocator {
 public:
  virtual ~Allocator() = default;
  Result<AlignedBuffer> allocate(size_t bytes);
  void release(AlignedBuffer buffer);
  /// At most one; nullptr stops the events. Not while other threads allocate.
  void observe(AllocationObserver* observer) { observer_ = observer; }

 protected:
  virtual Result<AlignedBuffer> take(size_t bytes, bool& from_pool) = 0;
  /// True when the memory was kept for later.
  virtual bool give_back(AlignedBuffer buffer) = 0;

 private:
  AllocationObserver* observer_ = nullptr;
};

/// Straight from and to the system.
class SystemAllocator final : public Allocator {
 protected:
  Result<AlignedBuffer> take(size_t bytes, bool& from_pool) override;
  bool give_back(AlignedBuffer buffer) override;
};

/// Keeps released buffers and hands them out again: a step of a model allocates the same sizes
/// again and again, and fresh pages cost a page fault each.
class PoolAllocator final : public Allocator {
 public:
  struct Statistics {
    size_t kept_bytes = 0;    // waiting in the pool
    size_t served_bytes = 0;  // handed out and not yet returned
    size_t hits = 0;
    size_t misses = 0;
  };
  /// The pool keeps at most this much; what goes beyond returns to the system.
  explicit PoolAllocator(size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  Statistics statistics() const;
  /// Returns everything that is kept to the system.
  void trim();

 protected:
  Result<AlignedBuffer> take(size_t bytes, bool& from_pool) override;
  bool give_back(AlignedBuffer buffer) override;

 private:
  mutable std::mutex mutex_;
  std::map<size_t, std::vector<AlignedBuffer>> kept_;  // by size of the buffer
  Statistics statistics_;
  size_t limit_bytes_;
};

/// The allocator used when nobody names one.
Allocator& system_allocator();

}  // namespace trilobite
