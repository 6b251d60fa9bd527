//! From tokens to a tree: an arena of forms, each after its operands.

use warpfold_num::Result;

use super::at;
use super::token::{Points, Spanned, Token, column, tokens};
use crate::function::{Binary, Function, Unary, remedy};

/// How deep expressions may nest.
const DEEPEST: usize = 64;
/// How many operations an expression may have.
const MOST: usize = 256;
/// How many inputs it may name.
const MOST_INPUTS: usize = 8;

/// A form of the tree; operands are earlier in the arena.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// A number, as it is written.
    Number(String),
    /// `true` or `false`.
    Truth(bool),
    /// An input, by its place among the names.
    Name(usize),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Select(usize, usize, usize),
    Fma(usize, usize, usize),
    /// `a ** n`.
    Power(usize, usize),
    Rounded(usize),
}

/// A tree, and the bytes of the text that each of its forms comes from.
#[derive(Debug, Clone)]
pub(crate) struct Ast {
    pub(crate) forms: Vec<Form>,
    pub(crate) spans: Vec<(usize, usize)>,
}

impl Ast {
    /// The form of the whole text.
    pub(crate) fn top(&self) -> usize {
        self.forms.len() - 1
    }
}

pub(super) fn parse(text: &str, points: Points) -> Result<(Ast, Vec<String>)> {
    let tokens = tokens(text, points)?;
    let ast = Ast { forms: Vec::new(), spans: Vec::new() };
    let mut parser =
        Parser { text, tokens, next: 0, depth: 0, operations: 0, ast, names: Vec::new() };
    let top = parser.alternatives()?;
    match parser.peek().token {
        Token::End => {}
        Token::Sign(")") => {
            return Err(
                parser.error("this bracket closes none that is open", "leave it out, or open one")
            );
        }
        _ => {
            return Err(parser.error(
                "an operator is missing before this",
                "join values by + - * / or a comparison",
            ));
        }
    }
    debug_assert_eq!(top, parser.ast.top());
    Ok((parser.ast, parser.names))
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Spanned<'a>>,
    next: usize,
    depth: usize,
    operations: usize,
    ast: Ast,
    names: Vec<String>,
}

/// The operators of two operands from the loosest to the tightest; comparisons come between.
const LOGICAL: &[&[(&str, Binary)]] = &[&[("or", Binary::Or)], &[("and", Binary::And)]];
const ARITHMETIC: &[&[(&str, Binary)]] = &[
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("//", Binary::FloorDiv), ("%", Binary::Rem)],
];

impl<'a> Parser<'a> {
    fn peek(&self) -> Spanned<'a> {
        self.tokens[self.next]
    }

    fn take(&mut self) -> Spanned<'a> {
        let token = self.peek();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_it = self.peek().token == Token::Sign(self.known(sign));
        if is_it {
            self.take();
        }
        is_it
    }

    /// The sign as tokens hold it.
    fn known(&self, sign: &str) -> &'static str {
        match self.peek().token {
            Token::Sign(known) if known == sign => known,
            _ => "",
        }
    }

    fn error(&self, obstacle: impl Into<String>, remedy: &str) -> warpfold_num::Error {
        at(column(self.text, self.peek().start), obstacle, remedy)
    }

    fn push(&mut self, form: Form, start: usize, end: usize) -> Result<usize> {
        if !matches!(form, Form::Number(_) | Form::Truth(_) | Form::Name(_)) {
            self.operations += 1;
            if self.operations > MOST {
                let obstacle =
                    format!("this is operation {}, and {MOST} are allowed", self.operations);
                return Err(at(column(self.text, start), obstacle, "map in steps"));
            }
        }
        self.ast.forms.push(form);
        self.ast.spans.push((start, end));
        Ok(self.ast.top())
    }

    fn span(&self, form: usize) -> (usize, usize) {
        self.ast.spans[form]
    }

    fn deeper<R>(&mut self, inside: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(
                format!("more than {DEEPEST} brackets or signs are open here"),
                "map in steps",
            ));
        }
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn alternatives(&mut self) -> Result<usize> {
        self.deeper(|parser| parser.logical(0))
    }

    fn logical(&mut self, level: usize) -> Result<usize> {
        let Some(operators) = LOGICAL.get(level) else {
            return self.negation();
        };
        let mut left = self.logical(level + 1)?;
        while let Some(op) = self.operator(operators) {
            let right = self.logical(level + 1)?;
            left = self.binary(op, left, right)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<usize> {
        let start = self.peek().start;
        if self.takes("not") {
            let of = self.deeper(Self::negation)?;
            return self.push(Form::Unary(Unary::Not, of), start, self.span(of).1);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<usize> {
        const COMPARISONS: &[(&str, Binary, bool)] = &[
            ("<", Binary::Lt, false),
            ("<=", Binary::Le, false),
            (">", Binary::Lt, true),
            (">=", Binary::Le, true),
            ("==", Binary::Eq, false),
            ("!=", Binary::Ne, false),
        ];
        let find = |parser: &Self| {
            COMPARISONS.iter().find(|(sign, ..)| parser.peek().token == Token::Sign(sign))
        };
        let left = self.arithmetic(0)?;
        let Some(&(_, op, is_swapped)) = find(self) else { return Ok(left) };
        self.take();
        let right = self.arithmetic(0)?;
        if find(self).is_some() {
            return Err(self.error(
                "comparisons cannot be chained",
                "say `a < b and b < c`; bracket conditions joined by & or |",
            ));
        }
        let (start, end) = (self.span(left).0, self.span(right).1);
        let (left, right) = if is_swapped { (right, left) } else { (left, right) };
        self.push(Form::Binary(op, left, right), start, end)
    }

    fn arithmetic(&mut self, level: usize) -> Result<usize> {
        let Some(operators) = ARITHMETIC.get(level) else {
            return self.signed();
        };
        let mut left = self.arithmetic(level + 1)?;
        while let Some(op) = self.operator(operators) {
            let right = self.arithmetic(level + 1)?;
            left = self.binary(op, left, right)?;
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[(&str, Binary)]) -> Option<Binary> {
        let Token::Sign(sign) = self.peek().token else { return None };
        let op = operators.iter().find(|(known, _)| *known == sign).map(|&(_, op)| op);
        op.inspect(|_| {
            self.take();
        })
    }

    fn binary(&mut self, op: Binary, left: usize, right: usize) -> Result<usize> {
        let (start, end) = (self.span(left).0, self.span(right).1);
        self.push(Form::Binary(op, left, right), start, end)
    }

    fn signed(&mut self) -> Result<usize> {
        let start = self.peek().start;
        for (sign, op) in [("-", Some(Unary::Neg)), ("~", Some(Unary::Not)), ("+", None)] {
            if self.takes(sign) {
                let of = self.deeper(Self::signed)?;
                return match op {
                    Some(op) => self.push(Form::Unary(op, of), start, self.span(of).1),
                    None => Ok(of),
                };
            }
        }
        self.power()
    }

    fn power(&mut self) -> Result<usize> {
        let base = self.single()?;
        if !self.takes("**") {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        let (start, end) = (self.span(base).0, self.span(exponent).1);
        self.push(Form::Power(base, exponent), start, end)
    }

    fn single(&mut self) -> Result<usize> {
        let Spanned { token, start, end } = self.peek();
        match token {
            Token::Number(written) => {
                self.take();
                self.push(Form::Number(written.replace('_', "")), start, end)
            }
            Token::Name(name) => {
                self.take();
                let is_quoted = self.text[start..].starts_with(['"', '`']);
                if !is_quoted && self.takes("(") {
                    self.call(name, start)
                } else {
                    self.name(name, is_quoted, start, end)
                }
            }
            Token::Sign("(") => {
                self.take();
                let inside = self.alternatives()?;
                if !self.takes(")") {
                    return Err(self.error("a bracket that is open should close here", "add `)`"));
                }
                self.ast.spans[inside] = (start, self.tokens[self.next - 1].end);
                Ok(inside)
            }
            Token::End => Err(self.error(
                "the text ends where a value should stand",
                "add a number, an input or a function",
            )),
            Token::Sign(sign) => Err(self.error(
                format!("`{sign}` stands where a value should"),
                "put a number, an input or a function here",
            )),
        }
    }

    fn name(&mut self, name: &str, is_quoted: bool, start: usize, end: usize) -> Result<usize> {
        match name {
            "true" | "false" if !is_quoted => {
                return self.push(Form::Truth(name == "true"), start, end);
            }
            "nan" | "inf" if !is_quoted => return self.push(Form::Number(name.into()), start, end),
            _ => {}
        }
        let known = self.names.iter().position(|known| known == name);
        let index = match known {
            Some(index) => index,
            None if self.names.len() == MOST_INPUTS => {
                let obstacle =
                    format!("`{name}` is input {}, and {MOST_INPUTS} are allowed", MOST_INPUTS + 1);
                return Err(at(column(self.text, start), obstacle, "map in steps"));
            }
            None => {
                self.names.push(name.into());
                self.names.len() - 1
            }
        };
        self.push(Form::Name(index), start, end)
    }

    /// A function whose bracket is open.
    fn call(&mut self, name: &str, start: usize) -> Result<usize> {
        let Some(function) = Function::named(name) else {
            let shown: String = name.chars().take(40).collect();
            let obstacle = format!("`{shown}` is no function");
            return Err(at(column(self.text, start), obstacle, remedy(name)));
        };
        let mut operands = vec![self.alternatives()?];
        while self.takes(",") {
            operands.push(self.alternatives()?);
            if operands.len() > 3 {
                break;
            }
        }
        if !self.takes(")") {
            return Err(self.error(format!("the bracket of `{name}` should close here"), "add `)`"));
        }
        let end = self.tokens[self.next - 1].end;
        let form = match (function, operands[..].as_ref()) {
            (Function::Unary(op), &[a]) => Form::Unary(op, a),
            (Function::Binary(op), &[a, b]) => Form::Binary(op, a, b),
            (Function::Select, &[c, a, b]) => Form::Select(c, a, b),
            (Function::Fma, &[a, b, c]) => Form::Fma(a, b, c),
            (Function::Power, &[a, n]) => Form::Power(a, n),
            (Function::Rounded, &[a]) => Form::Rounded(a),
            _ => {
                let obstacle = format!(
                    "`{name}` takes {} operands, and here are {}",
                    function.arity(),
                    operands.len()
                );
                return Err(at(column(self.text, start), obstacle, "give as many as it takes"));
            }
        };
        self.push(form, start, end)
    }
}
