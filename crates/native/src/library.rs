//! A shared library, and the table that it exports.
#![expect(unsafe_code, reason = "what a shared library exports has no types")]

use core::mem::{MaybeUninit, offset_of};
use core::{fmt, ptr};
use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::abi::{self, Table};
use crate::copy::Copied;
use crate::crash;
use crate::error::Error;

/// The symbol that a library exports.
pub const SYMBOL: &str = "lasthop_cc";
/// Most bytes that a controller may request for a connection: 16 MiB.
const MOST_PRIVATE: u64 = 16 << 20;
/// Least size of a table of this version: up to `ssthresh`.
const LEAST_SIZE: usize = offset_of!(Table, set_state);

/// A table of functions, with the shared library that holds it, if it is one.
pub struct Library {
    table: Table,
    name: String,
    path: Option<PathBuf>,
    /// Keeps the functions in memory.
    _code: Option<libloading::Library>,
}

// SAFETY: the table is a copy that is never written, of functions that the header requires to keep their state in the
// connection that they receive.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl fmt::Debug for Library {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.debug_struct("Library").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

/// A parameter from the scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number; true is 1, false is 0.
    Number(f64),
    /// A text.
    Text(String),
}

impl Library {
    /// The controller that the shared library at `path` exports as `lasthop_cc`.
    pub fn open(path: &Path) -> Result<Library, Error> {
        Library::open_symbol(path, SYMBOL)
    }

    /// The controller that it exports by another name, if it has several.
    pub fn open_symbol(path: &Path, symbol: &str) -> Result<Library, Error> {
        let content = fs::read(path).map_err(|error| Error::new(&path.display().to_string(), plain(&error)))?;
        Library::of(path, &content, symbol)
    }

    /// The controller that a shared library exports as `lasthop_cc`, of which the caller has read the `content`. On Linux a
    /// copy of these bytes is loaded, whatever the file at `path` has become; a library that looks for others next to itself
    /// (`$ORIGIN`), and any on another system, is loaded from its file, which must still have them.
    pub fn of_content(path: &Path, content: &[u8]) -> Result<Library, Error> {
        Library::of(path, content, SYMBOL)
    }

    fn of(path: &Path, content: &[u8], symbol: &str) -> Result<Library, Error> {
        let place = path.display().to_string();
        crash::watch();
        // A bare name would be searched in the system's folders.
        let absolute = path.canonicalize().map_err(|error| Error::new(&place, plain(&error)))?;
        let copied = Copied::of(&absolute, content);
        if copied.is_none() && fs::read(path).map_err(|error| Error::new(&place, plain(&error)))? != content {
            return Err(Error::new(&place, "has changed since the run began; run it again"));
        }
        let from = copied.as_ref().map_or(&*absolute, Copied::path);
        // SAFETY: the library's initialisers run. The user chose to run its code.
        let file = unsafe { opened(from) }.map_err(|error| {
            let why = root_cause(&error).replace(&format!("{}: ", from.display()), "");
            let sentence = if why.contains("undefined symbol") {
                format!("cannot be loaded ({why}); define it, or link the library that does")
            } else {
                format!("is not a shared library for this machine ({why}); build one with `cc -shared -fPIC`")
            };
            Error::new(&place, sentence)
        })?;
        // SAFETY: the symbol is taken as an address, whatever it is.
        let address = unsafe { file.get::<*const Table>(symbol) }.map(|found| *found).map_err(|_| {
            Error::new(&place, format!("exports no `{symbol}`; define `const struct lasthop_cc_v1 {symbol}` in it"))
        })?;
        let fallback = absolute.file_stem().map_or(place.clone(), |stem| stem.to_string_lossy().into_owned());
        // SAFETY: the address is of an object of the library, which stays loaded as long as this value.
        let (table, name) = unsafe { read(address, &place, &fallback) }?;
        Ok(Library { table, name, path: Some(absolute), _code: Some(file) })
    }

    /// The controller whose table is at an address of this process.
    ///
    /// # Safety
    /// If the address is neither 0 nor misaligned, a `struct lasthop_cc_v1` must be there, or at least its size and
    /// version. Its functions and its name must stay for the life of the process.
    pub unsafe fn at(address: usize) -> Result<Library, Error> {
        let place = format!("table at {address:#x}");
        let table = ptr::with_exposed_provenance::<Table>(address);
        // SAFETY: promised by this function's caller.
        let (table, name) = unsafe { read(table, &place, "controller") }?;
        Ok(Library { table, name, path: None, _code: None })
    }

    /// The name in the controller's table, or its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path of the shared library, if it is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }
}

/// The table at an address, checked, with its name.
///
/// # Safety
/// If the address is neither NULL nor misaligned, a table must be there, or at least its size and version.
unsafe fn read(address: *const Table, place: &str, fallback: &str) -> Result<(Table, String), Error> {
    if address.is_null() || !address.is_aligned() {
        return Err(Error::new(place, "there is no table of functions; give the address of a `struct lasthop_cc_v1`"));
    }
    // SAFETY: size and version come first in all versions.
    let (size, version) = unsafe { (ptr::read(&raw const (*address).size), ptr::read(&raw const (*address).version)) };
    if version != abi::VERSION {
        return Err(Error::new(
            place,
            format!(
                "is made for version {version} of lasthop_cc.h, this is {}; compile it with the header of `lasthop cc header`",
                abi::VERSION
            ),
        ));
    }
    let size = size as usize;
    if !(LEAST_SIZE..=size_of::<Table>()).contains(&size) {
        return Err(Error::new(
            place,
            format!(
                "its table has a size of {size} bytes, of {}; begin it with LASTHOP_CC_HEAD of this lasthop's header",
                size_of::<Table>()
            ),
        ));
    }
    let mut table = MaybeUninit::<Table>::zeroed();
    // SAFETY: `size` bytes are there, and no more are taken than fit. Zeros are NULL where an older table ends.
    let table = unsafe {
        ptr::copy_nonoverlapping(address.cast::<u8>(), table.as_mut_ptr().cast(), size);
        table.assume_init()
    };
    check(&table, place)?;
    // SAFETY: a name is a text that ends with NUL.
    let name = (!table.name.is_null()).then(|| unsafe { CStr::from_ptr(table.name) }.to_string_lossy().into_owned());
    Ok((table, name.unwrap_or_else(|| fallback.to_string())))
}

fn check(table: &Table, place: &str) -> Result<(), Error> {
    if table.ssthresh.is_none() {
        return Err(Error::new(place, "its table has no `ssthresh`, which says what a loss leaves"));
    }
    if table.cong_avoid.is_none() && table.cong_control.is_none() {
        return Err(Error::new(
            place,
            "its table has neither `cong_avoid` nor `cong_control`, by which the window grows",
        ));
    }
    if table.cong_avoid.is_some() && table.cong_control.is_some() {
        return Err(Error::new(
            place,
            "its table has both `cong_avoid` and `cong_control`, which takes its place; leave one out",
        ));
    }
    if table.private_size > MOST_PRIVATE {
        let most = MOST_PRIVATE >> 20;
        return Err(Error::new(place, format!("private_size is {} bytes; at most {most} MiB", table.private_size)));
    }
    Ok(())
}

/// The message of the system, without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// The library at `path`, with all symbols resolved now: a missing one would end the process at its first call.
///
/// # Safety
/// The library's initialisers run.
unsafe fn opened(path: &Path) -> Result<libloading::Library, libloading::Error> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // SAFETY: promised by the caller.
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
    }
    #[cfg(not(unix))]
    // SAFETY: promised by the caller.
    unsafe {
        libloading::Library::new(path)
    }
}

fn root_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root_cause)
}
