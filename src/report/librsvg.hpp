#pragma once
// librsvg, and cairo and glib through it, loaded when a picture is made.

#include <cairo.h>
#include <librsvg/rsvg.h>

#include "base/lazy_library.hpp"

namespace trilobite {

inline constinit const LazyLibrary librsvg("librsvg-2.so.2");

#define TRILOBITE_LIBRSVG(name) \
  inline constinit const LazyFunction<decltype(::name)> name{librsvg, #name}
TRILOBITE_LIBRSVG(cairo_create);
TRILOBITE_LIBRSVG(cairo_destroy);
TRILOBITE_LIBRSVG(cairo_image_surface_create);
TRILOBITE_LIBRSVG(cairo_surface_destroy);
TRILOBITE_LIBRSVG(cairo_surface_write_to_png_stream);
TRILOBITE_LIBRSVG(g_error_free);
TRILOBITE_LIBRSVG(g_object_unref);
TRILOBITE_LIBRSVG(rsvg_handle_get_intrinsic_size_in_pixels);
TRILOBITE_LIBRSVG(rsvg_handle_new_from_data);
TRILOBITE_LIBRSVG(rsvg_handle_render_document);
#undef TRILOBITE_LIBRSVG

}  // namespace trilobite
