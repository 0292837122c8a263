//! `[[wall]]`: walls between antennas.

use lasthop_registry::{Kind, ParamError, params};
use lasthop_units::{Db, Metres};
use lasthop_wifi::phy::path_loss::{Position, Wall};

params! {
    /// A wall, for path_loss = "multi_wall".
    pub(crate) struct WallSection {
        /// Start of the wall.
        pub from: [Metres; 2] = [Metres(0.0), Metres(0.0)],
        /// End of the wall.
        pub to: [Metres; 2] = [Metres(0.0), Metres(0.0)],
        /// Loss of a signal that passes through.
        pub loss: Db = Db(5.0),
    }
    check |this, path| {
        if this.from == this.to {
            let message = (Kind::NoEffect(format!("it begins and ends at ({}, {}): a wall of zero length has no effect", this.from[0], this.from[1])), "give different places for from and to");
            return Err(ParamError::new(path, message));
        }
        if this.loss.0 < 0.0 {
            return Err(ParamError::new(format!("{path}.loss"), format!("{} is negative: no wall amplifies", this.loss)));
        }
        Ok(())
    }
}

impl WallSection {
    pub(crate) fn wall(&self) -> Wall {
        let place = |p: [Metres; 2]| Position { x: p[0], y: p[1] };
        Wall { from: place(self.from), to: place(self.to), loss: self.loss }
    }
}
