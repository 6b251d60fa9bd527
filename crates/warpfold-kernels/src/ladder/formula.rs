//! [`Formula`]: what a header says of work and steps, as text that people read and as a number.

use std::fmt;

/// What a formula may name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variables {
    /// Elements that the launch folds.
    pub n: f64,
    /// Threads of a block.
    pub block: f64,
    /// Blocks.
    pub grid: f64,
    /// Elements in 16 bytes.
    pub per_vector: f64,
}

/// An expression over `n`, `B` (threads of a block), `G` (blocks), `V` (elements in 16 bytes), with `+ - * /`, `ceil(x)`, `lg(x)` (the logarithm
/// to base two, rounded up), `min(x, y)`, `max(x, y)` and `mod(x, y)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    tree: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    Variable(char),
    Binary(char, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Ceil,
    Lg,
    Min,
    Max,
    Mod,
}

impl Function {
    /// By its name, with the number of its arguments.
    fn of(name: &str) -> Option<(Function, usize)> {
        Some(match name {
            "ceil" => (Function::Ceil, 1),
            "lg" => (Function::Lg, 1),
            "min" => (Function::Min, 2),
            "max" => (Function::Max, 2),
            "mod" => (Function::Mod, 2),
            _ => return None,
        })
    }
}

impl Formula {
    /// Reads an expression; the error says what is wrong with it.
    pub fn read(text: &str) -> Result<Formula, String> {
        let mut rest = text;
        let tree = sum(&mut rest)?;
        match rest.trim_start() {
            "" => Ok(Formula { text: text.to_owned(), tree }),
            rest => Err(format!("{rest:?} is more than the formula {text:?} has room for")),
        }
    }

    /// Its value; never less than zero.
    pub fn value(&self, variables: Variables) -> f64 {
        self.tree.value(variables).max(0.0)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Node {
    fn value(&self, v: Variables) -> f64 {
        match self {
            Node::Number(number) => *number,
            Node::Variable('n') => v.n,
            Node::Variable('B') => v.block,
            Node::Variable('G') => v.grid,
            Node::Variable(_) => v.per_vector,
            Node::Binary(operator, sides) => {
                let [a, b] = [sides[0].value(v), sides[1].value(v)];
                match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                }
            }
            Node::Call(function, arguments) => {
                let x = arguments[0].value(v);
                let y = arguments.get(1).map_or(0.0, |y| y.value(v));
                match function {
                    Function::Ceil => x.ceil(),
                    Function::Lg => x.max(1.0).log2().ceil(),
                    Function::Min => x.min(y),
                    Function::Max => x.max(y),
                    Function::Mod => x % y,
                }
            }
        }
    }
}

fn sum(rest: &mut &str) -> Result<Node, String> {
    chain(rest, &['+', '-'], product)
}

fn product(rest: &mut &str) -> Result<Node, String> {
    chain(rest, &['*', '/'], atom)
}

/// Operands of one level with operators between them, from left to right.
fn chain(
    rest: &mut &str,
    operators: &[char],
    operand: fn(&mut &str) -> Result<Node, String>,
) -> Result<Node, String> {
    let mut left = operand(rest)?;
    while let Some(operator) = rest.trim_start().chars().next().filter(|c| operators.contains(c)) {
        *rest = &rest.trim_start()[1..];
        left = Node::Binary(operator, Box::new([left, operand(rest)?]));
    }
    Ok(left)
}

fn atom(rest: &mut &str) -> Result<Node, String> {
    let text = rest.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    *rest = after;
    if let Ok(number) = word.parse::<u32>() {
        return Ok(Node::Number(number.into()));
    }
    if let Some(name) = ["n", "B", "G", "V"].into_iter().find(|name| *name == word) {
        return Ok(Node::Variable(name.chars().next().expect("names are letters")));
    }
    let opened = rest.strip_prefix('(').ok_or_else(|| format!("{text:?} begins no operand"))?;
    *rest = opened;
    let mut inner = vec![sum(rest)?];
    while let Some(after) = rest.trim_start().strip_prefix(',') {
        *rest = after;
        inner.push(sum(rest)?);
    }
    *rest =
        rest.trim_start().strip_prefix(')').ok_or_else(|| format!("{text:?} does not close"))?;
    match Function::of(word) {
        None if word.is_empty() && inner.len() == 1 => Ok(inner.remove(0)),
        Some((function, count)) if count == inner.len() => Ok(Node::Call(function, inner)),
        _ => Err(format!("no function {word:?} takes {} arguments", inner.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_have_the_value_that_one_reads() {
        let v = Variables { n: 1000.0, block: 128.0, grid: 8.0, per_vector: 4.0 };
        for (text, value) in [
            ("n - G", 992.0),
            ("3 + ceil(n / 4)", 253.0),
            ("min(8, ceil(n / B)) - 1 + lg(min(n, B))", 14.0),
            ("V * ceil(n / (V * B * G)) + min(1, mod(n, V)) - 1 + lg(B)", 10.0),
            ("max(2 - 3 - 4, 0 - 1) + 2 * 3", 5.0),
            ("lg(0)", 0.0),
            ("1 - n", 0.0),
        ] {
            assert_eq!(Formula::read(text).map(|f| f.value(v)), Ok(value), "{text}");
        }
        for wrong in ["", "n +", "n n", "lg(n", "lg(n, 2)", "x", "sin(n)", "min(n)", "2 ** 3"] {
            assert!(Formula::read(wrong).is_err(), "{wrong}");
        }
    }
}
