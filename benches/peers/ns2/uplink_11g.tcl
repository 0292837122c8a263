# Ten NewReno uploads over 802.11g at 54 Mbit/s: benches/scenarios/uplink-11g.toml for ns-2.35.

source [file join [file dirname [info script]] cell.tcl]

# Preamble and SIGNAL take 20 us. An OFDM frame of 802.11g is followed by 6 us of silence, which ns-2 does not have: SIFS is
# longer by them. It does not pad to whole symbols either: see saturation_11a.tcl.
Mac/802_11 set dataRate_ 54Mb
Mac/802_11 set basicRate_ 14Mb
Mac/802_11 set PLCPDataRate_ 6Mb
Mac/802_11 set PreambleLength_ 96
Mac/802_11 set PLCPHeaderLength_ 24
Mac/802_11 set SlotTime_ 0.000009
Mac/802_11 set SIFS_ 0.000016
Mac/802_11 set CWMin_ 15
Mac/802_11 set CWMax_ 1023
Mac/802_11 set RTSThreshold_ 3000

source [file join [file dirname [info script]] uploads.tcl]
