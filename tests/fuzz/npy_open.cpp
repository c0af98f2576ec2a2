// Any bytes as a .npy file: refused with a reason, or open and consistent.
#include "core/hurray/io/npy/npy_file.hpp"
#include "tests/fuzz/numpy_file_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hurray;
    const std::span<const std::byte> image(reinterpret_cast<const std::byte*>(data), size);
    const auto opened = NpyFile::open(FileBytes::over(image, {}));
    if (!opened) {
        fuzz::check_refusal(opened.error(), size);
        return 0;
    }
    const NpyFile& file = **opened;
    HURRAY_FUZZ_CHECK(recognises_npy(image, size));
    HURRAY_FUZZ_CHECK(file.header().data_offset + file.header().data_size + file.trailing_bytes() == size);
    const bool bools = file.header().type.is_bool();
    fuzz::check_numpy_tensor(file, image, 0, bools, file.header().type.is_direct());
    return 0;
}
