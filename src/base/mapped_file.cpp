#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace trilobite {
namespace {

struct Mapping {
  const std::byte* data;
  size_t size;
};

Result<Mapping> map_descriptor(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail("it is not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return Mapping{nullptr, 0};
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return fail(std::strerror(errno));
  return Mapping{static_cast<const std::byte*>(data), size};
}

}  // namespace

Result<MappedFile> MappedFile::open(const Path& path) {
  const auto doing = fmt::format("cannot open {}", path.string());
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(doing + ": " + std::strerror(errno));
  const auto mapping = map_descriptor(fd);
  ::close(fd);  // the mapping stays
  if (!mapping) return fail_from(mapping, doing);
  return MappedFile(mapping->data, mapping->size);
}

void MappedFile::release(std::span<const std::byte> part) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto last = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  // A failure costs memory, nothing else.
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace trilobite
