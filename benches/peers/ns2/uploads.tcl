# NewReno uploads through one access point, for ns-2.35; the scripts that set the PHY and the MAC source this file.

# 1460 bytes and 40 of headers; every segment is acknowledged; the receiver's window never binds.
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2

set stations [argument stations 10]
make_cell $stations 10
set start [new RNG]

for {set i 0} {$i < $stations} {incr i} {
    set tcp($i) [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $cell(ns) attach-agent $cell(sta,$i) $tcp($i)
    $cell(ns) attach-agent $cell(ap) $sink
    $cell(ns) connect $tcp($i) $sink
    [$cell(ap) demux] install [$sink set agent_port_] [wire 100Mb 50ms 1000 $sink]
    if {$i == 0} { set back [wire 100Mb 50ms 1000 [$cell(ap) entry]] }
    $sink target $back
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $cell(ns) at [$start uniform 0 0.1] "$ftp start"
}

proc delivered {} {
    global tcp
    set segments 0
    foreach i [array names tcp] { incr segments [$tcp($i) set ack_] }
    return [expr {1460.0 * $segments}]
}

run_and_print
