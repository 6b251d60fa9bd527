//! The syntax tree of a PTX module: what the text says, nothing of what it means.

use std::fmt;

use super::mnemonic::Mnemonic;

/// A line of the PTX text, counted from one.
///
/// Where a thing stands is no part of what it is: all lines compare equal, so that two trees are
/// equal when they say the same, however they are laid out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _: &Line) -> bool {
        true
    }
}

impl Eq for Line {}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A whole PTX file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// `.version`, as (major, minor).
    pub version: (u32, u32),
    /// `.target`: the architecture first, then its options.
    pub target: Vec<String>,
    /// `.address_size`, in bits; the simulator runs 64 only.
    pub address_size: u32,
    /// Everything else, in the order of the file.
    pub items: Vec<Item>,
}

/// One thing at the top level of a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A variable in global, constant or shared memory.
    Variable(Variable),
    /// A kernel or a device function.
    Function(Function),
    /// `.file index "name"`: a source file that `.loc` refers to.
    File {
        /// The number `.loc` uses.
        index: u64,
        /// The path as the compiler wrote it.
        name: String,
    },
    /// `.section name { … }`: debugging data, kept for the printer and otherwise unread.
    Section {
        /// The section's name, with its dot.
        name: String,
        /// Its words, line by line.
        lines: Vec<SectionLine>,
    },
}

/// One line of a debugging section.
#[derive(Clone, Debug, PartialEq)]
pub enum SectionLine {
    /// A label.
    Label(String),
    /// A width (`b8`, `b32`, `b64`) and its values.
    Data(String, Vec<Constant>),
}

/// Who may see a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// No word: this module alone.
    #[default]
    Internal,
    /// `.visible`
    Visible,
    /// `.extern`; of shared arrays, those sized at launch.
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// No word: the address says where it lies.
    Generic,
    /// Device memory.
    Global,
    /// The block's own memory.
    Shared,
    /// The thread's own memory.
    Local,
    /// Read-only memory of the module.
    Const,
    /// A kernel's arguments, or a call's.
    Param,
}

/// The type of a register, variable or instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are PTX's own.
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    U16x2,
    S16x2,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

impl Type {
    /// Every type with the word PTX writes for it.
    pub const ALL: [(Type, &'static str); 22] = [
        (Type::Pred, "pred"),
        (Type::B8, "b8"),
        (Type::B16, "b16"),
        (Type::B32, "b32"),
        (Type::B64, "b64"),
        (Type::B128, "b128"),
        (Type::U8, "u8"),
        (Type::U16, "u16"),
        (Type::U32, "u32"),
        (Type::U64, "u64"),
        (Type::S8, "s8"),
        (Type::S16, "s16"),
        (Type::S32, "s32"),
        (Type::S64, "s64"),
        (Type::U16x2, "u16x2"),
        (Type::S16x2, "s16x2"),
        (Type::F16, "f16"),
        (Type::F16x2, "f16x2"),
        (Type::Bf16, "bf16"),
        (Type::Bf16x2, "bf16x2"),
        (Type::F32, "f32"),
        (Type::F64, "f64"),
    ];

    /// The type that `word` (without its dot) names.
    pub fn from_word(word: &str) -> Option<Type> {
        Type::ALL.iter().find(|(_, name)| *name == word).map(|(ty, _)| *ty)
    }

    /// The word PTX writes, without its dot.
    pub fn word(self) -> &'static str {
        Type::ALL.iter().find(|(ty, _)| *ty == self).map_or("pred", |(_, word)| word)
    }

    /// Size in memory, in bytes; a predicate has none.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Pred => 0,
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 4,
            Type::U16x2 | Type::S16x2 | Type::F16x2 | Type::Bf16x2 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
            Type::B128 => 16,
        }
    }

    /// Size in bits.
    pub fn bits(self) -> u32 {
        self.bytes() * 8
    }

    /// Whether arithmetic on it is two's complement with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Whether it is a floating-point type, packed ones included.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(self, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64)
    }
}

/// A declared variable, or a formal parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Who may see it.
    pub linkage: Linkage,
    /// Where it lies.
    pub space: Space,
    /// `.align`, in bytes; the type's own size where absent.
    pub align: Option<u32>,
    /// Elements in each vector: 1, 2 or 4.
    pub vector: u32,
    /// The element type.
    pub ty: Type,
    /// `.ptr` and what follows on a kernel's parameter, word by word.
    pub pointer: Vec<PointerWord>,
    /// Its name.
    pub name: String,
    /// Array lengths, outermost first; `None` for an open `[]`.
    pub dimensions: Vec<Option<u64>>,
    /// The initial value.
    pub initial: Option<Initial>,
    /// Where it is declared.
    pub line: Line,
}

/// A word of `.ptr .space .align n`.
#[derive(Clone, Debug, PartialEq)]
pub enum PointerWord {
    /// A dotted word.
    Word(String),
    /// The number after `.align`.
    Number(u64),
}

/// An initial value, nested as the array is.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// One constant.
    One(Constant),
    /// A braced list.
    Many(Vec<Initial>),
}

/// A constant in an initial value or a debugging section.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// An integer, as 64 bits in two's complement.
    Integer(u64),
    /// An f32 by its bits.
    Single(u32),
    /// An f64 by its bits.
    Double(u64),
    /// The address of a name plus an offset; `generic` where the generic address was asked for.
    Address {
        /// The variable.
        name: String,
        /// Bytes past it.
        offset: i64,
        /// Its own space's address, or the generic one.
        form: AddressForm,
    },
}

/// Which address of a variable a constant takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressForm {
    /// In the variable's own space.
    Own,
    /// `generic(name)`
    Generic,
}

/// Kernel or device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`: launched from the host.
    Entry,
    /// `.func`: called from device code.
    Device,
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Who may see it.
    pub linkage: Linkage,
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// What it returns.
    pub returns: Vec<Variable>,
    /// Its name.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<Variable>,
    /// `.maxntid` and its like: word and numbers.
    pub directives: Vec<(String, Vec<u64>)>,
    /// Its statements; `None` for a declaration.
    pub body: Option<Vec<Statement>>,
    /// Where it begins.
    pub line: Line,
}

/// One statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `name:`
    Label {
        /// The label.
        name: String,
        /// Where it stands.
        line: Line,
    },
    /// `.reg`
    Registers {
        /// Their type.
        ty: Type,
        /// Names, each with its count where it is a family `%r<7>`.
        names: Vec<(String, Option<u32>)>,
        /// Where they are declared.
        line: Line,
    },
    /// A variable in local, shared or parameter space.
    Variable(Variable),
    /// `.loc`
    Location(Location),
    /// `.pragma "text";`
    Pragma(String),
    /// `label: .branchtargets a, b;`
    BranchTargets {
        /// The table's name.
        name: String,
        /// Its labels.
        targets: Vec<String>,
        /// Where it stands.
        line: Line,
    },
    /// `{ … }`, a scope of its own.
    Block(Vec<Statement>),
    /// An instruction.
    Instruction(Instruction),
}

/// A place in the CUDA source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Number of the `.file`.
    pub file: u64,
    /// Line, from one; zero where the compiler knows none.
    pub line: u64,
    /// Column.
    pub column: u64,
    /// The name of an inlined function (label and offset), where this code came from one.
    pub function: Option<(String, i64)>,
    /// Where it was inlined: file, line, column.
    pub inlined_at: Option<(u64, u64, u64)>,
}

/// `@%p` or `@!%p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub register: String,
    /// Which value lets the instruction act.
    pub sense: Sense,
}

/// Whether a predicate is taken as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// As it is.
    Plain,
    /// With `!`.
    Negated,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The guard.
    pub guard: Option<Guard>,
    /// The operation.
    pub mnemonic: Mnemonic,
    /// The dotted words after it, without their dots.
    pub modifiers: Vec<String>,
    /// What it works on.
    pub operands: Vec<Operand>,
    /// Where it stands.
    pub line: Line,
}

impl Instruction {
    /// The whole opcode, as `ld.global.f32`.
    pub fn opcode(&self) -> String {
        let mut text = self.mnemonic.word().to_owned();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, variable, label or function; `_` too.
    Name(String),
    /// A special register with its component, as `%tid.x`; or a vector's element.
    Component(String, String),
    /// `!%p`
    Not(String),
    /// `%r1|%p1`
    Pair(Box<Operand>, Box<Operand>),
    /// `name+4` outside brackets.
    Offset(String, i64),
    /// An integer.
    Integer(u64),
    /// An f32 by its bits.
    Single(u32),
    /// An f64 by its bits.
    Double(u64),
    /// `[base+offset]`
    Memory(Base, i64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `(a, b)`, in calls.
    List(Vec<Operand>),
}

/// What an address begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// A register or variable.
    Name(String),
    /// An absolute address.
    Absolute(u64),
}
