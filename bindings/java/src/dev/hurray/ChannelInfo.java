package dev.hurray;

/**
 * What a channel has done so far.
 *
 * @param peerFinished whether the peer sends no more tensors
 * @param peerGone whether the peer is gone, or broke the protocol: nothing comes from it any more, and nothing that was sent is out
 * @param sent tensors sent
 * @param received tensors received
 * @param passedBytes bytes of buffers that were sent without a copy
 * @param copiedBytes bytes of buffers that were copied into shared memory to be sent
 * @param receivedBytes bytes of buffers received, of which none is ever copied
 * @param outstanding tensors sent that the peer has not released, as far as is known here
 * @param held tensors received that have not ended here; views and ByteBuffers count until the collector finds them
 * @param peerPid process of the peer, as the kernel says: for a socketpair, the one that made it
 * @param peerUid user of the peer
 */
public record ChannelInfo(
        boolean peerFinished,
        boolean peerGone,
        long sent,
        long received,
        long passedBytes,
        long copiedBytes,
        long receivedBytes,
        long outstanding,
        long held,
        long peerPid,
        long peerUid) {
    static ChannelInfo read(Scratch scratch) {
        int state = scratch.readInt(Structs.ChannelInfo.STATE);
        return new ChannelInfo(
                (state & Abi.CHANNEL_PEER_FINISHED) != 0,
                (state & Abi.CHANNEL_PEER_GONE) != 0,
                scratch.readLong(Structs.ChannelInfo.SENT),
                scratch.readLong(Structs.ChannelInfo.RECEIVED),
                scratch.readLong(Structs.ChannelInfo.PASSED_BYTES),
                scratch.readLong(Structs.ChannelInfo.COPIED_BYTES),
                scratch.readLong(Structs.ChannelInfo.RECEIVED_BYTES),
                scratch.readLong(Structs.ChannelInfo.OUTSTANDING),
                scratch.readLong(Structs.ChannelInfo.HELD),
                scratch.readLong(Structs.ChannelInfo.PEER_PID),
                scratch.readInt(Structs.ChannelInfo.PEER_UID) & 0xFFFF_FFFFL);
    }
}
