//! Where DuckDB begins: the functions are registered with the database that loads the extension.

use std::ffi::CString;
use std::ptr::null_mut;

use crate::api::{Access, Api, Handle};
use crate::calls::{combine, destroy, finalize, init, size, update};
use crate::function::Function;
use crate::state::{FloatMoments, FloatSum, Gives, IntegerMoments, IntegerSum};

/// DuckDB's numbers of types.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Type {
    BigInt = 5,
    UBigInt = 9,
    Double = 11,
}

/// What DuckDB calls when it loads `warpfold.duckdb_extension`; says whether all went well, and else has said why.
///
/// # Safety
/// For DuckDB to call, by its C interface of extensions.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn warpfold_init_c_api(
    info: *mut std::ffi::c_void,
    access: *const std::ffi::c_void,
) -> bool {
    // SAFETY: DuckDB passes what its header calls `duckdb_extension_access`, for the time of the call.
    let access = unsafe { &*access.cast::<Access>() };
    let done = std::panic::catch_unwind(|| load(info, access));
    match done.unwrap_or_else(|_| Err("the extension failed".into())) {
        Ok(()) => true,
        Err(message) => {
            let message = CString::new(format!("warpfold: {message}")).unwrap_or_default();
            // SAFETY: the call is going on, and the message is copied by it.
            unsafe { (access.set_error)(info, message.as_ptr()) };
            false
        }
    }
}

fn load(info: Handle, access: &Access) -> Result<(), String> {
    let api = Api::load(access)?;
    // SAFETY: `info` is that of the call, and the version one that DuckDB 1.2 and later know; what is returned is not used, as functions are found by name.
    if unsafe { (access.get_api)(info, c"v1.2.0".as_ptr()) }.is_null() {
        return Err("this DuckDB has no C interface of version 1.2.0".into());
    }
    let mut connection = null_mut();
    // SAFETY: the database is there during the call, and the connection is given back below.
    let state = unsafe {
        let database = (access.get_database)(info);
        if database.is_null() {
            return Err("there is no database".into());
        }
        (api.connect)(*database, &raw mut connection)
    };
    if state != 0 {
        return Err("the database takes no connection".into());
    }
    let done = Function::ALL.iter().try_for_each(|&function| register(api, connection, function));
    // SAFETY: the connection is from above.
    unsafe { (api.disconnect)(&raw mut connection) };
    done
}

fn register(api: &Api, connection: Handle, function: Function) -> Result<(), String> {
    let name = function.name();
    // SAFETY: objects of DuckDB are made, filled in and given back here; names are copied.
    unsafe {
        let mut set = (api.create_aggregate_function_set)(name.as_ptr());
        overloads(api, set, function);
        let state = (api.register_aggregate_function_set)(connection, set);
        (api.destroy_aggregate_function_set)(&raw mut set);
        match state {
            0 => Ok(()),
            _ => Err(format!("{} is not taken", name.to_string_lossy())),
        }
    }
}

fn overloads(api: &Api, set: Handle, function: Function) {
    use Type::{BigInt, Double, UBigInt};
    macro_rules! spread {
        ($at:literal) => {{
            add::<FloatMoments, f64, $at>(api, set, Double, Double);
            add::<IntegerMoments<i64>, f64, $at>(api, set, BigInt, Double);
            add::<IntegerMoments<u64>, f64, $at>(api, set, UBigInt, Double);
        }};
    }
    match function {
        Function::Sum => {
            add::<FloatSum, f64, 0>(api, set, Double, Double);
            add::<IntegerSum<i64>, i64, 0>(api, set, BigInt, BigInt);
            add::<IntegerSum<u64>, u64, 0>(api, set, UBigInt, UBigInt);
        }
        Function::Avg => {
            add::<FloatSum, f64, 1>(api, set, Double, Double);
            add::<IntegerSum<i64>, f64, 1>(api, set, BigInt, Double);
            add::<IntegerSum<u64>, f64, 1>(api, set, UBigInt, Double);
        }
        Function::Var => spread!(2),
        Function::VarPop => spread!(3),
        Function::Stddev => spread!(4),
        Function::StddevPop => spread!(5),
    }
}

/// Adds a function of a type to its set; its number is its place in [`Function::ALL`].
fn add<S: Gives<O>, O: Copy, const F: usize>(api: &Api, set: Handle, of: Type, result: Type) {
    // SAFETY: objects of DuckDB are made, filled in and given back here; the steps are of one state, and of the types that are told.
    unsafe {
        let mut function = (api.create_aggregate_function)();
        (api.aggregate_function_set_name)(function, Function::ALL[F].name().as_ptr());
        let (mut of, mut result) =
            ((api.create_logical_type)(of as u32), (api.create_logical_type)(result as u32));
        (api.aggregate_function_add_parameter)(function, of);
        (api.aggregate_function_set_return_type)(function, result);
        (api.destroy_logical_type)(&raw mut of);
        (api.destroy_logical_type)(&raw mut result);
        (api.aggregate_function_set_functions)(
            function,
            size::<S>,
            init::<S>,
            update::<S>,
            combine::<S>,
            finalize::<S, O, F>,
        );
        (api.aggregate_function_set_destructor)(function, destroy::<S>);
        (api.add_aggregate_function_to_set)(set, function);
        (api.destroy_aggregate_function)(&raw mut function);
    }
}
