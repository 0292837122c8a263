//! Web pages: a reader's requests and their times.
//!
//! A page is a main object and embedded ones, which the browser finds in the main one once it has arrived. Sizes and
//! numbers follow the HTTP model of [NGMN 2008 §A.3], which ns-3 has too: lognormal objects, a truncated Pareto number
//! of them. `page = "fixed"` has the same page each time: with 18 kB, 70 objects and 38 kB it is the median desktop
//! page of [Almanac 2024]. Between the end of a page and the next the reader thinks, for an exponential time.
//!
//! Left out: names and certificates (DNS, TLS), the server's and the browser's own time, caches, priorities.

use lasthop_engine::Stream;
use lasthop_registry::{Kind, params, refuse, words};
use lasthop_units::{Bytes, Duration};

use super::bounds::{LARGEST, LONGEST};
use super::distribution::{exponential, lognormal, pareto};

words! {
    /// The composition of pages.
    pub enum Page {
        /// drawn by NGMN's model
        Ngmn = "ngmn",
        /// `main_size`, `objects`, `object_size`
        Fixed = "fixed",
    }
}

words! {
    /// The sharing of connections by objects.
    pub enum Http {
        /// one at a time over each of several connections
        One = "1.1",
        /// all at once over one connection, answered in order
        Two = "2",
    }
}

params! {
    /// Parameters of `web`.
    pub struct Params {
        /// Mean of the exponential time between the end of a page and the next.
        pub think_time: Duration = Duration::from_secs(30),
        /// Sizes: "ngmn" draws them; "fixed" takes the three keys below.
        pub page: Page = Page::Ngmn,
        /// Size of the main object, for page = "fixed".
        pub main_size: Option<Bytes> = None,
        /// Number of embedded objects, for page = "fixed".
        pub objects: Option<u32> = None,
        /// Size of each, for page = "fixed".
        pub object_size: Option<Bytes> = None,
        /// Size of a request. [as ns-3]
        pub request: Bytes = Bytes(328),
        /// "1.1": one object at a time on a connection; "2": all at once on one.
        pub http: Http = Http::One,
        /// Connections at once, for http = "1.1".
        pub connections: u32 = 6,
        /// Connections persist between pages; false: each page is from another server.
        pub keep_alive: bool = false,
    }
    check |this, path| {
        let fixed = [("main_size", this.main_size.is_some()), ("objects", this.objects.is_some()), ("object_size", this.object_size.is_some())];
        if this.page == Page::Ngmn && let Some((key, _)) = fixed.iter().find(|(_, given)| *given) {
            return refuse(path, key, (Kind::NoEffect("has no effect on pages that are drawn".into()), "set page = \"fixed\", or remove it"));
        }
        if this.page == Page::Fixed && this.main_size.is_none() {
            return refuse(path, "main_size", "a fixed page needs the size of its main object, e.g. \"18 kB\"");
        }
        if this.main_size == Some(Bytes(0)) || this.object_size == Some(Bytes(0)) {
            return refuse(path, if this.main_size == Some(Bytes(0)) { "main_size" } else { "object_size" }, "at least 1 B");
        }
        if this.objects.unwrap_or(0) > 0 && this.object_size.is_none() {
            return refuse(path, "object_size", "embedded objects need a size, e.g. \"38 kB\"");
        }
        if this.object_size.is_some() && this.objects.unwrap_or(0) == 0 {
            return refuse(path, "object_size", Kind::NoEffect("has no effect without `objects`".into()));
        }
        if this.objects.is_some_and(|n| n > 10_000) {
            return refuse(path, "objects", "from 0 to 10000");
        }
        if this.think_time > LONGEST {
            return refuse(path, "think_time", "at most 1000000 s");
        }
        if !(1..=100).contains(&this.connections) {
            return refuse(path, "connections", "from 1 to 100");
        }
        if this.http == Http::Two && this.connections != 6 {
            return refuse(path, "connections", Kind::NoEffect("has no effect on http = \"2\", which has one connection".into()));
        }
        let sizes = [("main_size", this.main_size), ("object_size", this.object_size), ("request", Some(this.request))];
        if let Some((key, _)) = sizes.iter().find(|(_, size)| size.is_some_and(|size| size > LARGEST)) {
            return refuse(path, key, "at most 1000000 GB");
        }
        if this.request == Bytes(0) {
            return refuse(path, "request", "at least 1 B");
        }
        Ok(())
    }
}

impl Params {
    /// The key that was set and says how objects share TCP connections, if there is one.
    pub(crate) fn key_of_tcp(&self) -> Option<&'static str> {
        let usual = Params::default();
        let given = [("http", self.http != usual.http), ("connections", self.connections != usual.connections)];
        given.into_iter().find_map(|(key, is_given)| is_given.then_some(key))
    }

    /// Maximum number of connections of a page, and of unanswered requests on a connection.
    pub(crate) fn limits(&self) -> (usize, usize) {
        match self.http {
            Http::One => (self.connections as usize, 1),
            Http::Two => (1, usize::MAX),
        }
    }
}

/// Sizes of a page's objects, the main one first.
pub(crate) type Objects = Vec<u64>;

/// The pages that a reader opens.
pub(crate) struct Reader {
    params: Params,
    draws: Stream,
}

/// A lognormal size drawn again until it lies within its bounds. [NGMN 2008 Table A.3]
struct Size {
    mu: f64,
    sigma: f64,
    least: f64,
    most: f64,
}

const MAIN: Size = Size { mu: 8.37, sigma: 1.37, least: 100.0, most: 2e6 };
const EMBEDDED: Size = Size { mu: 6.17, sigma: 2.36, least: 50.0, most: 2e6 };

impl Size {
    fn draw(&self, draws: &mut Stream) -> u64 {
        loop {
            let size = lognormal(draws, self.mu, self.sigma);
            if (self.least..=self.most).contains(&size) {
                return size as u64;
            }
        }
    }
}

/// Embedded objects: a Pareto number from 2 with shape 1.1, 55 at most, less 2. [NGMN 2008 Table A.3]
fn number_of_objects(draws: &mut Stream) -> usize {
    libm::round(pareto(draws, 2.0, 1.1).min(55.0) - 2.0) as usize
}

impl Reader {
    pub(crate) fn new(params: Params, draws: Stream) -> Reader {
        Reader { params, draws }
    }

    /// The next page.
    pub(crate) fn page(&mut self) -> Objects {
        match (self.params.page, self.params.main_size, self.params.object_size) {
            (Page::Fixed, Some(main), object) => {
                let objects = self.params.objects.unwrap_or(0) as usize;
                let embedded = object.into_iter().flat_map(|size| std::iter::repeat_n(size.0, objects));
                std::iter::once(main.0).chain(embedded).collect()
            }
            _ => {
                let mut page = vec![MAIN.draw(&mut self.draws)];
                for _ in 0..number_of_objects(&mut self.draws) {
                    page.push(EMBEDDED.draw(&mut self.draws));
                }
                page
            }
        }
    }

    /// The time for which the reader thinks about it.
    pub(crate) fn think(&mut self) -> Duration {
        exponential(&mut self.draws, self.params.think_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_pages_have_the_moments_of_their_distributions() {
        let mut reader = Reader::new(Params::default(), Stream::new(1, "test", 0));
        let pages: Vec<Objects> = (0..40_000).map(|_| reader.page()).collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (n, sum) = values.fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
            sum / n
        };
        // Untruncated: e^(mu + sigma²/2) = 11,031 B and 7744 B. Without the parts beyond the bounds: 11,031 x 0.99906 /
        // 0.9970 = 11,054 B and 7744 x 0.8796 / 0.8308 = 8199 B, with deviations of 1.1 and 1.5 %.
        let main = mean(&mut pages.iter().map(|p| p[0] as f64));
        assert!((main / 11_054.0 - 1.0).abs() < 0.04, "{main}");
        let embedded = mean(&mut pages.iter().flat_map(|p| &p[1..]).map(|&s| s as f64));
        assert!((embedded / 8199.0 - 1.0).abs() < 0.05, "{embedded}");
        // 1.1 x 2^1.1 (2^-0.1 - 55^-0.1)/0.1 + 55 (2/55)^1.1 - 2 = 5.64 objects, with a deviation of 0.05.
        let number = mean(&mut pages.iter().map(|p| p.len() as f64 - 1.0));
        assert!((number - 5.64).abs() < 0.2, "{number}");
        let mut mains: Vec<u64> = pages.iter().map(|p| p[0]).collect();
        mains.sort_unstable();
        // The median of a lognormal is e^mu = 4316 B.
        assert!((mains[20_000] as f64 / 4316.0 - 1.0).abs() < 0.04);
    }

    #[test]
    fn a_fixed_page_is_always_the_same() {
        let params = Params {
            page: Page::Fixed,
            main_size: Some(Bytes(1000)),
            objects: Some(2),
            object_size: Some(Bytes(500)),
            ..Params::default()
        };
        let mut reader = Reader::new(params, Stream::new(1, "test", 0));
        assert_eq!((reader.page(), reader.page()), (vec![1000, 500, 500], vec![1000, 500, 500]));
    }
}
