// SPDX-License-Identifier: Apache-2.0
// The order in which the tiles of a batch are taken through their two passes.
#pragma once

#include "tile.hpp"

namespace rownorm {

// Several tiles, for run_tiles().
template <class Work>
[[gnu::noinline]] int64_t run_pipelined(Work &work, int64_t rows, int64_t rows_of_tile, bool ahead) {
    Tile tiles[2];
    int64_t here = rows_of_tile;
    work.sum(0, here, tiles[0]);
    for (int64_t row = 0, i = 0;; i ^= 1) {
        if (__builtin_expect(!work.close(row, here, tiles[i]), 0))
            return row;
        const int64_t next = row + here, left = rows - next, then = left < rows_of_tile ? left : rows_of_tile;
        if (ahead && left > 0)
            work.sum(next, then, tiles[i ^ 1]);
        work.write(row, here, tiles[i]);
        if (left <= 0)
            return rows;
        if (!ahead)
            work.sum(next, then, tiles[i ^ 1]);
        row = next;
        here = then;
    }
}

// Work sums the rows of a tile, closes it, which is to find what the rows are scaled by and says whether to go on,
// and writes it; each is told the tile's first row and its rows. With `ahead` the next tile is summed before this one
// is written: its loads and additions fill the time that this one's roots and divisions take. Returns the row at
// which it stopped, or `rows`.
template <class Work>
inline int64_t run_tiles(Work &work, int64_t rows, int64_t rows_of_tile, bool ahead) {
    if (rows > rows_of_tile)
        return run_pipelined(work, rows, rows_of_tile, ahead);
    Tile tile;
    work.sum(0, rows, tile);
    if (__builtin_expect(!work.close(0, rows, tile), 0))
        return 0;
    work.write(0, rows, tile);
    return rows;
}

} // namespace rownorm
