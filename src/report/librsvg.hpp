#pragma once
// librsvg, and cairo and glib through it, loaded when a picture is made.

#include <cairo.h>
#include <librsvg/rsvg.h>

#include "base/lazy_library.hpp"

namespace trilobite {

inline constinit const LazyLibrary librsvg("librsvg-2.so.2");

TRILOBITE_LAZY_FUNCTION(librsvg, cairo_create);
TRILOBITE_LAZY_FUNCTION(librsvg, cairo_destroy);
TRILOBITE_LAZY_FUNCTION(librsvg, cairo_image_surface_create);
TRILOBITE_LAZY_FUNCTION(librsvg, cairo_surface_destroy);
TRILOBITE_LAZY_FUNCTION(librsvg, cairo_surface_write_to_png_stream);
TRILOBITE_LAZY_FUNCTION(librsvg, g_error_free);
TRILOBITE_LAZY_FUNCTION(librsvg, g_object_unref);
TRILOBITE_LAZY_FUNCTION(librsvg, rsvg_handle_get_intrinsic_size_in_pixels);
TRILOBITE_LAZY_FUNCTION(librsvg, rsvg_handle_new_from_data);
TRILOBITE_LAZY_FUNCTION(librsvg, rsvg_handle_render_document);

}  // namespace trilobite
