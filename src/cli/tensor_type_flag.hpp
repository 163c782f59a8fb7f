#pragma once
// A flag whose value is a tensor type ("Q4_0", "tq2_0"); CLI11 reports what is none.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "modelfile/tensor_codec.hpp"

namespace trilobite::cli {

class TensorTypeFlag {
 public:
  CLI::Option* add_to(CLI::App& app, const std::string& name, const std::string& what) {
    return app.add_option(name, text_, what)
        ->check(CLI::Validator(
            [](const std::string& text) {
              const auto type = modelfile::parse_tensor_type(text);
              return type ? std::string() : type.error().message();
            },
            "TYPE"));
  }
  /// Nothing when the flag was not given.
  std::optional<gguf::TensorType> value() const {
    return text_.empty() ? std::nullopt : std::optional(*modelfile::parse_tensor_type(text_));
  }

 private:
  std::string text_;
};

}  // namespace trilobite::cli
