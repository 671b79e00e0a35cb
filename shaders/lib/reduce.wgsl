// Reductions over the `lanes` neighbouring invocations (a power of two, 256 at most) that share a row.
// All invocations of the workgroup must call them.

var<workgroup> partial: array<f32, 256>;

fn row_sum(local: u32, lanes: u32, x: f32) -> f32 {
    partial[local] = x;
    for (var s = lanes / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if ((local & (lanes - 1u)) < s) {
            partial[local] += partial[local + s];
        }
    }
    workgroupBarrier();
    let sum = partial[local & ~(lanes - 1u)];
    workgroupBarrier();
    return sum;
}

fn row_max(local: u32, lanes: u32, x: f32) -> f32 {
    partial[local] = x;
    for (var s = lanes / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if ((local & (lanes - 1u)) < s) {
            partial[local] = max(partial[local], partial[local + s]);
        }
    }
    workgroupBarrier();
    let largest = partial[local & ~(lanes - 1u)];
    workgroupBarrier();
    return largest;
}
