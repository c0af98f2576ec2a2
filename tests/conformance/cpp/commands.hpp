// The driver's commands; each returns an exit code.
#pragma once

#include <string>

namespace driver {

/// One JSON line about this runtime and the library it loaded.
int about();
/// Reads paths of descriptors from standard input; one JSON line each: every field and the bytes encoded again.
int golden();
/// Standard input to standard output, a tensor at a time, with a report.
int relay(const std::string& names, const std::string& report);
/// A model file to a stream on standard output; writes the list of names.
int source(const std::string& model, const std::string& names, const std::string& report);
/// A stream on standard input to a safetensors file.
int sink(const std::string& names, const std::string& report, const std::string& model);
/// Compares two model files: names, types, shapes and every element byte; one JSON line on standard output.
int compare(const std::string& first, const std::string& second);
/// Writes the demonstration's own model.
int make_model(const std::string& model);

}  // namespace driver
