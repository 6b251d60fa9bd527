//! Stands in for libcuda.so: answers what it is asked before a GPU is opened, as the environment says. The tests compile it with rustc.
#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_uint};

fn said(variable: &str, otherwise: c_int) -> c_int {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_: c_uint) -> c_int {
    said("FAKE_INIT", 0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { *version = said("FAKE_VERSION", 13000) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(_: c_int, name: *mut *const c_char) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { *name = c"CUDA_ERROR_OF_THE_TEST".as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(_: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { *text = c"no device is detected".as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { *count = said("FAKE_COUNT", 1) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    if ordinal >= said("FAKE_COUNT", 1) {
        return 101;
    }
    // SAFETY: the driver's contract.
    unsafe { *device = ordinal };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, room: c_int, _: c_int) -> c_int {
    let text = c"Fake GPU".to_bytes_with_nul();
    assert!(text.len() <= room as usize);
    // SAFETY: the driver's contract, and the room was checked.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _: c_int) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { *bytes = 8 << 30 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, _: c_int) -> c_int {
    let compute = said("FAKE_COMPUTE", 90);
    let answer = match which {
        13 => 1_980_000,     // clock in kHz
        16 => 132,           // multiprocessors
        36 => 3_201_000,     // memory clock in kHz
        37 => 6_144,         // width of the memory bus in bits
        38 => 50 << 20,      // L2 cache
        75 => compute / 10,
        76 => compute % 10,
        33 | 34 | 50 => 255, // a place on the bus where nothing is
        other => panic!("attribute {other} was asked for"),
    };
    // SAFETY: the driver's contract.
    unsafe { *value = answer };
    0
}
