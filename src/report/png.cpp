#include "report/png.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "report/librsvg.hpp"

namespace trilobite {
namespace {

constexpr double kMostPixels = 32767;  // of a side: cairo's limit

struct Release {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(GError* error) const { g_error_free(error); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

cairo_status_t append(void* text, const unsigned char* bytes, unsigned count) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

std::unexpected<Error> failure(const char* what, GError* error) {
  const Owned<GError> owned(error);
  return fail(fmt::format("the chart could not be {}: {}", what,
                          error != nullptr ? error->message : "no reason given"));
}

}  // namespace

Result<std::string> svg_to_png(const std::string& svg, double scale) {
  if (auto loaded = librsvg.load(); !loaded) return fail_from(loaded);
  GError* error = nullptr;
  const Owned<RsvgHandle> handle(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (!handle) return failure("read", error);
  double width = 0;
  double height = 0;
  if (!rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height))
    return fail("the chart has no size");
  width = std::ceil(width * scale);
  height = std::ceil(height * scale);
  if (!(width >= 1 && height >= 1 && width <= kMostPixels && height <= kMostPixels)) {
    return fail(
        fmt::format("a picture of {} x {} pixels is too large, at most {} a side; choose "
                    "fewer charts or write SVG",
                    width, height, kMostPixels));
  }
  const Owned<cairo_surface_t> surface(cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, static_cast<int>(width), static_cast<int>(height)));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  const RsvgRectangle viewport{0, 0, width, height};
  if (!rsvg_handle_render_document(handle.get(), context.get(), &viewport, &error))
    return failure("drawn", error);
  std::string png;
  if (cairo_surface_write_to_png_stream(surface.get(), append, &png) != CAIRO_STATUS_SUCCESS)
    return fail("the picture could not be written as PNG");
  return png;
}

}  // namespace trilobite
