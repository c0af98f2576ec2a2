// The driver's commands; each returns an exit code.
#pragma once

#include <string>

#include "transport.hpp"

namespace driver {

/// One JSON line about this runtime and the library it loaded.
int about();
/// Reads paths of descriptors from standard input; one JSON line each: every field and the bytes encoded again.
int golden();
/// From where the transport says to where it says, a tensor at a time, with a report.
int relay(const std::string& names, const std::string& report, const Transport& transport);
/// Reads pairs of ends from standard input: all tensors of the one go to the other; one JSON line each.
int pass(const std::string& names);
/// A model file to where the transport says; writes the list of names.
int source(const std::string& model, const std::string& names, const std::string& report, const Transport& transport);
/// From where the transport says to a safetensors file.
int sink(const std::string& names, const std::string& report, const std::string& model, const Transport& transport);
/// Compares two model files: names, types, shapes and every element byte; one JSON line on standard output.
int compare(const std::string& first, const std::string& second);
/// Writes the demonstration's own model.
int make_model(const std::string& model);

}  // namespace driver
