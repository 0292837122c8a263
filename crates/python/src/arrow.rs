//! Tables for other libraries by Arrow's C data and stream interfaces, in capsules of Python [Arrow, "The Arrow C data
//! interface", "The Arrow PyCapsule Interface"].
//!
//! Buffers are not copied: an array holds the table until its consumer releases it.

#![allow(unsafe_code, reason = "consumers of the interface call back with pointers")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::flat::{Flat, FlatColumn};

type Columns = Arc<Vec<FlatColumn>>;

/// The flag of a field that may be null.
const NULLABLE: i64 = 2;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// A child that its parent owns, and to which consumers have pointers.
#[repr(transparent)]
struct Child<T>(*mut T);

impl<T> Child<T> {
    fn new(value: T) -> Child<T> {
        Child(Box::into_raw(Box::new(value)))
    }
}

impl<T> Drop for Child<T> {
    fn drop(&mut self) {
        // SAFETY: it was a box. A consumer that has moved the value away has left one without a release.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// A structure of the interface: its holder releases it once.
macro_rules! released_on_drop {
    ($($name:ident),*) => { $(
        // SAFETY: its pointers lead to data that it owns alone, which may be used and freed on any thread.
        unsafe impl Send for $name {}
        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it has not been released, since a release clears this field.
                    unsafe { release(self) }
                }
            }
        }
    )* };
}
released_on_drop!(ArrowSchema, ArrowArray, ArrowArrayStream);

/// The data of a schema, as long as it is not released; pointers of the schema lead here.
struct OwnedSchema {
    _texts: [CString; 2],
    children: Vec<Child<ArrowSchema>>,
    dictionary: Option<Child<ArrowSchema>>,
}

impl ArrowSchema {
    fn new(
        name: &str,
        format: &str,
        flags: i64,
        children: Vec<ArrowSchema>,
        names: Option<ArrowSchema>,
    ) -> ArrowSchema {
        let text = |text: &str| CString::new(text.replace('\0', "")).expect("it has no zero");
        let texts = [text(format), text(name)];
        let (format, name) = (texts[0].as_ptr(), texts[1].as_ptr());
        let children = children.into_iter().map(Child::new).collect();
        let mut owned = Box::new(OwnedSchema { _texts: texts, children, dictionary: names.map(Child::new) });
        ArrowSchema {
            format,
            name,
            metadata: ptr::null(),
            flags,
            n_children: owned.children.len() as i64,
            children: owned.children.as_mut_ptr().cast(),
            dictionary: owned.dictionary.as_ref().map_or(ptr::null_mut(), |names| names.0),
            release: Some(release_schema),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    fn of_column(column: &FlatColumn) -> ArrowSchema {
        let field = |format: &str, children, names| ArrowSchema::new(&column.name, format, NULLABLE, children, names);
        match &column.values {
            Flat::Truths(_) => field("b", vec![], None),
            Flat::Whole(_) => field("l", vec![], None),
            Flat::Real(_) => field("g", vec![], None),
            Flat::Texts(..) => field("u", vec![], None),
            Flat::Lists(..) => field("+l", vec![ArrowSchema::new("element", "g", NULLABLE, vec![], None)], None),
            Flat::Names(..) => field("i", vec![], Some(ArrowSchema::new("", "u", NULLABLE, vec![], None))),
        }
    }

    fn of_table(columns: &[FlatColumn]) -> ArrowSchema {
        ArrowSchema::new("", "+s", 0, columns.iter().map(ArrowSchema::of_column).collect(), None)
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the consumer passes a schema of this module that is not released yet.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<OwnedSchema>()));
        (*schema).release = None;
    }
}

/// The data of an array, as long as it is not released; pointers of the array lead here and into the table.
struct OwnedArray {
    _table: Option<Columns>,
    _made: Vec<Box<[u8]>>,
    buffers: Vec<*const c_void>,
    children: Vec<Child<ArrowArray>>,
    dictionary: Option<Child<ArrowArray>>,
}

/// The buffers of an array, some of which are made for it.
struct Buffers {
    made: Vec<Box<[u8]>>,
    all: Vec<*const c_void>,
    nulls: usize,
}

impl Buffers {
    /// Begins with the bits that say which rows have a value, unless all have one.
    fn new(valid: Option<&[bool]>) -> Buffers {
        let mut buffers = Buffers { made: Vec::new(), all: Vec::new(), nulls: 0 };
        match valid {
            Some(valid) => {
                buffers.nulls = valid.iter().filter(|valid| !**valid).count();
                buffers.with_bits(valid)
            }
            None => {
                buffers.all.push(ptr::null());
                buffers
            }
        }
    }

    fn with<T>(mut self, values: &[T]) -> Buffers {
        self.all.push(values.as_ptr().cast());
        self
    }

    fn with_bits(mut self, truths: &[bool]) -> Buffers {
        let byte = |eight: &[bool]| eight.iter().rev().fold(0, |bits: u8, truth| bits << 1 | u8::from(*truth));
        let bits: Box<[u8]> = truths.chunks(8).map(byte).collect();
        self.all.push(bits.as_ptr().cast());
        self.made.push(bits);
        self
    }

    fn with_bytes(mut self, bytes: Box<[u8]>) -> Buffers {
        self.all.push(bytes.as_ptr().cast());
        self.made.push(bytes);
        self
    }
}

impl ArrowArray {
    fn new(
        length: usize,
        buffers: Buffers,
        children: Vec<ArrowArray>,
        names: Option<ArrowArray>,
        table: Option<Columns>,
    ) -> ArrowArray {
        let Buffers { made, all, nulls } = buffers;
        let (children, dictionary) = (children.into_iter().map(Child::new).collect(), names.map(Child::new));
        let mut owned = Box::new(OwnedArray { _table: table, _made: made, buffers: all, children, dictionary });
        ArrowArray {
            length: length as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: owned.buffers.len() as i64,
            n_children: owned.children.len() as i64,
            buffers: owned.buffers.as_mut_ptr(),
            children: owned.children.as_mut_ptr().cast(),
            dictionary: owned.dictionary.as_ref().map_or(ptr::null_mut(), |names| names.0),
            release: Some(release_array),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// A column of `table`, which the array holds.
    fn of_column(table: &Columns, place: usize) -> ArrowArray {
        let column = &table[place];
        let buffers = Buffers::new(column.valid.as_deref());
        let (length, held) = (column.len(), Some(Arc::clone(table)));
        match &column.values {
            Flat::Truths(all) => ArrowArray::new(length, buffers.with_bits(all), vec![], None, held),
            Flat::Whole(all) => ArrowArray::new(length, buffers.with(all), vec![], None, held),
            Flat::Real(all) => ArrowArray::new(length, buffers.with(all), vec![], None, held),
            Flat::Texts(all, ends) => {
                ArrowArray::new(length, buffers.with(ends).with(all.as_bytes()), vec![], None, held)
            }
            Flat::Lists(all, there, ends) => {
                let there = there.contains(&false).then_some(there.as_slice());
                let items = Buffers::new(there).with(all);
                let items = ArrowArray::new(all.len(), items, vec![], None, Some(Arc::clone(table)));
                ArrowArray::new(length, buffers.with(ends), vec![items], None, held)
            }
            Flat::Names(places, names) => {
                ArrowArray::new(length, buffers.with(places), vec![], Some(ArrowArray::of_names(names)), held)
            }
        }
    }

    fn of_names(names: &[String]) -> ArrowArray {
        let lengths = names.iter().map(|name| name.len() as i32);
        let ends = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let ends: Box<[u8]> = std::iter::once(0).chain(ends).flat_map(i32::to_ne_bytes).collect();
        let buffers = Buffers::new(None).with_bytes(ends).with_bytes(names.concat().into_bytes().into());
        ArrowArray::new(names.len(), buffers, vec![], None, None)
    }

    fn of_table(table: &Columns) -> ArrowArray {
        let children = (0..table.len()).map(|place| ArrowArray::of_column(table, place)).collect();
        let rows = table.first().map_or(0, FlatColumn::len);
        ArrowArray::new(rows, Buffers::new(None), children, None, None)
    }

    /// The array that ends a stream.
    fn end() -> ArrowArray {
        ArrowArray {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the consumer passes an array of this module that is not released yet.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<OwnedArray>()));
        (*array).release = None;
    }
}

/// A stream of one batch.
struct OwnedStream {
    table: Columns,
    is_at_end: bool,
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the consumer passes a stream that is not released, and room for a schema, whatever is in it.
    unsafe {
        let owned = &*(*stream).private_data.cast::<OwnedStream>();
        ptr::write(out, ArrowSchema::of_table(&owned.table));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the consumer passes a stream that is not released, from one thread at a time, and room for an array.
    unsafe {
        let owned = &mut *(*stream).private_data.cast::<OwnedStream>();
        let is_at_end = std::mem::replace(&mut owned.is_at_end, true);
        ptr::write(out, if is_at_end { ArrowArray::end() } else { ArrowArray::of_table(&owned.table) });
    }
    0
}

/// There are no errors.
unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the consumer passes a stream of this module that is not released yet.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<OwnedStream>()));
        (*stream).release = None;
    }
}

/// The types of a table.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, table: &[FlatColumn]) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, ArrowSchema::of_table(table), c"arrow_schema")
}

/// The rows of a table.
pub(crate) fn stream_capsule(py: Python<'_>, table: Columns) -> PyResult<Bound<'_, PyCapsule>> {
    let owned = Box::new(OwnedStream { table, is_at_end: false });
    let stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(owned).cast(),
    };
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
