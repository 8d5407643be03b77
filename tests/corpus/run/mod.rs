//! The programs of this folder, in order.

use millstream_tests::Listed;

macro_rules! programs {
    ($($name:ident)*) => {
        $(mod $name;)*
        /// Each with its calls.
        pub const PROGRAMS: &[Listed] = &[$(Listed {
            name: stringify!($name),
            source: include_str!(concat!(stringify!($name), ".rs")),
            cases: $name::CASES,
            text: || $name::program::program().text(),
        }),*];
    };
}

programs! {
    array_patterns
    array_values
    arrays
    asserts
    atomic_arrays
    atomic_compare_exchange
    atomic_local
    atomic_ops
    atomic_orders
    binary_search
    bit_tricks
    blocks_as_values
    bool_logic
    branch_and_bound
    breadth_first_search
    byte_methods
    byte_strings
    call_without_spawn
    called_tasks
    casts_floats
    casts_ints
    checksum
    cilksort
    clones
    comparisons
    constants
    constants_in_functions
    deep_recursion
    defaults
    early_returns
    effects_between_spawns
    empty_loops
    evaluation_order
    fft
    fib
    float_arithmetic
    float_bits
    float_constants
    float_methods
    float_order
    floyd_warshall
    for_changed_bounds
    for_parts
    for_ranges
    for_slices
    for_type_bounds
    game_of_life
    gather_all_operators
    gather_bools
    gather_elements
    gather_floats
    gather_over_syncs
    gather_sum
    helpers
    implicit_sync
    imports
    inference
    int_bits
    int_division
    int_methods
    int_shifts
    int_widths
    int_wrapping_methods
    int_wraps
    integrate
    knapsack
    late_initialization
    lent_local_array
    lent_struct_fields
    let_conditions
    loop_labels
    loop_value
    mandelbrot
    many_parameters
    match_alternatives
    match_integers
    match_tuples
    match_values
    matches_macro
    matrix_multiply
    matrix_quadrants
    matrix_stencil
    matrix_strips
    matrix_views
    mergesort
    methods
    no_parameters
    parallel_corners
    parallel_loops
    parallel_ports
    parallel_recursion
    patterns_behind_references
    patterns_with_rest
    permutations
    prefix_sums
    queens
    quicksort
    random_numbers
    random_reduction_rounds
    raw_names
    references
    results_in_array
    results_in_slice
    results_in_struct
    results_structs_arrays
    results_tuple
    return_before_sync
    several_syncs
    shadowing
    slice_methods
    slice_windows
    slices
    small_arrays
    spawn_in_branches
    spawn_in_nested_blocks
    string_matching
    struct_slices
    structs
    sudoku
    sync_in_branch
    sync_in_loop
    tasks_beside_kernels
    tasks_mutual
    three_phase_state
    tree_walk
    tuple_structs
    tuples
    type_aliases
    u64_full_range
    unused_results
    walked_slices
    while_loops
    wide_loops
    wide_nested_loops
    wide_spawn
    without_checks
}
