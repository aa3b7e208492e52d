//! Where tiles lie and how long a word travels between them. [exchange §1, §2]

use crate::units::{PhysTile, TileId};

impl PhysTile {
    /// Distance from the exchange spine, 0 to 22. [exchange §1.1 V]
    pub const fn row(self) -> u16 {
        self.index() >> 6
    }

    /// Column, 0 to 15. [exchange §1.1 V]
    pub const fn column(self) -> u16 {
        (self.index() >> 2) & 15
    }

    /// Which of the two directions of entry the tile is wired to. [exchange §1.1 V]
    pub const fn lane(self) -> u16 {
        self.index() & 1
    }

    /// Which member of its exchange pair the tile is. [exchange §1.1 V]
    pub const fn pair_member(self) -> u16 {
        (self.index() >> 1) & 1
    }

    /// The other tile of the exchange pair. [exchange §1.1 V]
    ///
    /// # Panics
    ///
    /// Never: pairs are complete.
    pub const fn partner(self) -> Self {
        match Self::new(self.index() ^ 2) {
            Some(tile) => tile,
            None => panic!("pairs are complete"),
        }
    }

    /// Side of the spine: 0 for columns 0 to 7. [exchange §1.1 V]
    pub const fn half(self) -> u16 {
        self.column() >> 3
    }

    /// Position along the spine, 0 to 7. [exchange §1.1 V]
    pub const fn fold(self) -> u16 {
        if self.half() == 0 {
            self.column()
        } else {
            15 - self.column()
        }
    }

    /// The tile whose request lets this one talk to the host. [exchange §14.1 H]
    ///
    /// # Panics
    ///
    /// Never: the number only shrinks.
    pub const fn owner(self) -> Self {
        match Self::new(self.index() & 0x3d) {
            Some(tile) => tile,
            None => panic!("masking bits never grows a number"),
        }
    }

    /// Position in the owner's request, 0 to 45. [exchange §14.1 H]
    pub const fn request_bit(self) -> u16 {
        2 * self.row() + self.pair_member()
    }

    /// The tile's logical number. [exchange §1.2 V]
    ///
    /// # Panics
    ///
    /// Never: the map is a permutation.
    pub const fn logical(self) -> TileId {
        let block = 2 * self.column() + self.lane();
        let along = if self.lane() == 0 {
            self.row()
        } else {
            22 - self.row()
        };
        match TileId::new(2 * (23 * block + along) + self.pair_member()) {
            Some(tile) => tile,
            None => panic!("the map is a permutation"),
        }
    }
}

impl TileId {
    /// The tile's physical number. [exchange §1.2 V]
    ///
    /// # Panics
    ///
    /// Never: the map is a permutation.
    pub const fn physical(self) -> PhysTile {
        let (pair, member) = (self.index() / 2, self.index() % 2);
        let (block, along) = (pair / 23, pair % 23);
        let row = if block.is_multiple_of(2) {
            along
        } else {
            22 - along
        };
        match PhysTile::new(64 * row + 4 * (block / 2) + block % 2 + 2 * member) {
            Some(tile) => tile,
            None => panic!("the map is a permutation"),
        }
    }
}

/// A direction in which a tile can drive its outgoing bus; the value is its `sctl` bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Direction {
    /// Code 1.
    East = 1,
    /// Code 2.
    West = 2,
}

/// Signed displacement of the route, never 0. [exchange §2.1 V]
pub const fn displacement(source: PhysTile, destination: PhysTile) -> i32 {
    let member = destination.pair_member() as i32;
    let entry = if destination.half() == destination.lane() {
        1 + member
    } else {
        5 - member
    };
    let crossing = (source.half() ^ source.lane()) as i32;
    6 * (destination.fold() as i32 - source.fold() as i32 - crossing) + entry
}

/// The direction a word takes from `source` to `destination`. [exchange §2.1 V]
pub const fn direction(source: PhysTile, destination: PhysTile) -> Direction {
    if displacement(source, destination) >= 1 {
        Direction::East
    } else {
        Direction::West
    }
}

/// The time to multiplexer: a word that leaves `source` at its event `e` is taken by `destination`
/// if the multiplexer control in force there has a stamp of at most `e + T + 1`. [exchange §2.2 V]
pub const fn time_to_mux(source: PhysTile, destination: PhysTile) -> i32 {
    let along = if destination.half() == 0 { 5 } else { 3 };
    let constant = if source.half() == 1 && destination.half() == 0 {
        -14
    } else {
        -30
    };
    along * (source.fold() as i32 - destination.fold() as i32)
        + 2 * (source.row() as i32 - destination.row() as i32)
        + displacement(source, destination).abs()
        + constant
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logical(index: u16) -> TileId {
        TileId::new(index).expect("the test names tiles of the chip")
    }

    #[test]
    fn the_logical_map_is_the_published_permutation() {
        let published = [
            (0, 0),
            (1, 2),
            (2, 64),
            (3, 66),
            (45, 1410),
            (46, 1409),
            (91, 3),
            (92, 4),
            (100, 260),
            (274, 9),
            (735, 31),
            (736, 32),
            (1286, 53),
            (1471, 63),
        ];
        for (tile, physical) in published {
            assert_eq!(logical(tile).physical().index(), physical, "tile {tile}");
        }
        for tile in TileId::all() {
            assert_eq!(tile.physical().logical(), tile);
        }
    }

    #[test]
    fn routes_take_the_published_times() {
        // source, destination, displacement, time: the worked examples. [exchange §2.3]
        let worked = [
            (0, 1, 2, -28),
            (1, 0, 1, -29),
            (0, 2, 1, -31),
            (2, 0, 1, -27),
            (0, 45, 2, -72),
            (0, 46, 5, -69),
            (46, 0, -5, 19),
            (0, 735, 46, -19),
            (735, 0, -47, 52),
            (0, 736, 47, -4),
            (736, 0, -47, 68),
            (736, 100, -41, 49),
            (100, 736, 41, 1),
            (0, 1286, 13, -23),
            (1286, 1471, -10, -14),
            (32, 0, 1, 3),
            (274, 1286, -5, -25),
            (1471, 0, 1, -13),
            (0, 1471, 2, -28),
            (90, 136, 1, -78),
            (780, 0, -47, 112),
            (900, 1023, -8, -8),
        ];
        for (source, destination, far, time) in worked {
            let (s, d) = (logical(source).physical(), logical(destination).physical());
            assert_eq!(displacement(s, d), far, "{source} to {destination}");
            assert_eq!(time_to_mux(s, d), time, "{source} to {destination}");
        }
    }

    #[test]
    fn both_tiles_of_a_pair_lie_in_one_direction_one_event_apart() {
        for source in PhysTile::all().step_by(7) {
            for tile in PhysTile::all() {
                assert_eq!(direction(source, tile), direction(source, tile.partner()));
                let apart = time_to_mux(source, tile) - time_to_mux(source, tile.partner());
                assert_eq!(apart.abs(), 1);
            }
        }
    }
}
