//! Functions to executable code: scopes, labels, calls.
//!
//! Device functions are inlined at each call, so that every kernel is one flat list of
//! instructions; a recursive call is an error.

mod arithmetic;
mod bitwise;
mod comparison;
mod control;
mod floating;
mod memory;
mod moves;
mod operands;
mod scope;
mod synchronise;
mod words;

use std::collections::HashMap;

use super::cfg;
use super::layout::{Layout, align_of, error, size_of};
use super::op::{Combines, Condition, EXIT, Instruction, Op, Pc, PredicateSlot, Slot};
use super::{Communication, DecodeError, Kernel, Parameter, Site, Special};
use crate::class::Class;
use crate::ptx::{self, Function, FunctionKind, Item, Line, Location, Module, Space, Statement};
use scope::{Binding, Scope};

/// Most instructions a kernel may have once its calls are inlined.
const MOST_INSTRUCTIONS: usize = 1 << 20;
/// Most bytes of local memory a thread may have.
const MOST_LOCAL: u64 = 512 << 10;

/// Decodes every kernel, with the device functions it calls.
pub(super) fn kernels(module: &Module, layout: &Layout) -> Result<Vec<Kernel>, DecodeError> {
    let mut functions = HashMap::new();
    for item in &module.items {
        if let Item::Function(function) = item {
            // A definition wins over its declarations.
            if function.body.is_some() || !functions.contains_key(function.name.as_str()) {
                functions.insert(function.name.as_str(), function);
            }
        }
    }
    let mut kernels = Vec::new();
    for item in &module.items {
        if let Item::Function(function) = item
            && function.kind == FunctionKind::Entry
            && function.body.is_some()
        {
            kernels.push(Builder::new(&functions, layout).kernel(function)?);
        }
    }
    Ok(kernels)
}

/// A label, by its index among the kernel's.
type Label = u32;

/// One kernel being decoded.
struct Builder<'m> {
    functions: &'m HashMap<&'m str, &'m Function>,
    layout: &'m Layout,
    code: Vec<Instruction>,
    sites: Vec<Site>,
    scopes: Vec<Scope>,
    /// The first scope that the function being decoded may see.
    visible_from: usize,
    labels: Vec<Option<Pc>>,
    registers: u32,
    predicates: u32,
    immediates: HashMap<u64, Slot>,
    specials: HashMap<Special, Slot>,
    /// Slots that hold an address in dynamic shared memory, relative to its start.
    dynamic: Vec<(Slot, u64)>,
    shared_bytes: u64,
    local_bytes: u64,
    location: Option<Location>,
    /// Functions being inlined, outermost first, each with the label after its call.
    calls: Vec<(&'m str, Label)>,
    communication: Communication,
}

impl<'m> Builder<'m> {
    fn new(functions: &'m HashMap<&'m str, &'m Function>, layout: &'m Layout) -> Builder<'m> {
        Builder {
            functions,
            layout,
            code: Vec::new(),
            sites: Vec::new(),
            scopes: Vec::new(),
            visible_from: 0,
            labels: Vec::new(),
            registers: 0,
            predicates: 0,
            immediates: HashMap::new(),
            specials: HashMap::new(),
            dynamic: Vec::new(),
            shared_bytes: layout.shared_bytes,
            local_bytes: 0,
            location: None,
            calls: Vec::new(),
            communication: Communication::None,
        }
    }

    fn kernel(mut self, function: &'m Function) -> Result<Kernel, DecodeError> {
        let mut scope = Scope::default();
        let mut parameters = Vec::new();
        let mut end = 0u64;
        for parameter in &function.parameters {
            let bytes = size_of(parameter)?;
            let offset = end.next_multiple_of(align_of(parameter));
            end = offset + bytes;
            if end > 4096 {
                return error(parameter.line, "a kernel's parameters take more than 4096 bytes");
            }
            scope.bind(&parameter.name, Binding::Variable { space: Space::Param, address: offset });
            parameters.push(Parameter {
                name: parameter.name.clone(),
                offset: offset as u32,
                bytes: bytes as u32,
            });
        }
        self.scopes.push(scope);
        self.body(function)?;
        let end_of_code = self.code.len() as Pc;
        self.push(Op::Exit, None, Class::Control, Combines::No, function.line, "ret;".into())?;
        self.resolve(end_of_code, function.line)?;
        let loops = cfg::analyse(&mut self.code);
        let dynamic_start = self.shared_bytes.next_multiple_of(self.layout.dynamic_align);
        let mut immediates: Vec<(Slot, u64)> =
            self.immediates.into_iter().map(|(value, slot)| (slot, value)).collect();
        immediates.extend(
            self.dynamic.iter().map(|&(slot, offset)| (slot, dynamic_start.wrapping_add(offset))),
        );
        immediates.sort_unstable();
        let mut specials: Vec<(Slot, Special)> =
            self.specials.into_iter().map(|(special, slot)| (slot, special)).collect();
        specials.sort_by_key(|(slot, _)| *slot);
        let most_threads = function
            .directives
            .iter()
            .filter(|(word, _)| word == "maxntid" || word == "reqntid")
            .map(|(_, numbers)| numbers.iter().fold(1u64, |product, &n| product.saturating_mul(n)))
            .min();
        Ok(Kernel {
            name: function.name.clone(),
            line: function.line,
            parameters,
            parameter_bytes: end as u32,
            code: self.code,
            sites: self.sites,
            registers: self.registers,
            predicates: self.predicates,
            immediates,
            specials,
            static_shared: self.shared_bytes as u32,
            dynamic_shared: dynamic_start as u32,
            local_bytes: self.local_bytes.next_multiple_of(16) as u32,
            loops,
            communication: self.communication,
            most_threads,
        })
    }

    /// Decodes a function's statements into the code, in the scope that holds its parameters.
    fn body(&mut self, function: &'m Function) -> Result<(), DecodeError> {
        let Some(body) = &function.body else {
            return error(
                function.line,
                format!(
                    "`{}` has no body in this module: link it in, or do without it",
                    function.name
                ),
            );
        };
        if self.calls.iter().any(|(name, _)| *name == function.name) {
            return error(
                function.line,
                format!("`{}` calls itself; the simulator inlines calls", function.name),
            );
        }
        let label = self.new_label();
        self.calls.push((&function.name, label));
        self.block(body)?;
        self.labels[label as usize] = Some(self.code.len() as Pc);
        self.calls.pop();
        Ok(())
    }

    fn new_label(&mut self) -> Label {
        self.labels.push(None);
        self.labels.len() as Label - 1
    }

    fn block(&mut self, statements: &'m [Statement]) -> Result<(), DecodeError> {
        let mut scope = Scope::default();
        for statement in statements {
            // Branches may lead forward, and name a list of targets that follows.
            match statement {
                Statement::Label { name, .. } => {
                    let label = self.new_label();
                    scope.bind(name, Binding::Label(label));
                }
                Statement::BranchTargets { name, targets, .. } => {
                    scope.bind(name, Binding::Table(targets.clone()));
                }
                _ => {}
            }
        }
        self.scopes.push(scope);
        for statement in statements {
            self.statement(statement)?;
        }
        self.scopes.pop();
        Ok(())
    }

    fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.bind(name, binding);
        }
    }

    fn statement(&mut self, statement: &'m Statement) -> Result<(), DecodeError> {
        match statement {
            Statement::Label { name, line } => match self.lookup(name) {
                Some(Binding::Label(label)) => {
                    let location = &mut self.labels[label as usize];
                    if location.is_some() {
                        return error(*line, format!("the label `{name}` stands twice"));
                    }
                    *location = Some(self.code.len() as Pc);
                    Ok(())
                }
                _ => error(*line, format!("`{name}` is both a label and something else")),
            },
            Statement::Registers { ty, names, line } => self.declare_registers(*ty, names, *line),
            Statement::Variable(variable) => self.declare_variable(variable),
            Statement::Location(location) => {
                self.location = (location.line != 0).then(|| location.clone());
                Ok(())
            }
            Statement::Pragma(_) | Statement::BranchTargets { .. } => Ok(()),
            Statement::Block(statements) => self.block(statements),
            Statement::Instruction(instruction) => self.instruction(instruction),
        }
    }

    fn declare_variable(&mut self, variable: &ptx::Variable) -> Result<(), DecodeError> {
        let bytes = size_of(variable)?;
        let align = align_of(variable);
        let (space, address) = match variable.space {
            Space::Shared => {
                let address = self.shared_bytes.next_multiple_of(align);
                self.shared_bytes = address + bytes;
                (Space::Shared, address)
            }
            // A call's parameters live in the thread's own memory.
            Space::Local | Space::Param => {
                let address = self.local_bytes.next_multiple_of(align);
                self.local_bytes = address + bytes;
                if self.local_bytes > MOST_LOCAL {
                    return error(
                        variable.line,
                        format!("a thread's local memory exceeds {MOST_LOCAL} bytes"),
                    );
                }
                (Space::Local, address)
            }
            space => {
                return error(
                    variable.line,
                    format!("a .{} variable inside a function", space.word()),
                );
            }
        };
        if self.shared_bytes > 1 << 20 {
            return error(variable.line, "static shared memory exceeds a mebibyte");
        }
        self.bind(&variable.name, Binding::Variable { space, address });
        Ok(())
    }

    fn push(
        &mut self,
        op: Op,
        guard: Option<Condition>,
        class: Class,
        combines: Combines,
        line: Line,
        text: String,
    ) -> Result<(), DecodeError> {
        if self.code.len() >= MOST_INSTRUCTIONS {
            return error(
                line,
                format!("more than {MOST_INSTRUCTIONS} instructions once calls are inlined"),
            );
        }
        let file = self.location.as_ref().and_then(|location| {
            self.layout
                .files
                .iter()
                .find(|(i, _)| *i == location.file)
                .map(|(_, name)| name.clone())
        });
        let site = self.sites.len() as u32;
        self.sites.push(Site { line, location: self.location.clone(), file, text });
        self.code.push(Instruction { op, guard, class, site, innermost: None, combines });
        Ok(())
    }

    /// Labels to places, in every branch.
    fn resolve(&mut self, end: Pc, line: Line) -> Result<(), DecodeError> {
        let labels = &self.labels;
        let location = |label: &mut Pc| match labels.get(*label as usize) {
            Some(Some(pc)) => {
                *label = (*pc).min(end);
                Ok(())
            }
            _ => error(line, "a branch leads to a label that stands nowhere"),
        };
        for instruction in &mut self.code {
            match &mut instruction.op {
                Op::Branch { target, .. } => location(target)?,
                Op::Table { targets, .. } => targets.iter_mut().try_for_each(location)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &'m ptx::Instruction) -> Result<(), DecodeError> {
        let guard = match &instruction.guard {
            None => None,
            Some(guard) => {
                let slot = self.predicate_named(&guard.register, instruction.line)?;
                Some(Condition { slot, sense: guard.sense })
            }
        };
        if instruction.mnemonic == ptx::Mnemonic::Call {
            return self.call(instruction, guard);
        }
        let (op, class, combines) = self.operation(instruction)?;
        self.push(op, guard, class, combines, instruction.line, instruction.to_string())
    }

    fn new_register(&mut self) -> Slot {
        self.registers += 1;
        self.registers - 1
    }

    fn new_predicate(&mut self) -> PredicateSlot {
        self.predicates += 1;
        self.predicates - 1
    }
}

/// A branch whose meeting place is not known yet.
fn branch(label: Label) -> Op {
    Op::Branch { target: label, reconverge: EXIT }
}
