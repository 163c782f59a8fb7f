#include "measure/page_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/mapped_file.hpp"

namespace trilobite {

Result<double> resident_share(const Path& path) {
  const auto file = MappedFile::open(path);
  if (!file) return fail_from(file);
  const auto bytes = file->bytes();
  if (bytes.empty()) return 0.0;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes.size() + page - 1) / page);
  if (::mincore(const_cast<std::byte*>(bytes.data()), bytes.size(), pages.data()) != 0)
    return fail(fmt::format("mincore of {}: {}", path.string(), std::strerror(errno)),
                ErrorKind::environment);
  const auto resident = std::ranges::count_if(pages, [](auto flags) { return (flags & 1) != 0; });
  return static_cast<double>(resident) / static_cast<double>(pages.size());
}

Result<void> drop_from_page_cache(const Path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  ::fdatasync(file);  // pages that have not been written yet cannot be forgotten
  const int error = ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
  if (error == 0) return {};
  return fail(fmt::format("posix_fadvise of {}: {}", path.string(), std::strerror(error)),
              ErrorKind::environment);
}

}  // namespace trilobite
