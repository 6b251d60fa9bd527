//! The printer: a syntax tree back to PTX text that parses to the same tree.

use std::fmt::{self, Display, Formatter};

use super::ast::*;

pub(super) const LINKAGES: [(&str, Linkage); 4] = [
    ("visible", Linkage::Visible),
    ("extern", Linkage::Extern),
    ("weak", Linkage::Weak),
    ("common", Linkage::Common),
];

pub(super) const SPACES: [(&str, Space); 5] = [
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("local", Space::Local),
    ("const", Space::Const),
    ("param", Space::Param),
];

impl Space {
    /// The word PTX writes; empty for generic addresses.
    pub fn word(self) -> &'static str {
        SPACES.iter().find(|(_, space)| *space == self).map_or("", |(word, _)| word)
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

fn offset(f: &mut Formatter<'_>, bytes: i64) -> fmt::Result {
    match bytes {
        0 => Ok(()),
        1.. => write!(f, "+{bytes}"),
        _ => write!(f, "+-{}", bytes.unsigned_abs()),
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version {}.{}", self.version.0, self.version.1)?;
        writeln!(f, ".target {}", self.target.join(", "))?;
        writeln!(f, ".address_size {}\n", self.address_size)?;
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Item::Variable(variable) => write!(f, "{variable};"),
            Item::Function(function) => function.fmt(f),
            Item::File { index, name } => write!(f, ".file {index} \"{name}\""),
            Item::Section { name, lines } => {
                writeln!(f, ".section .{name}\n{{")?;
                for line in lines {
                    match line {
                        SectionLine::Label(label) => writeln!(f, "{label}:")?,
                        SectionLine::Data(width, values) => {
                            write!(f, ".{width} ")?;
                            list(f, values)?;
                            writeln!(f)?;
                        }
                    }
                }
                write!(f, "}}")
            }
        }
    }
}

impl Display for Linkage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match LINKAGES.iter().find(|(_, linkage)| linkage == self) {
            Some((word, _)) => write!(f, ".{word} "),
            None => Ok(()),
        }
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.linkage, self.space.word())?;
        if let Some(bytes) = self.align {
            write!(f, " .align {bytes}")?;
        }
        if self.vector > 1 {
            write!(f, " .v{}", self.vector)?;
        }
        write!(f, " .{}", self.ty.word())?;
        for word in &self.pointer {
            match word {
                PointerWord::Word(word) => write!(f, " .{word}")?,
                PointerWord::Number(number) => write!(f, " {number}")?,
            }
        }
        write!(f, " {}", self.name)?;
        for length in &self.dimensions {
            match length {
                Some(length) => write!(f, "[{length}]")?,
                None => write!(f, "[]")?,
            }
        }
        match &self.initial {
            Some(initial) => write!(f, " = {initial}"),
            None => Ok(()),
        }
    }
}

impl Display for Initial {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Initial::One(constant) => constant.fmt(f),
            Initial::Many(values) => {
                write!(f, "{{")?;
                list(f, values)?;
                write!(f, "}}")
            }
        }
    }
}

impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Integer(value) => write!(f, "{value}"),
            Constant::Single(bits) => write!(f, "0f{bits:08X}"),
            Constant::Double(bits) => write!(f, "0d{bits:016X}"),
            Constant::Address { name, offset: bytes, form } => {
                match form {
                    AddressForm::Own => write!(f, "{name}")?,
                    AddressForm::Generic => write!(f, "generic({name})")?,
                }
                offset(f, *bytes)
            }
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = match self.kind {
            FunctionKind::Entry => "entry",
            FunctionKind::Device => "func",
        };
        write!(f, "{}.{word} ", self.linkage)?;
        if !self.returns.is_empty() {
            write!(f, "(")?;
            list(f, &self.returns)?;
            write!(f, ") ")?;
        }
        write!(f, "{}(", self.name)?;
        list(f, &self.parameters)?;
        writeln!(f, ")")?;
        for (word, numbers) in &self.directives {
            write!(f, ".{word} ")?;
            list(f, numbers)?;
            writeln!(f)?;
        }
        match &self.body {
            None => write!(f, ";"),
            Some(body) => {
                writeln!(f, "{{")?;
                body.iter().try_for_each(|statement| writeln!(f, "{statement}"))?;
                write!(f, "}}")
            }
        }
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Label { name, .. } => write!(f, "{name}:"),
            Statement::Registers { ty, names, .. } => {
                write!(f, "\t.reg .{} ", ty.word())?;
                for (i, (name, count)) in names.iter().enumerate() {
                    write!(f, "{}{name}", if i == 0 { "" } else { ", " })?;
                    if let Some(count) = count {
                        write!(f, "<{count}>")?;
                    }
                }
                write!(f, ";")
            }
            Statement::Variable(variable) => write!(f, "\t{variable};"),
            Statement::Location(location) => write!(f, "\t{location}"),
            Statement::Pragma(text) => write!(f, "\t.pragma \"{text}\";"),
            Statement::BranchTargets { name, targets, .. } => {
                write!(f, "{name}: .branchtargets {};", targets.join(", "))
            }
            Statement::Block(statements) => {
                writeln!(f, "\t{{")?;
                statements.iter().try_for_each(|statement| writeln!(f, "{statement}"))?;
                write!(f, "\t}}")
            }
            Statement::Instruction(instruction) => write!(f, "\t{instruction}"),
        }
    }
}

impl Display for Location {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".loc {} {} {}", self.file, self.line, self.column)?;
        if let Some((label, bytes)) = &self.function {
            write!(f, ", function_name {label}")?;
            offset(f, *bytes)?;
        }
        match self.inlined_at {
            Some((file, line, column)) => write!(f, ", inlined_at {file} {line} {column}"),
            None => Ok(()),
        }
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            let not = if guard.sense == Sense::Negated { "!" } else { "" };
            write!(f, "@{not}{} ", guard.register)?;
        }
        write!(f, "{}", self.opcode())?;
        if !self.operands.is_empty() {
            write!(f, " ")?;
            list(f, &self.operands)?;
        }
        write!(f, ";")
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Name(name) => write!(f, "{name}"),
            Operand::Component(name, component) => write!(f, "{name}.{component}"),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Pair(a, b) => write!(f, "{a}|{b}"),
            Operand::Offset(name, bytes) => {
                write!(f, "{name}")?;
                // A zero offset is still an offset here, or the tree would change.
                if *bytes == 0 { write!(f, "+0") } else { offset(f, *bytes) }
            }
            Operand::Integer(value) => match *value as i64 {
                negative @ ..0 => write!(f, "-{}", negative.unsigned_abs()),
                value => write!(f, "{value}"),
            },
            Operand::Single(bits) => write!(f, "0f{bits:08X}"),
            Operand::Double(bits) => write!(f, "0d{bits:016X}"),
            Operand::Memory(Base::Name(name), bytes) => {
                write!(f, "[{name}")?;
                offset(f, *bytes)?;
                write!(f, "]")
            }
            Operand::Memory(Base::Absolute(address), bytes) => {
                write!(f, "[{address}")?;
                offset(f, *bytes)?;
                write!(f, "]")
            }
            Operand::Vector(items) => {
                write!(f, "{{")?;
                list(f, items)?;
                write!(f, "}}")
            }
            Operand::List(items) => {
                write!(f, "(")?;
                list(f, items)?;
                write!(f, ")")
            }
        }
    }
}
