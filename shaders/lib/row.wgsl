// import lib/grid.wgsl

// LANES neighbouring invocations of a workgroup of 256 share a row of d values (or vectors). Each has up to EACH of them:
// lane, lane + LANES, …

struct Row { first: u32, d: u32, lane: u32, there: bool }

fn row_of(group: vec3<u32>, groups: vec3<u32>, local: u32, rows: u32, d: u32) -> Row {
    let row = linear(group, groups) * (256u / LANES) + local / LANES;
    return Row(select(0u, row * d, row < rows), d, local & (LANES - 1u), row < rows);
}

/// Where the e-th value lies. Beyond the row's end it is the last one: without a branch, all loads are on their way together.
fn at(row: Row, e: u32) -> u32 {
    return row.first + min(row.lane + e * LANES, row.d - 1u);
}

fn within(row: Row, e: u32) -> bool {
    return row.lane + e * LANES < row.d;
}

/// The column of the e-th value.
fn column(row: Row, e: u32) -> u32 {
    return row.lane + e * LANES;
}
