# Saturated UDP uplink over 802.11a at 54 Mbit/s: scenarios/saturation-11a.toml for ns-2.35.

source [file join [file dirname [info script]] cell.tcl]

# Preamble and SIGNAL take 20 us. ns-2 does not pad to whole symbols: 14 bytes at 14 Mbit/s take the 8 us that an ACK
# at 24 Mbit/s takes, so that an exchange ends on a whole microsecond and nobody's slots drift.
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

set stations [argument stations 20]
make_cell $stations 5
set start [new RNG]

# A third more than the cell can carry keeps every queue full without many packets that are made only to be dropped.
set interval [expr {$stations * 1500 * 8 / 40e6}]
for {set i 0} {$i < $stations} {incr i} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 1500
    set sink($i) [new Agent/LossMonitor]
    $cell(ns) attach-agent $cell(sta,$i) $udp
    $cell(ns) attach-agent $cell(ap) $sink($i)
    $cell(ns) connect $udp $sink($i)
    set source [new Application/Traffic/CBR]
    $source set packetSize_ 1500
    $source set interval_ $interval
    $source set random_ 1
    $source attach-agent $udp
    $cell(ns) at [$start uniform 0 0.1] "$source start"
}

# 28 of the 1500 bytes are headers.
proc delivered {} {
    global sink
    set packets 0
    foreach i [array names sink] { incr packets [$sink($i) set npkts_] }
    return [expr {1472.0 * $packets}]
}

run_and_print
