//! Module-level variables: where each lies, and the bytes it starts with.

use std::collections::HashMap;

use super::{DecodeError, window};
use crate::ptx::{
    AddressForm, Constant, Initial, Item, Line, Linkage, Module, Space, Type, Variable,
};

/// Most bytes a module's variables of one space may take: a guard against hostile files.
const MOST_BYTES: u64 = 1 << 32;
/// Constant memory is 64 KiB.
const MOST_CONSTANT: u64 = 1 << 16;

/// A variable that has its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaidOut {
    pub(super) space: Space,
    /// Its address in its own space; for `extern` shared arrays, relative to the dynamic part.
    pub(super) address: u64,
    pub(super) sizing: Sizing,
}

/// Who decides how large a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sizing {
    Static,
    /// `extern .shared`: the launch.
    Dynamic,
}

/// Everything at module level.
pub(super) struct Layout {
    pub(super) names: HashMap<String, LaidOut>,
    pub(super) constants: Vec<u8>,
    pub(super) globals: Vec<u8>,
    pub(super) shared_bytes: u64,
    pub(super) dynamic_align: u64,
    pub(super) files: Vec<(u64, String)>,
}

pub(super) fn error<T>(line: Line, message: impl Into<String>) -> Result<T, DecodeError> {
    Err(DecodeError { line, message: message.into() })
}

/// The size of a variable in bytes; zero for an open array.
pub(super) fn size_of(variable: &Variable) -> Result<u64, DecodeError> {
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    if element == 0 {
        return error(variable.line, format!("`{}`: a predicate has no memory", variable.name));
    }
    let mut lengths = variable.dimensions.iter().map(|length| length.unwrap_or(0));
    let bytes = lengths.try_fold(element, u64::checked_mul);
    match bytes {
        Some(bytes) if bytes <= MOST_BYTES => Ok(bytes),
        _ => error(variable.line, format!("`{}` is larger than {MOST_BYTES} bytes", variable.name)),
    }
}

/// The alignment of a variable in bytes.
pub(super) fn align_of(variable: &Variable) -> u64 {
    u64::from(variable.align.unwrap_or(variable.ty.bytes() * variable.vector).max(1))
}

impl Layout {
    pub(super) fn new(module: &Module) -> Result<Layout, DecodeError> {
        let mut layout = Layout {
            names: HashMap::new(),
            constants: Vec::new(),
            globals: Vec::new(),
            shared_bytes: 0,
            dynamic_align: 16,
            files: Vec::new(),
        };
        let mut variables = Vec::new();
        for item in &module.items {
            match item {
                Item::Variable(variable) => {
                    layout.location(variable)?;
                    variables.push(variable);
                }
                Item::File { index, name } => layout.files.push((*index, name.clone())),
                Item::Function(_) | Item::Section { .. } => {}
            }
        }
        for variable in variables {
            layout.fill(variable)?;
        }
        Ok(layout)
    }

    fn location(&mut self, variable: &Variable) -> Result<(), DecodeError> {
        let bytes = size_of(variable)?;
        let align = align_of(variable);
        let mut sizing = Sizing::Static;
        let address = match variable.space {
            Space::Shared if variable.linkage == Linkage::Extern => {
                sizing = Sizing::Dynamic;
                self.dynamic_align = self.dynamic_align.max(align);
                0
            }
            Space::Shared => {
                let address = self.shared_bytes.next_multiple_of(align);
                self.shared_bytes = address + bytes;
                address
            }
            Space::Global | Space::Const => {
                if variable.linkage == Linkage::Extern {
                    return error(
                        variable.line,
                        format!(
                            "`{}` is defined in another module; link it into this one",
                            variable.name
                        ),
                    );
                }
                let constant = variable.space == Space::Const;
                let (image, most) = if constant {
                    (&mut self.constants, MOST_CONSTANT)
                } else {
                    (&mut self.globals, MOST_BYTES)
                };
                let address = (image.len() as u64).next_multiple_of(align);
                if address + bytes > most {
                    let space = variable.space.word();
                    return error(
                        variable.line,
                        format!(
                            "`{}` does not fit: .{space} variables may take {most} bytes",
                            variable.name
                        ),
                    );
                }
                image.resize((address + bytes) as usize, 0);
                if constant { address } else { window::MODULE + address }
            }
            space => {
                return error(
                    variable.line,
                    format!("a .{} variable at module level", space.word()),
                );
            }
        };
        let placed = LaidOut { space: variable.space, address, sizing };
        if self.names.insert(variable.name.clone(), placed).is_some() {
            return error(variable.line, format!("`{}` is declared twice", variable.name));
        }
        Ok(())
    }

    fn fill(&mut self, variable: &Variable) -> Result<(), DecodeError> {
        let Some(initial) = &variable.initial else { return Ok(()) };
        let mut bytes = Vec::new();
        self.flatten(initial, variable, &mut bytes)?;
        let address = self.names[&variable.name].address;
        let (image, start) = match variable.space {
            Space::Const => (&mut self.constants, address),
            Space::Global => (&mut self.globals, address - window::MODULE),
            _ => {
                return error(
                    variable.line,
                    format!("`{}`: .shared takes no initial value", variable.name),
                );
            }
        };
        let start = start as usize;
        if bytes.len() as u64 > size_of(variable)? {
            return error(
                variable.line,
                format!("`{}` has more initial values than elements", variable.name),
            );
        }
        image[start..start + bytes.len()].copy_from_slice(&bytes);
        Ok(())
    }

    fn flatten(
        &self,
        initial: &Initial,
        variable: &Variable,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        match initial {
            Initial::Many(values) => {
                values.iter().try_for_each(|value| self.flatten(value, variable, out))
            }
            Initial::One(constant) => {
                let bits = self.value(constant, variable)?;
                out.extend_from_slice(&bits.to_le_bytes()[..variable.ty.bytes().min(8) as usize]);
                Ok(())
            }
        }
    }

    fn value(&self, constant: &Constant, variable: &Variable) -> Result<u64, DecodeError> {
        Ok(match constant {
            Constant::Integer(value) => *value,
            Constant::Single(bits) if variable.ty == Type::F64 => {
                f64::from(f32::from_bits(*bits)).to_bits()
            }
            Constant::Single(bits) => u64::from(*bits),
            Constant::Double(bits) if variable.ty == Type::F32 => {
                u64::from((f64::from_bits(*bits) as f32).to_bits())
            }
            Constant::Double(bits) => *bits,
            Constant::Address { name, offset, form } => match self.names.get(name) {
                Some(placed) => {
                    let generic = match form {
                        AddressForm::Own => 0,
                        AddressForm::Generic => window::base(placed.space),
                    };
                    (placed.address + generic).wrapping_add_signed(*offset)
                }
                None => {
                    return error(
                        variable.line,
                        format!(
                            "`{}` takes the address of `{name}`, which is no variable",
                            variable.name
                        ),
                    );
                }
            },
        })
    }
}
