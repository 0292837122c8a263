//! The order in which Minstrel samples rates: columns, each a random order of the rows.
//!
//! Every row comes once before any row comes again. [Linux 3.10, rc80211_minstrel.c, init_sample_table] A row `i` gets
//! a place at a random distance from `i`, or else the next free one, as in Linux.

use lasthop_engine::Stream;

/// Columns of a table. [Linux 3.10, rc80211_minstrel.h, SAMPLE_COLUMNS]
const COLUMNS: usize = 10;

/// The table.
pub(super) struct SampleTable {
    rows: usize,
    /// The rows, column after column.
    order: Vec<u16>,
}

/// A position in a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor(usize);

impl SampleTable {
    /// A table for `rows` rates, at least one.
    pub fn new(rows: usize, stream: &mut Stream) -> SampleTable {
        const FREE: u16 = u16::MAX;
        let mut order = vec![FREE; rows * COLUMNS];
        for column in order.chunks_mut(rows) {
            for row in 0..rows {
                let mut place = (row + stream.up_to(rows as u32 - 1) as usize) % rows;
                while column[place] != FREE {
                    place = (place + 1) % rows;
                }
                column[place] = row as u16;
            }
        }
        SampleTable { rows, order }
    }

    /// The row at `cursor`, which moves on through all columns and then starts over.
    pub fn next(&self, cursor: &mut Cursor) -> usize {
        let row = self.order[cursor.0];
        cursor.0 = (cursor.0 + 1) % self.order.len();
        usize::from(row)
    }
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_comes_once_in_each_column_and_the_columns_differ() {
        let table = SampleTable::new(8, &mut Stream::new(1, "test", 0));
        let mut cursor = Cursor::default();
        let columns: Vec<Vec<usize>> = (0..10).map(|_| (0..8).map(|_| table.next(&mut cursor)).collect()).collect();
        for column in &columns {
            let mut sorted = column.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
        assert!(columns.iter().any(|c| *c != columns[0]));
        assert_eq!(table.next(&mut cursor), columns[0][0]);
    }
}
