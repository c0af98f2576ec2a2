package dev.hurray;

/** What a {@link Descriptor} and a {@link TensorView} both tell of a tensor. Immutable; any thread may ask. */
public abstract sealed class TensorFacts permits Descriptor, TensorView {
    final int elementTypeTag;
    final int layoutTag;
    final int bits;
    final long[] shape;
    final long elementCount;

    TensorFacts(int elementTypeTag, int layoutTag, int bits, long[] shape, long elementCount) {
        this.elementTypeTag = elementTypeTag;
        this.layoutTag = layoutTag;
        this.bits = bits;
        this.shape = shape;
        this.elementCount = elementCount;
    }

    /** The element type; {@link ElementType#UNKNOWN} for a private one. */
    public ElementType elementType() {
        return ElementType.of(elementTypeTag);
    }

    /** The number of the element type. */
    public int elementTypeTag() {
        return elementTypeTag;
    }

    /** Bits of one element. */
    public int elementBits() {
        return bits;
    }

    /** The layout; {@link Layout#UNKNOWN} for a private one. */
    public Layout layout() {
        return Layout.of(layoutTag);
    }

    /** The number of the layout. */
    public int layoutTag() {
        return layoutTag;
    }

    /** Number of dimensions. */
    public int rank() {
        return shape.length;
    }

    /** Sizes in elements, {@link Descriptor#DYNAMIC} for one that is not known, which a view has none of; a new array. */
    public long[] shape() {
        return shape.clone();
    }

    /** Product of the shape; {@link Descriptor#DYNAMIC} when a dimension is. */
    public long elementCount() {
        return elementCount;
    }
}
