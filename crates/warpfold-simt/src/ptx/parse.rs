//! The parser's upper half: modules, variables, functions' heads.

use super::SyntaxError;
use super::ast::*;
use super::lexer::{Token, tokens};

/// Deepest nesting of braces that is read: far more than any compiler writes, far less than a stack holds.
pub(super) const DEEPEST: u32 = 64;

/// A recursive-descent parser over the tokens of one file.
pub(super) struct Parser {
    tokens: Vec<(Token, Line)>,
    at: usize,
    pub(super) depth: u32,
}

impl Parser {
    pub(super) fn new(text: &str) -> Result<Parser, SyntaxError> {
        Ok(Parser { tokens: tokens(text)?, at: 0, depth: 0 })
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn peek_after(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub(super) fn line(&self) -> Line {
        self.tokens[self.at].1
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { line: self.line(), message: message.into() })
    }

    pub(super) fn expected<T>(&self, what: &str) -> Result<T, SyntaxError> {
        self.error(format!("expected {what}, found {}", self.peek()))
    }

    pub(super) fn at_mark(&self, mark: char) -> bool {
        *self.peek() == Token::Mark(mark)
    }

    pub(super) fn take_mark(&mut self, mark: char) -> bool {
        let found = self.at_mark(mark);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn mark(&mut self, mark: char) -> Result<(), SyntaxError> {
        if self.take_mark(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Dotted(w) if w == word);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String, SyntaxError> {
        match self.peek() {
            Token::Name(_) => match self.next() {
                Token::Name(name) => Ok(name),
                _ => unreachable!("peeked a name"),
            },
            _ => self.expected(what),
        }
    }

    pub(super) fn integer(&mut self, what: &str) -> Result<u64, SyntaxError> {
        match *self.peek() {
            Token::Integer(value) => {
                self.next();
                Ok(value)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn small(&mut self, what: &str, most: u64) -> Result<u32, SyntaxError> {
        let value = self.integer(what)?;
        match u32::try_from(value) {
            Ok(small) if value <= most => Ok(small),
            _ => self.error(format!("{what} is {value}, above {most}")),
        }
    }

    pub(super) fn module(mut self) -> Result<Module, SyntaxError> {
        if !self.take_word("version") {
            return self.expected("`.version` at the head of a PTX file");
        }
        let version = match self.next() {
            Token::Double(bits) => {
                let tenths = (f64::from_bits(bits) * 10.0).round();
                if !(10.0..1000.0).contains(&tenths) {
                    return self.error("a PTX version is of the form 8.0");
                }
                (tenths as u32 / 10, tenths as u32 % 10)
            }
            other => return self.error(format!("expected a version such as 8.0, found {other}")),
        };
        if !self.take_word("target") {
            return self.expected("`.target`");
        }
        let mut target = vec![self.name("an architecture")?];
        while self.take_mark(',') {
            target.push(self.name("a target option")?);
        }
        let address_size =
            if self.take_word("address_size") { self.small("`.address_size`", 64)? } else { 32 };
        if address_size != 64 {
            return self.error(format!(
                "addresses are {address_size} bits wide; the simulator runs modules with `.address_size 64`"
            ));
        }
        let mut items = Vec::new();
        while *self.peek() != Token::End {
            items.push(self.item()?);
        }
        Ok(Module { version, target, address_size, items })
    }

    fn linkage(&mut self) -> Linkage {
        for (word, linkage) in super::print::LINKAGES {
            if self.take_word(word) {
                return linkage;
            }
        }
        Linkage::Internal
    }

    fn item(&mut self) -> Result<Item, SyntaxError> {
        let line = self.line();
        if self.take_word("file") {
            let index = self.integer("a file number")?;
            let Token::Text(name) = self.next() else { return self.expected("a file name") };
            // An optional time stamp and size follow in some compilers' output.
            while self.take_mark(',') {
                self.integer("a file's time or size")?;
            }
            return Ok(Item::File { index, name });
        }
        if self.take_word("section") {
            return self.section();
        }
        let linkage = self.linkage();
        if self.take_word("entry") {
            return self.function(linkage, FunctionKind::Entry, line).map(Item::Function);
        }
        if self.take_word("func") {
            return self.function(linkage, FunctionKind::Device, line).map(Item::Function);
        }
        let variable = self.variable(linkage)?;
        self.mark(';')?;
        Ok(Item::Variable(variable))
    }

    fn section(&mut self) -> Result<Item, SyntaxError> {
        let Token::Dotted(name) = self.next() else { return self.expected("a section name") };
        self.mark('{')?;
        let mut lines = Vec::new();
        while !self.take_mark('}') {
            match self.next() {
                Token::Name(label) => {
                    self.mark(':')?;
                    lines.push(SectionLine::Label(label));
                }
                Token::Dotted(width) => {
                    let mut values = vec![self.constant()?];
                    while self.take_mark(',') {
                        values.push(self.constant()?);
                    }
                    lines.push(SectionLine::Data(width, values));
                }
                _ => return self.error(format!("section .{name} is never closed")),
            }
        }
        Ok(Item::Section { name, lines })
    }

    /// A variable's declaration, without its closing mark.
    pub(super) fn variable(&mut self, linkage: Linkage) -> Result<Variable, SyntaxError> {
        let line = self.line();
        let Some(space) = self.space() else {
            return self
                .expected("a directive (`.entry`, `.func`, `.global`, `.const`, `.shared`, …)");
        };
        let mut align = None;
        let mut vector = 1;
        let ty = loop {
            let Token::Dotted(word) = self.peek().clone() else {
                return self.expected("a type");
            };
            if let Some(ty) = Type::from_word(&word) {
                self.next();
                break ty;
            }
            match word.as_str() {
                "align" => {
                    self.next();
                    let bytes = self.small("an alignment", 1 << 16)?;
                    if !bytes.is_power_of_two() {
                        return self
                            .error(format!("an alignment of {bytes} is not a power of two"));
                    }
                    align = Some(bytes);
                }
                "v2" | "v4" => {
                    self.next();
                    vector = if word == "v2" { 2 } else { 4 };
                }
                _ => return self.expected("a type"),
            }
        };
        let pointer = self.pointer_words()?;
        let name = self.name("a variable's name")?;
        let mut dimensions = Vec::new();
        while self.take_mark('[') {
            if self.take_mark(']') {
                dimensions.push(None);
            } else {
                dimensions.push(Some(self.integer("an array length")?));
                self.mark(']')?;
            }
        }
        let initial = if self.take_mark('=') { Some(self.initial()?) } else { None };
        Ok(Variable { linkage, space, align, vector, ty, pointer, name, dimensions, initial, line })
    }

    fn pointer_words(&mut self) -> Result<Vec<PointerWord>, SyntaxError> {
        let mut words = Vec::new();
        while let Token::Dotted(word) = self.peek().clone() {
            self.next();
            let align = word == "align";
            words.push(PointerWord::Word(word));
            if align {
                words.push(PointerWord::Number(self.integer("an alignment")?));
            }
        }
        Ok(words)
    }

    pub(super) fn space(&mut self) -> Option<Space> {
        let Token::Dotted(word) = self.peek() else { return None };
        let space = super::print::SPACES.iter().find(|(w, _)| w == word)?.1;
        self.next();
        Some(space)
    }

    fn initial(&mut self) -> Result<Initial, SyntaxError> {
        if !self.take_mark('{') {
            return self.constant().map(Initial::One);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.error("an initial value is nested too deep");
        }
        let mut list = Vec::new();
        if !self.at_mark('}') {
            list.push(self.initial()?);
            while self.take_mark(',') {
                list.push(self.initial()?);
            }
        }
        self.mark('}')?;
        self.depth -= 1;
        Ok(Initial::Many(list))
    }

    fn constant(&mut self) -> Result<Constant, SyntaxError> {
        let negative = self.take_mark('-');
        match self.next() {
            Token::Integer(value) if negative => Ok(Constant::Integer(value.wrapping_neg())),
            Token::Integer(value) => Ok(Constant::Integer(value)),
            Token::Single(bits) if !negative => Ok(Constant::Single(bits)),
            Token::Double(bits) if !negative => Ok(Constant::Double(bits)),
            Token::Name(word) if !negative => {
                let (name, form) = if word == "generic" && self.take_mark('(') {
                    let name = self.name("a variable")?;
                    self.mark(')')?;
                    (name, AddressForm::Generic)
                } else {
                    (word, AddressForm::Own)
                };
                let offset = self.offset()?;
                Ok(Constant::Address { name, offset, form })
            }
            other => self.error(format!("expected a constant, found {other}")),
        }
    }

    /// `+4`, `-4`, `+-4` or nothing.
    pub(super) fn offset(&mut self) -> Result<i64, SyntaxError> {
        let plus = self.take_mark('+');
        let minus = self.take_mark('-');
        if !plus && !minus {
            return Ok(0);
        }
        let value = self.integer("an offset")? as i64;
        Ok(if minus { value.wrapping_neg() } else { value })
    }

    fn function(
        &mut self,
        linkage: Linkage,
        kind: FunctionKind,
        line: Line,
    ) -> Result<Function, SyntaxError> {
        let returns = if self.at_mark('(') { self.parameters()? } else { Vec::new() };
        let name = self.name("a function's name")?;
        let parameters = if self.at_mark('(') { self.parameters()? } else { Vec::new() };
        let mut directives = Vec::new();
        while let Token::Dotted(word) = self.peek().clone() {
            self.next();
            let mut numbers = Vec::new();
            while let Token::Integer(value) = *self.peek() {
                self.next();
                numbers.push(value);
                if !self.take_mark(',') {
                    break;
                }
            }
            directives.push((word, numbers));
        }
        let body = if self.take_mark(';') {
            None
        } else {
            self.mark('{')?;
            Some(self.block()?)
        };
        Ok(Function { linkage, kind, returns, name, parameters, directives, body, line })
    }

    fn parameters(&mut self) -> Result<Vec<Variable>, SyntaxError> {
        self.mark('(')?;
        let mut list = Vec::new();
        while !self.take_mark(')') {
            list.push(self.variable(Linkage::Internal)?);
            if !self.take_mark(',') && !self.at_mark(')') {
                return self.expected("`,` or `)` after a parameter");
            }
        }
        Ok(list)
    }
}
