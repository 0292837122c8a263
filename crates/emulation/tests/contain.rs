//! The environment of the emulator: nothing is left of it, whichever of its processes is killed.
//!
//! The test starts itself in the role of the emulator. All processes that it starts there hold its standard output, so
//! reading this to the end waits until the last of them is gone.

#[cfg(target_os = "linux")]
mod bench;

#[cfg(target_os = "linux")]
mod tests {
    use std::io::{BufRead, BufReader, Read};
    use std::net::{Ipv4Addr, ToSocketAddrs};
    use std::os::unix::process::ExitStatusExt;
    use std::path::PathBuf;
    use std::process::{Child, ChildStdout, Command, Stdio};
    use std::time::Duration;

    use lasthop_emulation::host::program::{Line, Setup, Streams};
    use lasthop_emulation::host::{Contain, Namespace, Program, ask_for_realtime, contain, set_hosts};
    use lasthop_emulation::traffic::{Side, Traffic};
    use rustix::process::{Pid, Signal, kill_process};

    use crate::bench::{Outcome, Pair, now_ns};

    /// Runs the part of the test that the word on the command line names.
    pub fn inside(word: &str) {
        let users = std::env::var_os("USERS").is_some();
        let how = Contain { user: users, net: true, parent: None };
        let inside = contain(&how).unwrap_or_else(|error| {
            println!("refused: {error}");
            std::process::exit(3);
        });
        match word {
            "status" => std::process::exit(7),
            "sleep" => {
                println!("{} {}", std::process::id(), inside.user);
                sleep();
            }
            "programs" => {
                let _both = programs();
                println!("started");
                sleep();
            }
            "traffic" => traffic(),
            "orphans" => orphans(),
            "hosts" => hosts(),
            "realtime" => realtime(),
            other => panic!("{other}"),
        }
    }

    fn sleep() {
        std::thread::sleep(Duration::from_secs(1000));
    }

    fn path() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())]
    }

    /// Starts programs in separate namespaces, which leave others behind that are never waited for.
    fn programs() -> Vec<(Namespace, Program)> {
        let start = |number: u32| {
            let namespace = Namespace::new().unwrap();
            let line = "(setsid sleep 1000 &) ; (trap '' HUP TERM; sleep 1000) & exec sleep 1000".to_owned();
            let name = format!("sta{number}");
            let setup = Setup {
                name,
                line: Line::Shell(line),
                namespace: &namespace,
                environment: path(),
                streams: Streams::Terminal,
            };
            let program = Program::start(&setup).unwrap();
            (namespace, program)
        };
        (1..=3).map(start).collect()
    }

    /// Carries data without end.
    fn traffic() {
        let pair = match Pair::new(1000) {
            Ok(pair) => pair,
            Err(reason) => {
                println!("refused: {reason}");
                std::process::exit(3);
            }
        };
        let mut transfer = pair.transfer(Side::Station);
        transfer.size = None;
        let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
        traffic.ready().unwrap();
        traffic.begin(now_ns()).unwrap();
        let mut count = 0;
        pair.relay(
            0,
            |_, _| {
                count += 1;
                if count == 1000 {
                    println!("started");
                }
                true
            },
            || false,
        );
    }

    /// Prints the number of processes that have ended and are not reaped, once some have been left behind and have
    /// ended.
    fn orphans() {
        let status = Command::new("sh").args(["-c", "for i in 1 2 3; do (sleep 0.05 &) ; done"]).status().unwrap();
        assert!(status.success());
        let states = || Command::new("ps").args(["-A", "-o", "stat="]).output().unwrap().stdout;
        let mut left = String::new();
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(20));
            left = String::from_utf8_lossy(&states()).into_owned();
            // PID 1, this process and `ps`.
            if left.lines().count() == 3 {
                break;
            }
        }
        println!(
            "{} processes, {} zombies",
            left.lines().count(),
            left.lines().filter(|state| state.contains('Z')).count()
        );
    }

    fn hosts() {
        let names = [(Ipv4Addr::new(10, 0, 0, 1), "server"), (Ipv4Addr::new(10, 1, 0, 2), "sta1")];
        set_hosts(&names).unwrap();
        for name in ["server", "sta1", "localhost"] {
            println!("{name} {}", (name, 0).to_socket_addrs().unwrap().next().unwrap().ip());
        }
    }

    /// Prints which means were granted, and the schedules of the process and a child of it.
    fn realtime() {
        let granted = ask_for_realtime();
        println!("{} {} {}", granted.fifo, granted.exact_timers, granted.refused.join("; "));
        // Field 41 of stat is the policy, and 1 is SCHED_FIFO; the name before it has no spaces here.
        let policy = |stat: &str| stat.split_whitespace().nth(40).unwrap().to_owned();
        let child = Command::new("cat").arg("/proc/self/stat").output().unwrap().stdout;
        let own = std::fs::read_to_string("/proc/self/stat").unwrap();
        println!("{} {}", policy(&own), policy(&String::from_utf8_lossy(&child)));
    }

    /// The user that the emulator runs as.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum As {
        /// root, without private users
        Root,
        /// root, with private users
        RootWithUsers,
        /// an ordinary user who may open `/dev/net/tun`
        Nobody,
    }

    const EVERYBODY: [As; 3] = [As::Root, As::RootWithUsers, As::Nobody];

    /// A process in the environment of the emulator.
    struct Emulator {
        child: Child,
        output: BufReader<ChildStdout>,
    }

    impl Emulator {
        fn start(who: As, word: &str) -> Emulator {
            // Signals that the caller ignores, as under nohup(1), would be ignored here too.
            let mut command = Command::new("env");
            command.arg("--default-signal=HUP,INT,QUIT,TERM");
            if who == As::Nobody {
                // A private device node, since that of the machine may be root's.
                let line = "mount -t tmpfs tmpfs /mnt && mknod -m 666 /mnt/tun c 10 200 && mount --bind /mnt/tun /dev/net/tun && \
                            exec setpriv --reuid 65534 --regid 65534 --clear-groups -- \"$0\" \"$@\"";
                command.args(["unshare", "--mount", "sh", "-c", line]);
            }
            command.arg(executable());
            if who == As::RootWithUsers {
                command.env("USERS", "1");
            }
            let mut child = command.args(["inside", word]).stdout(Stdio::piped()).spawn().unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            Emulator { child, output }
        }

        /// The next line that it prints, or the reason why this user has no such environment.
        fn line(&mut self) -> Result<String, String> {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            match line.strip_prefix("refused: ") {
                Some(reason) => Err(reason.trim().to_owned()),
                None => Ok(line.trim().to_owned()),
            }
        }

        fn send(&self, signal: Signal) {
            kill_process(Pid::from_raw(self.child.id() as i32).unwrap(), signal).unwrap();
        }

        /// Waits for its end and for that of all holders of its output. Returns the status, or the signal, and its last
        /// output.
        fn end(mut self) -> (Option<i32>, Option<i32>, String) {
            // A process that stayed would keep the test here for the thousand seconds of its sleep.
            alarm(5, || {
                let (mut rest, status) = (String::new(), self.child.wait().unwrap());
                self.output.read_to_string(&mut rest).unwrap();
                (status.code(), status.signal(), rest)
            })
        }
    }

    /// Calls `wait`, and fails if it takes longer than some seconds.
    fn alarm<T>(seconds: u64, wait: impl FnOnce() -> T) -> T {
        let (done, over) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            let late =
                over.recv_timeout(Duration::from_secs(seconds)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if late {
                println!("a process is left behind");
                kill_what_is_left();
                std::process::exit(1);
            }
        });
        let value = wait();
        drop(done);
        watch.join().unwrap();
        value
    }

    /// Kills every emulator of this test, and with it all processes below it.
    fn kill_what_is_left() {
        let numbers =
            std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        for number in numbers {
            let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            if line.starts_with(executable().as_os_str().as_encoded_bytes()) {
                kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).ok();
            }
        }
        remove_executable();
    }

    /// A copy of this program that every user may run.
    fn executable() -> PathBuf {
        let path = std::env::temp_dir().join(format!("lasthop-contain-{}", std::process::id()));
        if !path.exists() {
            std::fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        }
        path
    }

    pub fn remove_executable() {
        std::fs::remove_file(executable()).ok();
    }

    fn root_only() -> Outcome {
        if rustix::process::geteuid().is_root() { Ok(()) } else { Err("this test starts as root".to_owned()) }
    }

    pub fn its_status_is_that_of_the_caller() -> Outcome {
        root_only()?;
        for who in EVERYBODY {
            assert_eq!(Emulator::start(who, "status").end(), (Some(7), None, String::new()), "{who:?}");
        }
        Ok(())
    }

    pub fn it_is_pid_2_of_its_place() -> Outcome {
        root_only()?;
        for (who, line) in EVERYBODY.into_iter().zip(["2 false", "2 true", "2 true"]) {
            let mut emulator = Emulator::start(who, "sleep");
            assert_eq!(emulator.line()?, line);
            emulator.send(Signal::KILL);
            assert_eq!(emulator.end(), (None, Some(9), String::new()));
        }
        Ok(())
    }

    pub fn signals_are_handed_on() -> Outcome {
        root_only()?;
        for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
            let mut emulator = Emulator::start(As::Root, "sleep");
            emulator.line()?;
            emulator.send(signal);
            assert_eq!(emulator.end(), (Some(status), None, String::new()));
        }
        Ok(())
    }

    pub fn nothing_is_left_of_one_that_was_killed() -> Outcome {
        root_only()?;
        for who in EVERYBODY {
            for word in ["programs", "traffic"] {
                let mut emulator = Emulator::start(who, word);
                assert_eq!(emulator.line()?, "started");
                emulator.send(Signal::KILL);
                assert_eq!(emulator.end(), (None, Some(9), String::new()), "{who:?} {word}");
            }
        }
        Ok(())
    }

    pub fn nothing_is_left_of_one_that_was_killed_at_any_moment() -> Outcome {
        root_only()?;
        for moment in 0..20 {
            let emulator = Emulator::start(EVERYBODY[moment % 3], "programs");
            // It takes about 20 ms to start.
            std::thread::sleep(Duration::from_micros(1500 * moment as u64));
            emulator.send(Signal::KILL);
            assert_eq!(emulator.end().1, Some(9));
        }
        Ok(())
    }

    pub fn nothing_is_left_when_the_inner_process_is_killed() -> Outcome {
        root_only()?;
        let mut emulator = Emulator::start(As::Root, "programs");
        emulator.line()?;
        let children = |of: u32| std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
        let first: u32 = children(emulator.child.id()).trim().parse().unwrap();
        let second: i32 = children(first).split_whitespace().next().unwrap().parse().unwrap();
        kill_process(Pid::from_raw(second).unwrap(), Signal::KILL).unwrap();
        assert_eq!(emulator.end(), (Some(137), None, String::new()));
        Ok(())
    }

    pub fn children_of_a_realtime_process_are_ordinary() -> Outcome {
        root_only()?;
        if std::env::var_os("ASAN_OPTIONS").is_some() {
            return Err("a process with the shadow memory of a sanitizer cannot be locked into memory".into());
        }
        let mut emulator = Emulator::start(As::Root, "realtime");
        let granted = emulator.line()?;
        if granted.starts_with("false") {
            return Err(granted);
        }
        assert_eq!((granted.as_str(), emulator.line()?.as_str()), ("true true", "1 0"));
        if rustix::process::getrlimit(rustix::process::Resource::Rtprio).current != Some(0) {
            return Err("RLIMIT_RTPRIO lets ordinary users have it".to_owned());
        }
        let mut emulator = Emulator::start(As::Nobody, "realtime");
        let refused = emulator.line()?;
        assert!(refused.starts_with("false true SCHED_FIFO is refused: "), "{refused}");
        assert_eq!(emulator.line()?, "0 0");
        Ok(())
    }

    pub fn orphans_in_the_container_are_reaped() -> Outcome {
        root_only()?;
        let mut emulator = Emulator::start(As::Root, "orphans");
        assert_eq!(emulator.line()?, "3 processes, 0 zombies");
        assert_eq!(emulator.end().0, Some(0));
        Ok(())
    }

    pub fn names_of_hosts_are_found_inside_alone() -> Outcome {
        root_only()?;
        let before = std::fs::read_to_string("/etc/hosts").unwrap();
        for who in EVERYBODY {
            let mut emulator = Emulator::start(who, "hosts");
            let lines = [emulator.line()?, emulator.line()?, emulator.line()?];
            assert_eq!(lines, ["server 10.0.0.1", "sta1 10.1.0.2", "localhost 127.0.0.1"]);
            assert_eq!(emulator.end().0, Some(0));
        }
        assert_eq!(std::fs::read_to_string("/etc/hosts").unwrap(), before);
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, inside, word] = &words[..]
        && inside == "inside"
    {
        tests::inside(word);
        return std::process::ExitCode::SUCCESS;
    }
    macro_rules! all {
        ($($test:ident),* $(,)?) => { &[$((stringify!($test), tests::$test as fn() -> bench::Outcome)),*] };
    }
    let code = bench::run(all![
        its_status_is_that_of_the_caller,
        it_is_pid_2_of_its_place,
        signals_are_handed_on,
        nothing_is_left_of_one_that_was_killed,
        nothing_is_left_of_one_that_was_killed_at_any_moment,
        nothing_is_left_when_the_inner_process_is_killed,
        children_of_a_realtime_process_are_ordinary,
        orphans_in_the_container_are_reaped,
        names_of_hosts_are_found_inside_alone,
    ]);
    tests::remove_executable();
    code
}

#[cfg(not(target_os = "linux"))]
fn main() {}
