//! The table of kernels against its WGSL, by naga and without a GPU: entry points, bindings, parameters,
//! and the limits that every WebGPU device has.

use naga::proc::{Layouter, TypeResolution};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, ShaderStage, StorageAccess, TypeInner};

/// The limits of every WebGPU device.
const INVOCATIONS: u32 = 256;
const WORKGROUP_BYTES: u32 = 16_384;
const STORAGE_BUFFERS: u32 = 8;

#[test]
fn every_row_is_what_its_shader_says() {
    let kernels = tensorweft::kernels();
    assert!(kernels.len() >= 26, "{} rows", kernels.len());
    let faults: Vec<String> =
        kernels.iter().filter_map(|row| inspect(row).err().map(|fault| format!("{}: {fault}", row.name))).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = tensorweft::kernels().into_iter().map(|row| row.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// A `var` without a value is zero in each round of a loop, says WGSL. In Chromium 156 and Firefox 153 it keeps what
/// the round before left; natively it does not, so only reading finds it.
#[test]
fn variables_in_loops_have_values() {
    let mut wrong = Vec::new();
    for row in tensorweft::kernels() {
        // For each open brace, whether it is within a loop.
        let mut open: Vec<bool> = Vec::new();
        for line in row.source.lines() {
            let line = line.split("//").next().unwrap_or("").trim();
            let inside = open.last().copied().unwrap_or(false);
            if inside && line.starts_with("var ") && !line.contains('=') {
                wrong.push(format!("{}: {line}", row.name));
            }
            let looping = inside || ["for ", "for(", "while ", "loop "].iter().any(|word| line.starts_with(word));
            for c in line.chars() {
                match c {
                    '{' => open.push(looping),
                    '}' => drop(open.pop()),
                    _ => {}
                }
            }
        }
        assert!(open.is_empty(), "{}: braces", row.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn inspect(row: &tensorweft::KernelInfo) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(&row.source).map_err(|e| e.emit_to_string(&row.source))?;
    // No capability beyond WebGPU's core, in which halves can be unpacked everywhere.
    let info = Validator::new(ValidationFlags::all(), Capabilities::SHADER_FLOAT16_IN_FLOAT32)
        .validate(&module)
        .map_err(|e| e.emit_to_string(&row.source))?;

    let index = module
        .entry_points
        .iter()
        .position(|e| e.name == row.entry && e.stage == ShaderStage::Compute)
        .ok_or_else(|| format!("no compute entry point {}", row.entry))?;
    let invocations: u32 = module.entry_points[index].workgroup_size.iter().product();
    if invocations > INVOCATIONS {
        return Err(format!("{invocations} invocations a workgroup"));
    }

    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).map_err(|e| e.to_string())?;
    let used = info.get_entry_point(index);
    let mut bindings = Vec::new();
    let mut workgroup = 0;
    for (handle, global) in module.global_variables.iter() {
        if used[handle].is_empty() {
            continue;
        }
        if global.space == AddressSpace::WorkGroup {
            workgroup += layouter[global.ty].size;
        }
        if let Some(binding) = &global.binding {
            bindings.push((binding.group, binding.binding, global));
        }
    }
    if workgroup > WORKGROUP_BYTES {
        return Err(format!("{workgroup} bytes of workgroup memory"));
    }
    if row.inputs + row.outputs > STORAGE_BUFFERS {
        return Err("too many storage buffers".into());
    }

    bindings.sort_by_key(|(group, binding, _)| (*group, *binding));
    let places: Vec<_> = bindings.iter().map(|(group, binding, _)| (*group, *binding)).collect();
    let expected: Vec<_> = (0..row.inputs + row.outputs + 1).map(|i| (0, i)).collect();
    if places != expected {
        return Err(format!("uses bindings {places:?}, the row says {expected:?}"));
    }
    for (_, binding, global) in &bindings {
        let i = *binding;
        let space = if i < row.inputs {
            AddressSpace::Storage { access: StorageAccess::LOAD }
        } else if i < row.inputs + row.outputs {
            AddressSpace::Storage { access: StorageAccess::LOAD | StorageAccess::STORE }
        } else {
            AddressSpace::Uniform
        };
        if global.space != space {
            return Err(format!("binding {i} is {:?}, not {space:?}", global.space));
        }
    }

    let (_, _, uniform) = bindings.last().ok_or("no bindings")?;
    let TypeInner::Struct { members, .. } = &module.types[uniform.ty].inner else {
        return Err("the parameters are no struct".into());
    };
    let declared: Vec<(&str, u32)> = members.iter().map(|m| (m.name.as_deref().unwrap_or(""), m.offset)).collect();
    if declared != row.params {
        return Err(format!("the shader's parameters are {declared:?}, the row's {:?}", row.params));
    }
    let scalars = members.iter().all(
        |m| matches!(TypeResolution::Handle(m.ty).inner_with(&module.types), TypeInner::Scalar(s) if s.width == 4),
    );
    if scalars { Ok(()) } else { Err("a parameter is no 32-bit number".into()) }
}
