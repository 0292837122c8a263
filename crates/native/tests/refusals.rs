//! An unusable library is refused in one sentence; a later failure ends the run with one.

mod bench;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use lasthop_native::{Library, Setting};
use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, GaveUp, Moment,
};
use lasthop_tcp::{Config, Profile};
use lasthop_units::Time;

fn config() -> Config {
    Profile::Linux.config()
}

/// A library with this body of `cong_avoid`, and a plain `ssthresh` unless there is another.
fn library(name: &str, body: &str, ssthresh: &str) -> Option<Arc<Library>> {
    let text = format!(
        "#include \"lasthop_cc.h\"\n\
         static void cong_avoid(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *ack) {{ (void)sk; (void)ack; {body} }}\n\
         static double ssthresh(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *event) {{ (void)sk; (void)event; return {ssthresh}; }}\n\
         const struct lasthop_cc_v1 lasthop_cc = {{ LASTHOP_CC_HEAD, .name = \"mine\", .cong_avoid = cong_avoid, .ssthresh = ssthresh }};\n"
    );
    bench::of_text(name, &text).map(|path| Arc::new(Library::open(&path).unwrap()))
}

/// The message of a controller that gave up in `act`.
fn failure(library: &Arc<Library>, act: impl Fn(&mut dyn CongestionControl)) -> String {
    let mut control = library.controller(&Context::new(&config(), 1), &[]).unwrap();
    let thrown = catch_unwind(AssertUnwindSafe(|| act(&mut *control))).expect_err("it gives up");
    assert!(thrown.is::<GaveUp>());
    control.failure().expect("it says why").to_string()
}

fn ack(control: &mut dyn CongestionControl) {
    control.on_ack(&AckSample { now: Time::from_nanos(1_500_000_000), ..AckSample::default() });
}

fn loss(control: &mut dyn CongestionControl) {
    let (now, cause) = (Time::from_nanos(2_000_000_000), CongestionCause::Loss);
    let event = CongestionEvent {
        now,
        cause,
        window: 10.0,
        flight_bytes: 0,
        repeated: false,
        snd_una: 0,
        snd_nxt: 0,
        total_lost: 1,
    };
    control.on_congestion(&event);
}

#[test]
fn a_window_that_is_no_number_ends_the_run_with_a_sentence() {
    for (name, body, said) in [
        ("nan", "sk->cwnd = NAN;", "a window of NaN"),
        ("negative", "sk->cwnd = -3;", "a window of -3"),
        ("infinite", "sk->cwnd = INFINITY;", "a window of inf"),
        ("zero", "sk->cwnd = 0;", "a window of 0"),
    ] {
        let Some(library) = library(name, body, "2.0") else { return };
        let why = "cwnd must be a finite number above 0, in segments";
        assert_eq!(failure(&library, ack), format!("mine, at 1.500000 s: cong_avoid left {said}; {why}"));
    }
    let Some(library) = library("nan-ssthresh", "sk->ssthresh = NAN;", "2.0") else { return };
    assert!(
        failure(&library, ack).contains("cong_avoid left an ssthresh of NaN; it must be a number that is not negative")
    );
}

#[test]
fn a_threshold_that_is_no_number_ends_the_run_with_a_sentence() {
    let Some(library) = library("ssthresh", "", "NAN") else { return };
    let why = "mine, at 2.000000 s: ssthresh returned NaN; it must be a finite number above 0, in segments";
    assert_eq!(failure(&library, loss), why);
}

#[test]
fn a_controller_may_give_up_by_itself() {
    let Some(library) = library("gives-up", "lasthop_cc_fail(sk, \"no %s after %d ACK\", \"idea\", 1);", "2.0") else {
        return;
    };
    assert_eq!(failure(&library, ack), "mine, at 1.500000 s: no idea after 1 ACK");
}

#[test]
fn a_state_or_an_event_without_a_function_passes() {
    let Some(library) = library("plain", "", "2.0") else { return };
    let mut control = library.controller(&Context::new(&config(), 1), &[]).unwrap();
    loss(&mut *control);
    control.on_recovery_exit(&Moment { now: Time::ZERO, snd_una: 0, snd_nxt: 0, app_limited: false });
    control.on_idle(1.0);
    control.set_ssthresh(f64::INFINITY);
    assert_eq!((control.cwnd(), control.ssthresh(), control.failure()), (1.0, f64::INFINITY, None));
}

#[test]
fn an_unknown_parameter_is_refused_by_its_controller() {
    let (Some(path), Some(plain)) = (bench::example("newreno"), library("none", "", "2.0")) else { return };
    let newreno = Arc::new(Library::open(&path).unwrap());
    let context = Context::new(&config(), 1);
    let refused = |library: &Arc<Library>, key: &str, setting| {
        library.controller(&context, &[(key.to_string(), setting)]).unwrap_err().to_string()
    };
    let known = "there is era (rfc5681, linux, linux-2.6), increase (above 0), beta (between 0 and 1)";
    assert_eq!(refused(&newreno, "gamma", Setting::Number(1.0)), format!("newreno: gamma: {known}"));
    assert_eq!(refused(&newreno, "beta", Setting::Number(1.5)), format!("newreno: beta: {known}"));
    assert_eq!(refused(&newreno, "era", Setting::Text("lisa".to_string())), format!("newreno: era: {known}"));
    assert_eq!(refused(&plain, "gamma", Setting::Number(1.0)), "mine: takes no parameters, and so no `gamma`");
    assert!(refused(&newreno, "era", Setting::Text("a\0b".to_string())).contains("holds a NUL"));
}

#[test]
fn release_is_for_controllers_that_init_has_taken() {
    let text = "#include \"lasthop_cc.h\"\n\
         static int released;\n\
         static void init(struct lasthop_cc_sock *sk, const struct lasthop_cc_context *context, const struct lasthop_cc_setting *settings, size_t count) {\n\
             (void)context; (void)settings; sk->cwnd = 2 + released; if (count) lasthop_cc_fail(sk, \"no\"); }\n\
         static void release(struct lasthop_cc_sock *sk) { (void)sk; released++; }\n\
         static double s(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e) { (void)sk; (void)e; return 2; }\n\
         static void g(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a) { (void)sk; (void)a; }\n\
         const struct lasthop_cc_v1 lasthop_cc = { LASTHOP_CC_HEAD, .init = init, .release = release, .ssthresh = s, .cong_avoid = g };\n";
    let Some(path) = bench::of_text("released", text) else { return };
    let library = Arc::new(Library::open(&path).unwrap());
    let context = Context::new(&config(), 1);
    let window = || library.controller(&context, &[]).unwrap().cwnd();
    assert!(library.controller(&context, &[("no".to_string(), Setting::Number(1.0))]).is_err());
    assert_eq!(window(), 2.0); // the refused one was not released
    assert_eq!(window(), 3.0); // the one before was
}

#[test]
fn file_that_is_no_library_is_refused() {
    let refused = |path: &Path| Library::open(path).unwrap_err().to_string();
    assert_eq!(refused(Path::new("none.so")), "none.so: no such file or directory");
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let said = refused(&text);
    assert!(said.starts_with(&format!("{}: is not a shared library for this machine (", text.display())), "{said}");
    assert_eq!(said.matches("README.md").count(), 1, "{said}");
}

#[test]
fn library_without_required_symbols_is_refused() {
    for (name, text, said) in [
        ("no-symbol", "int other;", "exports no `lasthop_cc`; define `const struct lasthop_cc_v1 lasthop_cc` in it"),
        ("version", "{ .size = sizeof lasthop_cc, .version = 7 }", "is made for version 7 of lasthop_cc.h, this is 1"),
        ("size", "{ .size = 400, .version = 1 }", "its table has a size of 400 bytes"),
        ("short", "{ .size = 16, .version = 1 }", "its table has a size of 16 bytes"),
        ("no-ssthresh", "{ LASTHOP_CC_HEAD }", "its table has no `ssthresh`"),
        ("no-growth", "{ LASTHOP_CC_HEAD, .ssthresh = s }", "has neither `cong_avoid` nor `cong_control`"),
        ("both", "{ LASTHOP_CC_HEAD, .ssthresh = s, .cong_avoid = g, .cong_control = g }", "has both"),
        ("huge", "{ LASTHOP_CC_HEAD, .ssthresh = s, .cong_avoid = g, .private_size = -1 }", "at most 16 MiB"),
    ] {
        let functions = "#include \"lasthop_cc.h\"\n\
            double s(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e) { (void)sk; (void)e; return 2; }\n\
            void g(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a) { (void)sk; (void)a; }\n";
        let table = if text.starts_with('{') {
            format!("const struct lasthop_cc_v1 lasthop_cc = {text};")
        } else {
            text.to_string()
        };
        let Some(path) = bench::of_text(name, &format!("{functions}{table}\n")) else { return };
        let refused = Library::open(&path).unwrap_err().to_string();
        assert!(refused.starts_with(&path.display().to_string()) && refused.contains(said), "{refused}");
    }
}

#[test]
fn a_store_behind_its_own_bytes_ends_the_run_with_a_sentence() {
    let text = "#include \"lasthop_cc.h\"\n\
        static double s(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e) { (void)sk; (void)e; return 2; }\n\
        static void g(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a) { (void)a; ((volatile double *)sk->priv)[4] = 1; }\n\
        const struct lasthop_cc_v1 lasthop_cc = { LASTHOP_CC_HEAD, .name = \"mine\", .private_size = 32, .ssthresh = s, .cong_avoid = g };\n";
    let Some(path) = bench::of_text("behind", text) else { return };
    let library = Arc::new(Library::open(&path).unwrap());
    assert_eq!(
        failure(&library, ack),
        "mine, at 1.500000 s: cong_avoid wrote just before or behind the bytes of `private_size`"
    );
}

#[test]
fn missing_symbol_is_an_error_on_load() {
    let text = "#include \"lasthop_cc.h\"\n\
        double nowhere(void);\n\
        double s(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e) { (void)sk; (void)e; return nowhere(); }\n\
        void g(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a) { (void)sk; (void)a; }\n\
        const struct lasthop_cc_v1 lasthop_cc = { LASTHOP_CC_HEAD, .ssthresh = s, .cong_avoid = g };\n";
    let Some(path) = bench::of_text("missing", text) else { return };
    let refused = Library::open(&path).unwrap_err().to_string();
    assert!(refused.contains("cannot be loaded (undefined symbol: nowhere); define it"), "{refused}");
}

#[test]
fn a_library_may_hold_several_controllers() {
    let Some(path) = bench::of_text(
        "several",
        "#include \"lasthop_cc.h\"\n\
         static double s(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e) { (void)sk; (void)e; return 2; }\n\
         static void g(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a) { sk->cwnd += a->avoidance_credit; }\n\
         const struct lasthop_cc_v1 first = { LASTHOP_CC_HEAD, .ssthresh = s, .cong_avoid = g };\n\
         const struct lasthop_cc_v1 second = { LASTHOP_CC_HEAD, .name = \"other\", .ssthresh = s, .cong_avoid = g };\n",
    ) else {
        return;
    };
    assert_eq!(Library::open_symbol(&path, "second").unwrap().name(), "other");
    assert!(Library::open_symbol(&path, "first").unwrap().name().starts_with("several"));
    assert!(Library::open(&path).is_err());
}

/// A library with a controller of this name, after other lines.
fn named(file: &str, name: &str, before: &str) -> Option<std::path::PathBuf> {
    let text = format!(
        "#include \"lasthop_cc.h\"\n{before}\n\
         static double s(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e) {{ (void)sk; (void)e; return 2; }}\n\
         static void g(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a) {{ (void)sk; (void)a; }}\n\
         const struct lasthop_cc_v1 lasthop_cc = {{ LASTHOP_CC_HEAD, .name = \"{name}\", .ssthresh = s, .cong_avoid = g }};\n"
    );
    bench::of_text(file, &text)
}

#[cfg(target_os = "linux")]
#[test]
fn the_bytes_that_were_read_are_loaded_whatever_the_file_has_become() {
    let (Some(path), Some(other)) = (named("first", "first", ""), named("second", "second", "")) else { return };
    let read = std::fs::read(&path).unwrap();
    let before = Library::open(&path).unwrap();
    std::fs::copy(&other, &path).unwrap();
    let (same, after) = (Library::of_content(&path, &read).unwrap(), Library::open(&path).unwrap());
    assert_eq!([before.name(), same.name(), after.name()], ["first", "first", "second"]);
}

#[test]
fn a_library_that_looks_around_itself_is_loaded_from_its_file_if_that_is_the_same() {
    let looks = "const char *where = \"$ORIGIN\";";
    let (Some(path), Some(other)) = (named("looks", "looks", looks), named("changed", "changed", looks)) else {
        return;
    };
    let read = std::fs::read(&path).unwrap();
    assert_eq!(Library::of_content(&path, &read).unwrap().name(), "looks");
    // Its initialisers do not run, unlike in a comparison after loading.
    std::fs::copy(&other, &path).unwrap();
    let refused = Library::of_content(&path, &read).unwrap_err().to_string();
    assert_eq!(refused, format!("{}: has changed since the run began; run it again", path.display()));
}
