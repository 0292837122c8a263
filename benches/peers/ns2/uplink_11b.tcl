# Ten NewReno uploads over 802.11b at a fixed 11 Mbit/s: scenarios/khademi2011-uplink-11b.toml for ns-2.35.

source [file join [file dirname [info script]] cell.tcl]

Mac/802_11 set dataRate_ 11Mb
Mac/802_11 set basicRate_ 2Mb
Mac/802_11 set PLCPDataRate_ 1Mb
Mac/802_11 set PreambleLength_ 144
Mac/802_11 set PLCPHeaderLength_ 48
Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
Mac/802_11 set CWMin_ 31
Mac/802_11 set CWMax_ 1023
Mac/802_11 set RTSThreshold_ 3000

source [file join [file dirname [info script]] uploads.tcl]
