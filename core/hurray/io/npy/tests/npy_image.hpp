// .npy files in memory, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/hurray/io/file_bytes.hpp"
#include "core/hurray/io/tests/image.hpp"

namespace hurray {

/// Magic, version, length and text, without any padding.
inline std::string npy_prefix(std::string_view text, unsigned version = 1) {
    std::string image = "\x93NUMPY";
    image += static_cast<char>(version);
    image += '\0';
    const unsigned length_bytes = version == 1 ? 2 : 4;
    for (unsigned k = 0; k < length_bytes; ++k) image += static_cast<char>((text.size() >> (8 * k)) & 0xFF);
    image += text;
    return image;
}

/// The text that NumPy writes.
inline std::string npy_dictionary(std::string_view descr, std::string_view shape, bool fortran_order = false) {
    return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
           ", 'shape': " + std::string(shape) + ", }";
}

/// A whole file; the data starts at a multiple of 64, as NumPy has it.
inline std::string npy_image(std::string_view descr, std::string_view shape, std::string_view data,
                             bool fortran_order = false) {
    std::string text = npy_dictionary(descr, shape, fortran_order);
    text.append(63 - (10 + text.size()) % 64, ' ');
    text += '\n';
    return npy_prefix(text) + std::string(data);
}

/// The file as one that is mapped: the image lives as long as a tensor does.
inline FileBytes mapped_image(std::string image) {
    auto* storage = new ImageStorage(std::move(image));
    return FileBytes::over(storage->bytes(), Ref<Storage>::adopt(storage));
}

}  // namespace hurray
