// Reductions over the LANES neighbouring invocations (a power of two) that share a row of a workgroup of 256.
// All invocations of the workgroup must call them. LANES is known when the module is built: the steps are then
// written out by the driver.

var<workgroup> sums: array<f32, 256>;
var<workgroup> tops: array<u32, 256>;

fn row_sum(local: u32, x: f32) -> f32 {
    if (LANES == 1u) {
        return x;
    }
    sums[local] = x;
    for (var s = LANES / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if ((local & (LANES - 1u)) < s) {
            sums[local] += sums[local + s];
        }
    }
    workgroupBarrier();
    let total = sums[local & ~(LANES - 1u)];
    workgroupBarrier();
    return total;
}

fn row_max(local: u32, x: u32) -> u32 {
    if (LANES == 1u) {
        return x;
    }
    tops[local] = x;
    for (var s = LANES / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if ((local & (LANES - 1u)) < s) {
            tops[local] = max(tops[local], tops[local + s]);
        }
    }
    workgroupBarrier();
    return tops[local & ~(LANES - 1u)];
}
