//! Reading the text form: the items of a program. What stands inside a function is read in `parse_body`.
//!
//! Functions and structs may be named before they are declared, so a first walk over the tokens collects their names; then one
//! pass without backtracking reads the program.

use super::{
    ParseError,
    lex::{Token, error_at, lex, unescape},
};
use crate::{
    ir::{
        Arg, ChannelDef, Data, Function, FunctionKind, Local, LocalId, Options, Param, Program,
        Slot, SlotId, Span, Team,
    },
    ty::{Field, Layout, PieceKind, Scalar, StructDef, StructId, Structs, Type},
};
use std::{borrow::Cow, collections::HashMap};

/// Reads a program.
///
/// # Errors
/// Says where the text stops being one, and what was expected there. It does not check what the program means:
/// [`verify`](crate::verify::verify) does.
pub fn parse_program(source: &str) -> Result<Program, ParseError> {
    let mut parser = Parser {
        source,
        tokens: lex(source)?,
        at: 0,
        structs: HashMap::new(),
        functions: HashMap::new(),
    };
    parser.collect_names()?;
    parser.program()
}

/// Reads a type, as a program with these structs writes it.
///
/// # Errors
/// If the text is no type; says where it stops being one.
pub fn parse_type(source: &str, structs: &Structs) -> Result<Type, ParseError> {
    // A copy of a struct with parameters has a name that is no identifier: `Weighted<u32>`.
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    let written = letters(source);
    match structs
        .iter()
        .find(|(_, def)| letters(&def.name) == written)
    {
        Some((id, _)) => Ok(Type::Struct(id)),
        None => alone(source, structs, Parser::ty),
    }
}

/// Reads what a piece of a value is: a scalar, or a size and an alignment.
///
/// # Errors
/// If the text is neither; says where it stops being one.
pub fn parse_piece(source: &str) -> Result<PieceKind, ParseError> {
    alone(source, &Structs::default(), Parser::piece_kind)
}

/// Reads something that stands alone in a text.
fn alone<'a, T>(
    source: &'a str,
    structs: &'a Structs,
    read: impl FnOnce(&mut Parser<'a>) -> Parsed<T>,
) -> Result<T, ParseError> {
    let named = structs
        .iter()
        .map(|(id, def)| (Cow::from(def.name.as_str()), id.0));
    let mut parser = Parser {
        source,
        tokens: lex(source)?,
        at: 0,
        structs: named.collect(),
        functions: HashMap::new(),
    };
    let read = read(&mut parser)?;
    match parser.peek() {
        Token::End => Ok(read),
        _ => parser.expected("the end of the text"),
    }
}

pub(super) type Parsed<T> = Result<T, ParseError>;

pub(super) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<(Token<'a>, usize)>,
    at: usize,
    structs: HashMap<Cow<'a, str>, u32>,
    pub(super) functions: HashMap<Cow<'a, str>, u32>,
}

/// The tokens: looking at them, taking them, and saying what is wrong with them.
impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    pub(super) fn peek_second(&self) -> Token<'a> {
        self.tokens.get(self.at + 1).map_or(Token::End, |t| t.0)
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        error_at(self.source, self.tokens[self.at].1, message)
    }

    /// An error at the last token that was taken.
    pub(super) fn error_before(&self, message: impl Into<String>) -> ParseError {
        error_at(
            self.source,
            self.tokens[self.at.saturating_sub(1)].1,
            message,
        )
    }

    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        Err(self.error(format!("expected {what}, found {}", self.peek())))
    }

    /// Takes the token if it is next.
    pub(super) fn eat(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_punct(&mut self, c: char) -> bool {
        self.eat(Token::Punct(c))
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.eat(Token::Ident(word))
    }

    pub(super) fn punct(&mut self, c: char) -> Parsed<()> {
        if self.eat_punct(c) {
            Ok(())
        } else {
            self.expected(&Token::Punct(c).to_string())
        }
    }

    pub(super) fn arrow(&mut self) -> Parsed<()> {
        if self.eat(Token::Arrow) {
            Ok(())
        } else {
            self.expected("`->`")
        }
    }

    pub(super) fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.expected(&format!("`{word}`"))
        }
    }

    pub(super) fn ident(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Token::Ident(text) => {
                self.at += 1;
                Ok(text)
            }
            _ => self.expected(what),
        }
    }

    /// A number without a type.
    pub(super) fn int<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        match self.peek() {
            Token::Number(digits, "") => match digits.parse() {
                Ok(n) => {
                    self.at += 1;
                    Ok(n)
                }
                Err(_) => self.expected("a whole number that fits here"),
            },
            _ => self.expected("a whole number"),
        }
    }

    pub(super) fn string(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Str(raw) => {
                let text = unescape(raw)
                    .ok_or_else(|| self.error("this string has an escape that is not \\n, \\r, \\t, \\\", \\\\ or \\u{..}"))?;
                self.at += 1;
                Ok(text.into_owned())
            }
            _ => self.expected(what),
        }
    }

    /// A name: an identifier, a number, or anything in quotes.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Cow<'a, str>> {
        match self.peek() {
            Token::Ident(text) | Token::Number(text, "") => {
                self.at += 1;
                Ok(Cow::Borrowed(text))
            }
            Token::Str(_) => self.string(what).map(Cow::Owned),
            _ => self.expected(what),
        }
    }

    pub(super) fn optional_name(&mut self) -> Parsed<Option<String>> {
        if self.peek() == Token::Punct(':') {
            Ok(None)
        } else {
            self.name("a name or `:`").map(|n| Some(n.into_owned()))
        }
    }

    /// Items with commas between them, up to and with the closing character, a comma before which is free.
    pub(super) fn list<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        while !self.eat_punct(close) {
            out.push(item(self)?);
            if !self.eat_punct(',') {
                self.punct(close)?;
                break;
            }
        }
        Ok(out)
    }

    pub(super) fn span(&mut self) -> Parsed<Span> {
        if !self.eat_punct('@') {
            return Ok(Span::default());
        }
        let line = self.int()?;
        self.punct(':')?;
        Ok(Span {
            line,
            col: self.int()?,
        })
    }

    pub(super) fn scalar(&mut self) -> Parsed<Scalar> {
        let found = if let Token::Ident(text) = self.peek() {
            Scalar::from_name(text)
        } else {
            None
        };
        match found {
            Some(scalar) => {
                self.at += 1;
                Ok(scalar)
            }
            None => self.expected("a scalar type"),
        }
    }
}

/// The items of a program.
impl<'a> Parser<'a> {
    /// Collects the names of structs and functions: what stands behind their keywords outside all brackets.
    fn collect_names(&mut self) -> Parsed<()> {
        let mut depth = 0usize;
        while self.peek() != Token::End {
            match self.next() {
                Token::Punct('(' | '{' | '[') => depth += 1,
                Token::Punct(')' | '}' | ']') => depth = depth.saturating_sub(1),
                Token::Ident(word @ ("struct" | "enum" | "task" | "fn" | "kernel" | "segment"))
                    if depth == 0 =>
                {
                    let name = self.name("a name")?;
                    let table = if matches!(word, "struct" | "enum") {
                        &mut self.structs
                    } else {
                        &mut self.functions
                    };
                    let next = table.len() as u32;
                    if table.insert(name.clone(), next).is_some() {
                        return Err(self.error_before(format!("the name `{name}` is used twice")));
                    }
                }
                _ => {}
            }
        }
        self.at = 0;
        Ok(())
    }

    fn program(&mut self) -> Parsed<Program> {
        self.word("program")?;
        let name = self.name("the program's name")?.into_owned();
        self.word("in")?;
        let file = self.string("the source file in quotes")?;
        let checked = self.eat_word("checked");
        let unchecked = self.eat_word("unchecked");
        let fast_math = self.eat_word("fast_math");
        let mut program = Program {
            name,
            file,
            options: Options {
                checked,
                unchecked,
                fast_math,
            },
            ..Program::default()
        };
        loop {
            let is_enum = self.eat_word("enum");
            if !is_enum && !self.eat_word("struct") {
                break;
            }
            self.struct_def(&mut program.structs, is_enum)?;
        }
        while self.eat_word("data") {
            let data = self.data(program.data.len())?;
            program.data.push(data);
        }
        while self.eat_word("channel") {
            let channel = self.channel(program.channels.len())?;
            program.channels.push(channel);
        }
        while self.eat_word("uniform") {
            self.word(&format!("a{}", program.uniforms.len()))?;
            let uniform = self.field()?;
            program.uniforms.push(uniform);
        }
        while self.peek() != Token::End {
            let function = self.function()?;
            program.functions.push(function);
        }
        Ok(program)
    }

    fn struct_def(&mut self, structs: &mut Structs, is_enum: bool) -> Parsed<()> {
        let name = self.name("the struct's name")?.into_owned();
        let tuple = self.eat_punct('(');
        if !tuple {
            self.punct('{')?;
        }
        let fields = self.members(if tuple { ')' } else { '}' })?;
        let mut def = StructDef {
            name,
            fields,
            tuple,
            variants: Vec::new(),
        };
        if is_enum {
            self.punct('{')?;
            self.list('}', |p| p.variant(&mut def))?;
        }
        structs.push(def);
        Ok(())
    }

    /// The rest of `{ name: type, .. }` or of the like in other brackets.
    fn members(&mut self, close: char) -> Parsed<Vec<(String, Type)>> {
        self.list(close, |p| {
            let name = p.name("a field's name")?.into_owned();
            p.punct(':')?;
            Ok((name, p.ty()?))
        })
    }

    /// A variant of an enum: its name, its number, and its data.
    fn variant(&mut self, def: &mut StructDef) -> Parsed<()> {
        let name = self.name("a variant's name")?.into_owned();
        self.punct(':')?;
        let number = self.int()?;
        let (mut types, mut names) = (Vec::new(), Vec::new());
        if self.eat_punct('(') {
            types = self.list(')', Self::ty)?;
        } else if self.eat_punct('{') {
            (names, types) = self.members('}')?.into_iter().unzip();
        }
        def.add_variant(&name, number, types, names);
        Ok(())
    }

    fn data(&mut self, index: usize) -> Parsed<Data> {
        self.word(&format!("d{index}"))?;
        let name = self.name("the constant's name")?.into_owned();
        self.word("align")?;
        let align = self.int()?;
        let Token::Str(hex) = self.peek() else {
            return self.expected("bytes in hex, in quotes");
        };
        let digits: Option<Vec<u8>> = hex
            .bytes()
            .filter(|b| !b.is_ascii_whitespace())
            .map(|b| (b as char).to_digit(16).map(|d| d as u8))
            .collect();
        let digits = digits
            .filter(|d| d.len() % 2 == 0)
            .ok_or_else(|| self.error("expected pairs of hex digits"))?;
        self.at += 1;
        Ok(Data {
            name,
            align,
            bytes: digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect(),
        })
    }

    fn channel(&mut self, index: usize) -> Parsed<ChannelDef> {
        self.word(&format!("c{index}"))?;
        let name = self.name("the channel's name")?.into_owned();
        self.punct('(')?;
        Ok(ChannelDef {
            name,
            fields: self.list(')', Self::field)?,
        })
    }

    /// A name and a scalar, or a size and an alignment.
    fn field(&mut self) -> Parsed<Field> {
        let name = self.name("a field's name")?.into_owned();
        self.punct(':')?;
        let kind = self.piece_kind()?;
        Ok(Field { name, kind })
    }

    fn piece_kind(&mut self) -> Parsed<PieceKind> {
        if let Token::Ident(_) = self.peek() {
            return Ok(PieceKind::Scalar(self.scalar()?));
        }
        let size = self.int()?;
        self.word("align")?;
        let align = self.int()?;
        Ok(PieceKind::Blob(Layout { size, align }))
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        if self.eat_punct('(') {
            let mut fields = Vec::new();
            while !self.eat_punct(')') {
                fields.push(self.ty()?);
                if !self.eat_punct(',') {
                    self.punct(')')?;
                    // `(T)` is not a tuple; the text form has no parentheses around a type.
                    return if fields.len() == 1 {
                        Err(self.error_before("expected `,`, found `)`"))
                    } else {
                        Ok(Type::Tuple(fields))
                    };
                }
            }
            return Ok(Type::Tuple(fields));
        }
        if self.eat_punct('[') {
            let elem = Box::new(self.ty()?);
            self.punct(';')?;
            return self.array(elem);
        }
        if self.eat_punct('&') {
            let mutable = self.eat_word("mut");
            if !self.eat_punct('[') {
                return Ok(Type::Ref {
                    mutable,
                    target: Box::new(self.ty()?),
                });
            }
            let elem = Box::new(self.ty()?);
            if self.eat_punct(']') {
                return Ok(Type::Slice { mutable, elem });
            }
            self.punct(';')?;
            return Ok(Type::Ref {
                mutable,
                target: Box::new(self.array(elem)?),
            });
        }
        self.named_type()
    }

    /// The rest of `[T; N]`, from the number on.
    fn array(&mut self, elem: Box<Type>) -> Parsed<Type> {
        let len = self.int()?;
        self.punct(']')?;
        Ok(Type::Array(elem, len))
    }

    fn named_type(&mut self) -> Parsed<Type> {
        if let Token::Ident(word) = self.peek() {
            if let Some(scalar) = Scalar::from_name(word) {
                self.at += 1;
                return Ok(Type::Scalar(scalar));
            }
            if let Some(scalar) = word
                .strip_prefix("Atomic")
                .and_then(|s| Scalar::from_name(&s.to_ascii_lowercase()))
            {
                self.at += 1;
                return Ok(Type::Atomic(scalar));
            }
            if matches!(word, "Mat" | "MatMut") {
                self.at += 1;
                self.punct('<')?;
                let elem = Box::new(self.ty()?);
                self.punct('>')?;
                return Ok(Type::Mat {
                    mutable: word == "MatMut",
                    elem,
                });
            }
        }
        if self.eat_word("Channel") {
            self.punct('<')?;
            let elem = Box::new(self.ty()?);
            self.punct('>')?;
            return Ok(Type::Channel(elem));
        }
        if self.eat_word("Option") {
            self.punct('<')?;
            let some = Box::new(self.ty()?);
            self.punct('>')?;
            return Ok(Type::Option(some));
        }
        if self.eat_word("Result") {
            self.punct('<')?;
            let ok = Box::new(self.ty()?);
            self.punct(',')?;
            let err = Box::new(self.ty()?);
            self.punct('>')?;
            return Ok(Type::Result(ok, err));
        }
        let name = self.name("a type")?;
        let id = self.structs.get(&name).copied();
        id.map(|id| Type::Struct(StructId(id)))
            .ok_or_else(|| self.error_before(format!("there is no struct `{name}`")))
    }

    fn function(&mut self) -> Parsed<Function> {
        let kind = match self.peek() {
            Token::Ident("task") => FunctionKind::Task,
            Token::Ident("fn") => FunctionKind::Helper,
            Token::Ident("kernel") => FunctionKind::Kernel,
            Token::Ident("segment") => FunctionKind::Segment,
            _ => return self.expected("`struct`, `data` or a function (structs stand before constants, constants before channels, uniforms and functions)"),
        };
        self.at += 1;
        let name = self.name("the function's name")?.into_owned();
        self.punct('(')?;
        let params = self.list(')', |p| {
            let name = p.name("a parameter's name")?.into_owned();
            p.punct(':')?;
            Ok(Param { name, ty: p.ty()? })
        })?;
        let ret = if self.eat(Token::Arrow) {
            self.ty()?
        } else {
            Type::unit()
        };
        let mut args = Vec::new();
        if self.eat_word("takes") {
            loop {
                args.push(match self.next() {
                    Token::Local(n) => Arg::Local(LocalId(n)),
                    Token::Slot(n) => Arg::Slot(SlotId(n)),
                    other => {
                        return Err(
                            self.error_before(format!("expected a local or a slot, found {other}"))
                        );
                    }
                });
                if !self.eat_punct(',') {
                    break;
                }
            }
        }
        let rounds = self.eat_word("rounds");
        let named = match self.peek() {
            Token::Ident(word) if rounds => Team::named(word),
            _ => None,
        };
        let team = match (named, self.peek()) {
            (Some(_), _) => {
                self.at += 1;
                named
            }
            (None, Token::Number(..)) if rounds => match self.int()? {
                0 => return Err(self.error_before("a team of no threads".to_owned())),
                threads => Some(Team::Threads(threads)),
            },
            _ => None,
        };
        let span = self.span()?;
        self.punct('{')?;
        let mut function = Function {
            name,
            kind,
            rounds,
            team,
            params,
            ret,
            args,
            locals: Vec::new(),
            slots: Vec::new(),
            blocks: Vec::new(),
            span,
        };
        self.declarations(&mut function)?;
        while !self.eat_punct('}') {
            let block = self.block(function.blocks.len())?;
            function.blocks.push(block);
        }
        Ok(function)
    }

    fn declarations(&mut self, function: &mut Function) -> Parsed<()> {
        while self.eat_word("let") {
            loop {
                let id = function.locals.len() as u32;
                if !self.eat(Token::Local(id)) {
                    return self.expected(&format!("`%{id}`"));
                }
                let name = self.optional_name()?;
                self.punct(':')?;
                function.locals.push(Local {
                    name,
                    ty: self.scalar()?,
                });
                if !self.eat_punct(',') {
                    break;
                }
            }
        }
        while self.eat_word("slot") {
            loop {
                let id = function.slots.len() as u32;
                if !self.eat(Token::Slot(id)) {
                    return self.expected(&format!("`${id}`"));
                }
                let name = self.optional_name()?;
                self.punct(':')?;
                let scalar = if let Token::Ident(_) = self.peek() {
                    Some(self.scalar()?)
                } else {
                    None
                };
                let layout = match (scalar, self.peek()) {
                    (Some(s), token) if !matches!(token, Token::Number(..)) => {
                        PieceKind::Scalar(s).layout()
                    }
                    _ => {
                        let size = self.int()?;
                        self.word("align")?;
                        Layout {
                            size,
                            align: self.int()?,
                        }
                    }
                };
                function.slots.push(Slot {
                    name,
                    layout,
                    scalar,
                });
                if !self.eat_punct(',') {
                    break;
                }
            }
        }
        Ok(())
    }
}
