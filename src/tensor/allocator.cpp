#include "tensor/allocator.hpp"

#include <malloc.h>

#include <bit>

namespace trilobite {
namespace {

/// Sizes of pool buffers: sixteen steps per power of two, so at most a sixteenth of one is unused.
size_t pool_size(size_t bytes) {
  if (bytes <= 256) return 256;
  const size_t step = std::bit_floor(bytes - 1) / 16;
  return (bytes + step - 1) / step * step;
}

}  // namespace

Result<AlignedBuffer> Allocator::allocate(size_t bytes) {
  bool from_pool = false;
  auto buffer = take(bytes, from_pool);
  if (buffer && observer_ != nullptr) {
    observer_->on_event(
        {AllocationEvent::Kind::allocate, buffer->data(), buffer->size(), from_pool});
  }
  return buffer;
}

void Allocator::release(AlignedBuffer buffer) {
  const void* address = buffer.data();
  const size_t bytes = buffer.size();
  const bool kept = give_back(std::move(buffer));
  if (observer_ != nullptr)
    observer_->on_event({AllocationEvent::Kind::release, address, bytes, kept});
}

Result<AlignedBuffer> SystemAllocator::take(size_t bytes, bool& from_pool) {
  from_pool = false;
  return AlignedBuffer::allocate(bytes);
}

bool SystemAllocator::give_back(AlignedBuffer) { return false; }

Result<AlignedBuffer> PoolAllocator::take(size_t bytes, bool& from_pool) {
  const size_t size = pool_size(bytes);
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(size);
    from_pool = found != kept_.end() && !found->second.empty();
    if (from_pool) {
      AlignedBuffer buffer = std::move(found->second.back());
      found->second.pop_back();
      statistics_.kept_bytes -= size;
      statistics_.served_bytes += size;
      ++statistics_.hits;
      return buffer;
    }
  }
  auto buffer = AlignedBuffer::allocate(size);
  if (buffer) {
    const std::lock_guard lock(mutex_);
    statistics_.served_bytes += size;
    ++statistics_.misses;
  }
  return buffer;
}

bool PoolAllocator::give_back(AlignedBuffer buffer) {
  const std::lock_guard lock(mutex_);
  statistics_.served_bytes -= buffer.size();
  if (statistics_.kept_bytes + buffer.size() > limit_bytes_) return false;
  statistics_.kept_bytes += buffer.size();
  kept_[buffer.size()].push_back(std::move(buffer));
  return true;
}

PoolAllocator::Statistics PoolAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void PoolAllocator::trim() {
  {
    const std::lock_guard lock(mutex_);
    kept_.clear();
    statistics_.kept_bytes = 0;
  }
#ifdef __GLIBC__
  // glibc keeps freed blocks of up to 32 MB once it has seen one of that size, and hands back only
  // what lies at the end of the heap: 90 % of the memory stayed resident.
  ::malloc_trim(0);
#endif
}

Allocator& system_allocator() {
  static SystemAllocator allocator;
  return allocator;
}

}  // namespace trilobite
