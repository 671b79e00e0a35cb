// A grid of more workgroups than one dimension holds (65,535) is folded over x and y.

/// The index of this workgroup as if the grid had one dimension.
fn linear(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}
