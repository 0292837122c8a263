//! Hosts in a guest with its own kernel, whose first process is this program.
//!
//! The kernel is User Mode Linux: `LASTHOP_UML_KERNEL`, or `linux.uml` along the path. With time travel the guest's
//! time is virtual, and two runs are then the same.

#[cfg(target_os = "linux")]
mod bench;

#[cfg(target_os = "linux")]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use lasthop_emulation::host::guest;
    use lasthop_emulation::traffic::{Side, Traffic};
    use rustix::process::{Pid, Signal, kill_process_group};

    use crate::bench::{Outcome, Pair, now_ns};

    /// Delay of a packet on its way.
    const DELAY_NS: u64 = 5_000_000;

    /// Runs as the first process of the guest.
    pub fn first_process() {
        guest::mount_guest().unwrap();
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let module = PathBuf::from(format!("/usr/lib/uml/modules/{release}/kernel/drivers/net/tun.ko"));
        if module.exists() {
            guest::load_module(&module).unwrap();
        }
        guest::go_on_below_init(|status| println!("status {status}")).unwrap();
        println!("process {}", std::process::id());
        carry();
        std::process::exit(9);
    }

    /// Carries 200 kB over a path with a constant delay, and prints when each packet was read.
    fn carry() {
        let pair = Pair::new(10_000).unwrap();
        let mut transfer = pair.transfer(Side::Station);
        transfer.size = Some(200_000);
        let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
        traffic.ready().unwrap();
        let zero_ns = now_ns();
        traffic.begin(zero_ns).unwrap();
        let (mut digest, mut packets) = (0u64, 0);
        pair.relay(
            DELAY_NS,
            |_, _| {
                digest = (digest ^ (now_ns() - zero_ns)).wrapping_mul(0x0100_0000_01b3);
                packets += 1;
                true
            },
            || !traffic.completions().is_empty(),
        );
        assert_eq!(traffic.failure(), None);
        let ms = (now_ns() - zero_ns) as f64 / 1e6;
        println!("carried in {ms:.3} ms, {packets} packets, digest {digest:016x}");
    }

    fn kernel() -> Result<PathBuf, String> {
        if let Some(path) = std::env::var_os("LASTHOP_UML_KERNEL") {
            return Ok(path.into());
        }
        let stock = Path::new("/usr/bin/linux.uml");
        let missing = "there is no User Mode Linux here (apt-get install user-mode-linux)";
        stock.exists().then(|| stock.to_owned()).ok_or_else(|| missing.to_owned())
    }

    /// Boots the guest, and returns its output. It is killed after twenty seconds.
    fn boot() -> Result<Vec<String>, String> {
        use std::os::unix::process::CommandExt;
        let (kernel, program) = (kernel()?, std::env::current_exe().unwrap());
        let mut command = Command::new(kernel);
        command.args([
            "mem=256M",
            "time-travel=inf-cpu",
            "rootfstype=hostfs",
            "rootflags=/",
            "rw",
            "norandmaps",
            "quiet",
        ]);
        command.args(["con=null", "con0=fd:0,fd:1", "console=tty0"]).arg(format!("init={}", program.display()));
        command.args(["--", "first-process"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.process_group(0).spawn().map_err(|error| error.to_string())?;
        let group = Pid::from_child(&child);
        let (done, over) = channel::<()>();
        let watch = std::thread::spawn(move || {
            if over.recv_timeout(Duration::from_secs(20)) == Err(RecvTimeoutError::Timeout) {
                kill_process_group(group, Signal::KILL).ok();
            }
        });
        let output = child.wait_with_output().unwrap();
        drop(done);
        watch.join().unwrap();
        let lines: Vec<_> =
            String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim().to_owned()).collect();
        // Linux 6.1 cannot restore registers that it does not know (AMX), which `virtual_time.so` completes; without it no program runs.
        if lines.iter().any(|line| line.starts_with("userspace - ptrace set fp regs failed")) {
            return Err("this kernel does not know all registers of this processor".to_owned());
        }
        Ok(lines)
    }

    fn said<'a>(lines: &'a [String], start: &str) -> &'a str {
        lines.iter().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {lines:#?}"))
    }

    pub fn a_guest_carries_data_and_switches_itself_off() -> Outcome {
        let lines = boot()?;
        // It ran in a child of the first process.
        assert_ne!(said(&lines, "process "), "process 1");
        assert!(said(&lines, "carried in ").contains("packets"));
        assert_eq!(said(&lines, "status "), "status 9");
        Ok(())
    }

    pub fn virtual_time_is_the_same_each_time() -> Outcome {
        if std::env::var_os("LASTHOP_UML_KERNEL").is_none() {
            return Err("LASTHOP_UML_KERNEL names no kernel with time travel".to_owned());
        }
        let (first, second) = (boot()?, boot()?);
        println!("{}", said(&first, "carried in "));
        assert_eq!(said(&first, "carried in "), said(&second, "carried in "));
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    if std::env::args().nth(1).as_deref() == Some("first-process") {
        tests::first_process();
    }
    macro_rules! all {
        ($($test:ident),* $(,)?) => { &[$((stringify!($test), tests::$test as fn() -> bench::Outcome)),*] };
    }
    bench::run(all![a_guest_carries_data_and_switches_itself_off, virtual_time_is_the_same_each_time])
}

#[cfg(not(target_os = "linux"))]
fn main() {}
