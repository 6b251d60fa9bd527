//! What the library says of its kernels again, in its own words, is what the device code says (`warpfold_kernels::manifest`).

use warpfold_gpu::kernel::{Arguments, RECORD_WORDS, record_offset};
use warpfold_kernels::{Entry, arguments, catalog, entry};
use warpfold_num::DType;
use warpfold_plan::plan::{DeviceFold, TreeSizes};

/// Every kernel of a whole array, with its fold and element type.
fn folds() -> impl Iterator<Item = (DeviceFold, DType, &'static Entry)> {
    catalog::builds().map(|build| {
        let fold = DeviceFold::ALL.iter().copied().find(|fold| fold.name() == build.fold.name);
        let dtype = build.element.name.parse().expect("the contract's name");
        let module = warpfold_kernels::find(&build.module()).expect("the catalogue lists it");
        let entry = module.entry(&build.entry()).expect("a module has its fold");
        (fold.expect("the library knows every fold"), dtype, entry)
    })
}

#[test]
fn blocks_have_the_threads_that_kernels_are_bounded_to() {
    for (fold, dtype, entry) in folds() {
        assert_eq!(entry.max_threads, Some(fold.most_threads(dtype)), "{}", entry.name);
    }
}

#[test]
fn kernels_take_the_arguments_that_launches_give() {
    for (_, _, entry) in folds() {
        assert_eq!(entry.parameter_bytes as usize, size_of::<Arguments>(), "{}", entry.name);
    }
}

#[test]
fn records_have_room_for_what_kernels_write() {
    let words = |name| entry(name).and_then(|entry| entry.record_words).expect("exact");
    // Stats of complex128 are two launches, whose records lie one after another.
    let longest = words("exact_moments_complex128") + words("exact_l1_complex128");
    assert!(longest as usize <= RECORD_WORDS);
    for (fold, _, entry) in folds() {
        assert_eq!(entry.record_words.is_some(), fold.is_exact(), "{}", entry.name);
        assert!(entry.record_words.unwrap_or(0) as usize <= RECORD_WORDS, "{}", entry.name);
    }
}

#[test]
fn workspaces_have_room_for_the_largest_state() {
    // What a block more has; up to some hundreds of blocks, the spans of trees take more than their states.
    let room = record_offset(10_001) - record_offset(10_000);
    for (fold, _, entry) in folds() {
        assert_eq!(entry.state_bytes.is_some(), !fold.is_exact(), "{}", entry.name);
        assert!(u64::from(entry.state_bytes.unwrap_or(0)) <= room, "{}", entry.name);
    }
}

#[test]
fn products_are_planned_by_the_sizes_of_their_kernels() {
    let TreeSizes { run, block, warps, piece_blocks, row_bytes } = TreeSizes::KERNELS;
    assert_eq!([run, block], [arguments::TREE_RUN, arguments::TREE_BLOCK]);
    assert_eq!([warps, row_bytes], [arguments::TREE_WARPS, arguments::TREE_LONGEST_ROW_BYTES]);
    assert!(arguments::TREE_SHORT_ROW_BYTES <= row_bytes);
    assert!(piece_blocks <= 1 << (arguments::TREE_PIECE_LEVELS - 1));
}

#[test]
fn products_of_short_outputs_have_kernels_of_all_floats() {
    for kind in ["half", "f32", "f64", "complex64", "complex128"] {
        for short in ["rows", "short_rows", "offsets"] {
            let name = format!("segment_products_{kind}_{short}");
            assert!(entry(&name).is_some(), "{name}");
        }
    }
}
