package dev.hurray;

/**
 * Facts about a {@link Composite}.
 *
 * @param memberCount number of members, without those inside of them
 * @param descriptorCount descriptors in all: the head and, at all levels, those of the members
 * @param depth heads on the longest way down, this one included
 * @param ruleTag number of the composition rule, which may be a private one
 * @param combineOpTag number of the way in which corrections apply
 * @param hasElements whether there is a number at each index: of partitions and overlays whose members have that, too
 */
public record CompositeInfo(long memberCount, long descriptorCount, int depth, int ruleTag, int combineOpTag, boolean hasElements) {
    /** The composition rule; {@link CompositionRule#UNKNOWN} for a private one. */
    public CompositionRule rule() {
        return CompositionRule.of(ruleTag);
    }

    /** How corrections apply to the base of an overlay. */
    public CombineOp combineOp() {
        return CombineOp.of(combineOpTag);
    }
}
