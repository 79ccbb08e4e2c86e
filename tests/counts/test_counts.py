# SPDX-License-Identifier: Apache-2.0
"""The comparison of counts.py on planted tables, and that the committed table is whole."""
import unittest

from counts import ISAS, compare, read_table

RMS, LAYER = ("avx2", "rms_norm/f32"), ("avx2", "layer_norm/f32")


class Compare(unittest.TestCase):
    def compare(self, found, table):
        wrong, better = compare({key: (calls, 1) for key, calls in found.items()}, table)
        return len(wrong), len(better)

    def test_two_percent_of_slack(self):
        for now, expected in ((1000, (0, 0)), (1020, (0, 0)), (1021, (1, 0)), (980, (0, 0)), (979, (0, 1))):
            self.assertEqual(self.compare({RMS: now}, {RMS: 1000}), expected, now)

    def test_a_cell_that_is_missing_on_one_side(self):
        self.assertEqual(self.compare({RMS: 1, LAYER: 1}, {RMS: 1}), (1, 0))
        self.assertEqual(self.compare({RMS: 1}, {RMS: 1, LAYER: 1}), (1, 0))

    def test_the_committed_table_is_whole(self):
        table = read_table()
        self.assertGreaterEqual(len(table), 24)
        names = [{cell for isa, cell in table if isa == name} for name in ISAS]
        self.assertEqual(names[0], names[1])
        self.assertTrue(all(calls > 0 for calls in table.values()))


if __name__ == "__main__":
    unittest.main(verbosity=0)
