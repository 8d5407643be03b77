//! The module that is being compiled: host flags, symbols, constants, and the helpers that code written so far calls.

use super::{
    body::Gen,
    helper::{self, Facts},
    libcalls::{self, LibCall},
    program::{CheckSite, CompileError},
};
use crate::layout::Layouts;
use cranelift_codegen::{
    Context,
    ir::{AbiParam, Signature, types},
    isa::{CallConv, OwnedTargetIsa},
    settings::{self, Configurable},
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{DataDescription, DataId, FuncId as ClifFunc, Linkage, Module, ModuleError};
use millstream_graph::{ir::FuncId, levelized::Levelized};
use std::collections::BTreeMap;

/// Address space that a program's code may take, beside its constants. Only what is used becomes memory; calls within it are short.
const CODE_SPACE: usize = 64 << 20;

/// A program on its way to machine code.
pub(super) struct Unit<'p> {
    pub(super) program: &'p Levelized,
    pub(super) layouts: &'p Layouts,
    pub(super) module: JITModule,
    pub(super) facts: Vec<Facts>,
    pub(super) sites: Vec<CheckSite>,
    /// The constants, as `DataId`s of the program count them.
    pub(super) data: Vec<DataId>,
    libcalls: BTreeMap<&'static str, (LibCall, Option<ClifFunc>)>,
    helpers: BTreeMap<FuncId, ClifFunc>,
    /// Where there are pushes that cannot be counted.
    ask: Option<ClifFunc>,
    /// Declared, not yet compiled.
    todo: Vec<(FuncId, ClifFunc)>,
    scratch: FunctionBuilderContext,
    context: Context,
}

/// What machine code is made for: the target, and what this computer's processor can do that is used.
///
/// # Errors
/// If Cranelift does not know this computer.
pub fn host() -> Result<String, CompileError> {
    let isa = isa(settings::Flags::new(settings::builder()))?;
    let features = isa.isa_flags();
    let features = features.iter().filter(|f| f.as_bool() == Some(true));
    let features: Vec<&str> = features.map(|f| f.name).collect();
    Ok(format!("{}, {}", isa.triple(), features.join(" ")))
}

fn isa(flags: settings::Flags) -> Result<OwnedTargetIsa, CompileError> {
    cranelift_native::builder()
        .map_err(unknown)?
        .finish(flags)
        .map_err(unknown)
}

fn unknown(e: impl std::fmt::Display) -> CompileError {
    CompileError::Host(e.to_string())
}

fn link(e: ModuleError) -> CompileError {
    CompileError::Module(Box::new(e))
}

impl<'p> Unit<'p> {
    pub(super) fn new(program: &'p Levelized, layouts: &'p Layouts) -> Result<Self, CompileError> {
        let mut flags = settings::builder();
        let verify = if cfg!(debug_assertions) {
            "true"
        } else {
            "false"
        };
        let chosen = [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("enable_verifier", verify),
            // Nothing unwinds through compiled code: what it calls does not panic.
            ("unwind_info", "false"),
            // A helper's local memory must not step over the guard page of the thread's stack.
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
        ];
        for (name, value) in chosen {
            flags.set(name, value).map_err(unknown)?;
        }
        let isa = isa(settings::Flags::new(flags))?;
        let mut builder = JITBuilder::with_isa(isa, Box::new(libcalls::cranelift_name));
        let calls = libcalls::all();
        builder.symbols(calls.iter().map(|c| (c.name, c.address as *const u8)));
        let constants: usize = program
            .program
            .data
            .iter()
            .map(|d| d.bytes.len() + d.align as usize)
            .sum();
        let arena =
            ArenaMemoryProvider::new_with_size(CODE_SPACE + constants.next_multiple_of(1 << 16))
                .map_err(unknown)?;
        builder.memory_provider(Box::new(arena));
        let module = JITModule::new(builder);
        let context = module.make_context();
        let mut unit = Self {
            program,
            layouts,
            module,
            facts: helper::facts(&program.program),
            sites: Vec::new(),
            data: Vec::new(),
            libcalls: calls.into_iter().map(|c| (c.name, (c, None))).collect(),
            helpers: BTreeMap::new(),
            ask: None,
            todo: Vec::new(),
            scratch: FunctionBuilderContext::new(),
            context,
        };
        unit.define_data()?;
        Ok(unit)
    }

    fn define_data(&mut self) -> Result<(), CompileError> {
        for data in &self.program.program.data {
            let id = self
                .module
                .declare_anonymous_data(false, false)
                .map_err(link)?;
            let mut description = DataDescription::new();
            let bytes = if data.bytes.is_empty() {
                vec![0]
            } else {
                data.bytes.clone()
            };
            description.define(bytes.into_boxed_slice());
            description.set_align(data.align.max(1));
            self.module.define_data(id, &description).map_err(link)?;
            self.data.push(id);
        }
        Ok(())
    }

    /// Declares and compiles a function; `fill` writes its body. The name is for readers.
    pub(super) fn define(
        &mut self,
        name: &str,
        signature: Signature,
        fill: impl FnOnce(&mut Gen<'_, 'p>),
    ) -> Result<ClifFunc, CompileError> {
        let id = self
            .module
            .declare_anonymous_function(&signature)
            .map_err(link)?;
        self.define_declared(name, id, signature, fill)?;
        Ok(id)
    }

    fn define_declared(
        &mut self,
        name: &str,
        id: ClifFunc,
        signature: Signature,
        fill: impl FnOnce(&mut Gen<'_, 'p>),
    ) -> Result<(), CompileError> {
        let mut context = std::mem::replace(&mut self.context, Context::new());
        let mut scratch = std::mem::take(&mut self.scratch);
        context.func.signature = signature;
        let trace = tracing::enabled!(target: "millstream::code", tracing::Level::TRACE);
        context.set_disasm(trace);
        let config = self.module.target_config();
        let mut gen_ = Gen::new(FunctionBuilder::new(&mut context.func, &mut scratch), self);
        fill(&mut gen_);
        gen_.finish(config);
        if trace {
            tracing::trace!(target: "millstream::code", "{name}:\n{}", context.func.display());
        }
        let defined = self.module.define_function(id, &mut context);
        if let (true, Some(code)) = (trace, context.compiled_code()) {
            tracing::trace!(target: "millstream::code", "{name}:\n{}", code.vcode.as_deref().unwrap_or_default());
        }
        self.module.clear_context(&mut context);
        self.context = context;
        self.scratch = scratch;
        defined.map_err(|e| CompileError::Function {
            function: name.to_owned(),
            source: Box::new(e),
        })
    }

    /// The compiled form of a helper, which is compiled later.
    pub(super) fn helper(&mut self, func: FuncId) -> ClifFunc {
        if let Some(&id) = self.helpers.get(&func) {
            return id;
        }
        let signature = Gen::helper_signature(self, func);
        let id = self
            .module
            .declare_anonymous_function(&signature)
            .expect("a declaration without a name clashes with none");
        self.helpers.insert(func, id);
        self.todo.push((func, id));
        id
    }

    fn ask_signature(&self) -> Signature {
        let mut signature = self.module.make_signature();
        signature.params.push(AbiParam::new(types::I64));
        signature.call_conv = CallConv::PreserveAll;
        signature
    }

    /// The function that asks the worker for more room, which is compiled later.
    pub(super) fn ask_for_more(&mut self) -> ClifFunc {
        let signature = self.ask_signature();
        *self.ask.get_or_insert_with(|| {
            self.module
                .declare_anonymous_function(&signature)
                .expect("a declaration without a name clashes with none")
        })
    }

    /// Compiles the helpers that were called.
    pub(super) fn compile_helpers(&mut self) -> Result<(), CompileError> {
        if let Some(id) = self.ask {
            let signature = self.ask_signature();
            self.define_declared("ask for more", id, signature, |g| g.ask_worker())?;
        }
        while let Some((func, id)) = self.todo.pop() {
            let signature = Gen::helper_signature(self, func);
            let program = self.program;
            self.define_declared(&program.program[func].name, id, signature, |g| {
                g.helper_body(func)
            })?;
        }
        Ok(())
    }

    /// A function of this process.
    pub(super) fn libcall(&mut self, name: &str) -> ClifFunc {
        let (call, declared) = self
            .libcalls
            .get_mut(name)
            .expect("every name that is called stands in `libcalls::all`");
        *declared.get_or_insert_with(|| {
            let mut signature = self.module.make_signature();
            signature
                .params
                .extend(call.params.iter().map(|&t| AbiParam::new(t)));
            signature.returns.extend(call.result.map(AbiParam::new));
            self.module
                .declare_function(call.name, Linkage::Import, &signature)
                .expect("each symbol is declared once")
        })
    }

    /// Links the module: function pointers are valid from here on.
    pub(super) fn finish(mut self) -> Result<(JITModule, Vec<CheckSite>), CompileError> {
        self.module.finalize_definitions().map_err(link)?;
        Ok((self.module, self.sites))
    }
}
