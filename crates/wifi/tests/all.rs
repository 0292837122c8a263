//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod ampdu;
mod ampdu_agrees;
mod cell;
mod driver;
mod edca;
mod edca_agrees;
mod firmware;
mod hardware;
mod interference;
mod losses;
mod mac;
mod missed_preamble;
mod multi_user;
mod phy_timing;
mod phy_timing_ns3;
mod phy_timing_theory;
mod saturation;
mod several_bss;
mod several_users_agrees;
mod shared_views;
mod twin;
mod twin_agrees;
mod twin_self;
