using System;

namespace Hurray.Interop;

/// <summary>Steps through a strided tensor in row-major order, in runs along the innermost dimension. Dimensions that lie in
/// memory like one are joined beforehand, so that runs are long.</summary>
internal readonly struct Walk
{
    private readonly long[] _shape;
    private readonly long[] _strides;

    public Walk(ReadOnlySpan<long> shape, ReadOnlySpan<long> strides)
    {
        var sizes = new long[shape.Length];
        var steps = new long[shape.Length];
        int rank = 0;
        for (int k = 0; k < shape.Length; ++k)
        {
            if (shape[k] == 1)
            {
                continue;
            }

            // Steps of a whole inner dimension: the two are one. The products are those of real elements, which fit.
            if (rank > 0 && steps[rank - 1] == unchecked(strides[k] * shape[k]))
            {
                sizes[rank - 1] *= shape[k];
                steps[rank - 1] = strides[k];
                continue;
            }

            sizes[rank] = shape[k];
            steps[rank] = strides[k];
            ++rank;
        }

        _shape = sizes[..rank];
        _strides = steps[..rank];
    }

    /// <summary>What one run calls back with.</summary>
    public interface IRun
    {
        /// <summary>Some elements in a row.</summary>
        /// <param name="offset">The first, in elements from element (0, ..., 0).</param>
        /// <param name="stride">From one to the next.</param>
        /// <param name="done">How many came before in this walk.</param>
        /// <param name="count">How many there are.</param>
        void Run(long offset, long stride, int done, int count);
    }

    /// <summary>Walks over <paramref name="count"/> elements from the one with row-major index <paramref name="start"/>; the
    /// caller has checked that they exist.</summary>
    public void Over<TRun>(long start, int count, ref TRun run)
        where TRun : struct, IRun
    {
        if (count == 0)
        {
            return;
        }

        int rank = _shape.Length;
        if (rank == 0)
        {
            run.Run(0, 0, 0, count);
            return;
        }

        Span<long> index = stackalloc long[(int)ShapeLimit.MaxRank];
        long offset = 0;
        long rest = start;
        for (int k = rank - 1; k >= 0; --k)
        {
            index[k] = rest % _shape[k];
            rest /= _shape[k];
            offset += index[k] * _strides[k];
        }

        int inner = rank - 1;
        int done = 0;
        while (true)
        {
            int length = (int)Math.Min(_shape[inner] - index[inner], count - done);
            run.Run(offset, _strides[inner], done, length);
            done += length;
            if (done == count)
            {
                return;
            }

            // The run ended at the end of the innermost dimension: carry over to the others.
            offset -= index[inner] * _strides[inner];
            index[inner] = 0;
            for (int k = inner - 1; k >= 0; --k)
            {
                offset += _strides[k];
                if (++index[k] < _shape[k])
                {
                    break;
                }

                offset -= _shape[k] * _strides[k];
                index[k] = 0;
            }
        }
    }
}
