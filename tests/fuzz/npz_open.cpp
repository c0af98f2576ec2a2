// Any bytes as a .npz file: refused with a reason, or open and consistent.
#include "core/hurray/io/npz/npz_file.hpp"
#include "tests/fuzz/numpy_file_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hurray;
    const std::span<const std::byte> image(reinterpret_cast<const std::byte*>(data), size);
    const auto opened = NpzFile::open(FileBytes::over(image, {}));
    if (!opened) {
        fuzz::check_refusal(opened.error(), size);
        return 0;
    }
    const NpzFile& file = **opened;
    for (std::uint64_t index = 0; index < file.tensor_count(); ++index) {
        fuzz::check_numpy_tensor(file, image, index, true, true);
        if (const auto checked = file.check_member(index); !checked) fuzz::check_refusal(checked.error(), size);
    }
    return 0;
}
