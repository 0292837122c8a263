# One access point with stations on a circle round it, for ns-2.35; the scenarios source this file.
#
# Only the packet headers that are used, no traces: with all of ns-2's headers the same runs take half as long again.
# The wired side is a pair of links behind the access point's ports, so that no routing protocol runs: a station sends
# to a port of the access point, and that port leads through the link to the server's agent.

remove-all-packet-headers
add-packet-header Common Flags IP LL Mac ARP TCP RTP

# Dropped packets are freed; without a trace file ns-2 would have nowhere to put them.
Node/MobileNode instproc mobility-trace {kind layer} { return [[Simulator instance] set nullAgent_] }

proc argument {name default} {
    global argv
    set at [lsearch -exact $argv "--$name"]
    return [expr {$at < 0 ? $default : [lindex $argv [expr {$at + 1}]]}]
}

# Makes the simulator, the access point `$cell(ap)` and the stations `$cell(sta,0)`, `$cell(sta,1)`, ...
proc make_cell {stations radius} {
    global cell
    set cell(ns) [new Simulator]
    set scheduler [argument scheduler ""]
    if {$scheduler ne ""} { $cell(ns) use-scheduler $scheduler }
    ns-random [argument seed 1]

    # Everybody hears everybody, and two frames at once at the access point destroy each other: equal distances.
    set topography [new Topography]
    $topography load_flatgrid 100 100
    create-god [expr {$stations + 1}]
    $cell(ns) node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail -ifqLen 50 \
        -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
        -channel [new Channel/WirelessChannel] -topoInstance $topography \
        -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
    set cell(ap) [place 50 50]
    for {set i 0} {$i < $stations} {incr i} {
        set angle [expr {2 * 3.14159265358979 * $i / $stations}]
        set cell(sta,$i) [place [expr {50 + $radius * cos($angle)}] [expr {50 + $radius * sin($angle)}]]
    }
}

proc place {x y} {
    global cell
    set node [$cell(ns) node]
    $node random-motion 0
    $node set X_ $x
    $node set Y_ $y
    $node set Z_ 0
    return $node
}

# One direction of a wired link: a queue and a delay that lead to `target`. Returns where packets enter.
proc wire {rate delay packets target} {
    set queue [new Queue/DropTail]
    $queue set limit_ $packets
    set link [new DelayLink]
    $link set bandwidth_ $rate
    $link set delay_ $delay
    $queue target $link
    $queue drop-target [[Simulator instance] set nullAgent_]
    $link target $target
    return $queue
}

# Runs until `--duration` and prints what `delivered` (bytes so far) gained after `--warmup`.
proc run_and_print {} {
    global cell
    set duration [argument duration 10]
    set warmup [argument warmup 1]
    $cell(ns) at $warmup "set cell(before) \[delivered\]"
    $cell(ns) at $duration "print_goodput [expr {$duration - $warmup}]; exit 0"
    $cell(ns) run
}

proc print_goodput {seconds} {
    global cell
    puts "goodput_bps [expr {8.0 * ([delivered] - $cell(before)) / $seconds}]"
}
