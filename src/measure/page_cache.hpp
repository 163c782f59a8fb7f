#pragma once
// Files in and out of the kernel's page cache, so that loading can be measured cold and warm.

#include "base/error.hpp"
#include "base/file.hpp"

namespace trilobite {

/// The share of a file's pages that are in memory now, 0 to 1.
Result<double> resident_share(const Path& path);

/// Writes the file's changes to disk and asks the kernel to forget its pages. Pages that somebody
/// has mapped stay; `resident_share` tells.
Result<void> drop_from_page_cache(const Path& path);

}  // namespace trilobite
