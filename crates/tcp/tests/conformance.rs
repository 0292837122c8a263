mod dumbbell;
use dumbbell::{Bottleneck, Dumbbell, jain, seconds};
use lasthop_tcp::congestion_control::Algorithm;
use lasthop_tcp::{Config, Profile};
use lasthop_units::Duration;

#[test]
fn explore() {
    for algorithm in Algorithm::all() {
        let start = std::time::Instant::now();
        let config = Config { congestion_control: algorithm.clone(), ..Profile::Linux.config() };
        let path = Bottleneck::wired(20e6, Duration::from_millis(40), 1.0);
        let mut single = Dumbbell::single(path.clone(), &config);
        let d = single.delivered_between(seconds(20.0), seconds(60.0))[0];
        let util = d as f64 * 8.0 / 40.0 / 20e6 * 1500.0 / 1448.0;
        let mut line = format!("{:14} util {util:.3}", algorithm.name());
        line += &format!(" rto {} rtx {}", single.flows[0].sender.counters().timeouts, single.flows[0].sender.counters().segments_retransmitted);
            if ["bic","illinois","fast","vegas","newreno"].contains(&algorithm.name()) { for (n, bdps) in [(2, 1.0), (4, 1.0)] {
            let flows: Vec<_> = (0..n).map(|i| (config.clone(), seconds(10.0 * f64::from(i)))).collect();
            let mut world = Dumbbell::new(Bottleneck::wired(20e6, Duration::from_millis(40), bdps), &flows);
            let shares = world.delivered_between(seconds(100.0), seconds(200.0));
            line += &format!(" | {n} flows, {bdps} BDP: jain {:.3} {:?}", jain(&shares), shares.iter().map(|s| (*s as f64 * 8.0 / 1e8 ).round()/1.0).collect::<Vec<_>>());
            line += &format!("{:?}", world.flows.iter().map(|f| (f.sender.counters().timeouts, f.sender.counters().segments_retransmitted, f.sender.counters().fast_retransmits)).collect::<Vec<_>>()); }
        }
        println!("{line} {:?}", start.elapsed());
    }
}
