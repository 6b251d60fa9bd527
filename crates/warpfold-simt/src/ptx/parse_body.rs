//! The parser's lower half: statements, instructions, operands.

use super::SyntaxError;
use super::ast::*;
use super::lexer::Token;
use super::mnemonic::Mnemonic;
use super::parse::{DEEPEST, Parser};

/// Most registers one `.reg` family may declare.
const MOST_REGISTERS: u64 = 1 << 20;

impl Parser {
    /// Statements up to and with the closing brace.
    pub(super) fn block(&mut self) -> Result<Vec<Statement>, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.error("blocks are nested too deep");
        }
        let mut statements = Vec::new();
        while !self.take_mark('}') {
            if *self.peek() == Token::End {
                return self.error("the file ends inside a function: it is cut short");
            }
            if !self.take_mark(';') {
                statements.push(self.statement()?);
            }
        }
        self.depth -= 1;
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Statement, SyntaxError> {
        let line = self.line();
        if self.take_mark('{') {
            return self.block().map(Statement::Block);
        }
        if matches!(self.peek(), Token::Name(_)) && *self.peek_after() == Token::Mark(':') {
            let name = self.name("a label")?;
            self.mark(':')?;
            if self.take_word("branchtargets") {
                let mut targets = vec![self.name("a label")?];
                while self.take_mark(',') {
                    targets.push(self.name("a label")?);
                }
                self.mark(';')?;
                return Ok(Statement::BranchTargets { name, targets, line });
            }
            return Ok(Statement::Label { name, line });
        }
        if !matches!(self.peek(), Token::Dotted(_)) {
            return self.instruction().map(Statement::Instruction);
        }
        if self.take_word("loc") {
            return self.location().map(Statement::Location);
        }
        if self.take_word("reg") {
            return self.registers(line);
        }
        if self.take_word("pragma") {
            let Token::Text(text) = self.next() else { return self.expected("a pragma's text") };
            self.mark(';')?;
            return Ok(Statement::Pragma(text));
        }
        let variable = self.variable(Linkage::Internal)?;
        self.mark(';')?;
        Ok(Statement::Variable(variable))
    }

    fn location(&mut self) -> Result<Location, SyntaxError> {
        let file = self.integer("a file number")?;
        let line = self.integer("a source line")?;
        let column = self.integer("a source column")?;
        let mut location = Location { file, line, column, function: None, inlined_at: None };
        while self.take_mark(',') {
            match self.name("`function_name` or `inlined_at`")?.as_str() {
                "function_name" => {
                    let label = self.name("a label")?;
                    location.function = Some((label, self.offset()?));
                }
                "inlined_at" => {
                    location.inlined_at = Some((
                        self.integer("a file number")?,
                        self.integer("a source line")?,
                        self.integer("a source column")?,
                    ));
                }
                other => return self.error(format!("`.loc` knows no `{other}`")),
            }
        }
        Ok(location)
    }

    fn registers(&mut self, line: Line) -> Result<Statement, SyntaxError> {
        let ty = match self.next() {
            Token::Dotted(word) => match Type::from_word(&word) {
                Some(ty) => ty,
                None => {
                    return self.error(format!("`.{word}` is not a register type of the subset"));
                }
            },
            other => return self.error(format!("expected a register type, found {other}")),
        };
        let mut names = Vec::new();
        loop {
            let name = self.name("a register's name")?;
            let count = if self.take_mark('<') {
                let count = self.small("a register count", MOST_REGISTERS)?;
                self.mark('>')?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.take_mark(',') {
                break;
            }
        }
        self.mark(';')?;
        Ok(Statement::Registers { ty, names, line })
    }

    fn instruction(&mut self) -> Result<Instruction, SyntaxError> {
        let line = self.line();
        let guard = if self.take_mark('@') {
            let sense = if self.take_mark('!') { Sense::Negated } else { Sense::Plain };
            Some(Guard { register: self.name("a predicate")?, sense })
        } else {
            None
        };
        let word = match self.peek() {
            Token::Name(word) => word.clone(),
            _ => return self.expected("an instruction"),
        };
        let opcode_line = self.line();
        self.next();
        let mut modifiers = Vec::new();
        while let Token::Dotted(modifier) = self.peek().clone() {
            self.next();
            modifiers.push(modifier);
        }
        let Some(mnemonic) = Mnemonic::from_word(&word) else {
            let mut opcode = word;
            for modifier in &modifiers {
                opcode.push('.');
                opcode.push_str(modifier);
            }
            let message =
                format!("`{opcode}` is outside the subset of PTX that the simulator runs");
            return Err(SyntaxError { line: opcode_line, message });
        };
        let mut operands = Vec::new();
        if !self.at_mark(';') {
            operands.push(self.operand()?);
            while self.take_mark(',') {
                operands.push(self.operand()?);
            }
        }
        self.mark(';')?;
        Ok(Instruction { guard, mnemonic, modifiers, operands, line })
    }

    fn operand(&mut self) -> Result<Operand, SyntaxError> {
        let first = self.single_operand()?;
        if self.take_mark('|') {
            let second = self.single_operand()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single_operand(&mut self) -> Result<Operand, SyntaxError> {
        match self.next() {
            Token::Name(name) => match self.peek().clone() {
                Token::Dotted(component) => {
                    self.next();
                    Ok(Operand::Component(name, component))
                }
                Token::Mark('+' | '-') => Ok(Operand::Offset(name, self.offset()?)),
                _ => Ok(Operand::Name(name)),
            },
            Token::Integer(value) => Ok(Operand::Integer(value)),
            Token::Single(bits) => Ok(Operand::Single(bits)),
            Token::Double(bits) => Ok(Operand::Double(bits)),
            Token::Mark('-') => match self.next() {
                Token::Integer(value) => Ok(Operand::Integer(value.wrapping_neg())),
                Token::Double(bits) => Ok(Operand::Double(bits ^ (1 << 63))),
                other => self.error(format!("expected a number after `-`, found {other}")),
            },
            Token::Mark('!') => Ok(Operand::Not(self.name("a predicate")?)),
            Token::Mark('[') => self.memory(),
            Token::Mark('{') => self.operands_until('}').map(Operand::Vector),
            Token::Mark('(') => self.operands_until(')').map(Operand::List),
            other => self.error(format!("expected an operand, found {other}")),
        }
    }

    fn memory(&mut self) -> Result<Operand, SyntaxError> {
        let operand = match self.next() {
            Token::Name(name) => Operand::Memory(Base::Name(name), self.offset()?),
            Token::Integer(address) => Operand::Memory(Base::Absolute(address), self.offset()?),
            other => return self.error(format!("expected an address, found {other}")),
        };
        self.mark(']')?;
        Ok(operand)
    }

    fn operands_until(&mut self, close: char) -> Result<Vec<Operand>, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.error("operands are nested too deep");
        }
        let mut list = Vec::new();
        while !self.take_mark(close) {
            list.push(self.operand()?);
            if !self.take_mark(',') && !self.at_mark(close) {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
        self.depth -= 1;
        Ok(list)
    }
}
