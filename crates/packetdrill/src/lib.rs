//! Packetdrill scripts against the TCP endpoint under a virtual clock.

mod lexer;
mod packet_syntax;
mod parser;
mod script;
