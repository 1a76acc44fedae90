//! A checkout and the server's settings in, an analysis host with the same crates and files as the live
//! server out. Without `trusted` settings nothing of the checkout is built or run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::Context;
use hir::{ProcMacrosBuilder, db::DefDatabase};
use ide::{AnalysisHost, FileId, SourceRootId};
use ide_db::{
    ChangeWithProcMacros, FxHashMap,
    base_db::{
        CrateGraphBuilder, ProcMacroLoadingError, ProcMacroPaths, SourceDatabase, SourceRoot,
        salsa::Durability,
    },
};
use load_cargo::{ProjectFolders, SourceRootConfig, load_proc_macro};
use proc_macro_api::ProcMacroClient;
use project_model::{
    CargoMetadataConfig, ProjectWorkspace, ProjectWorkspaceKind, RustSourceWorkspaceConfig, Sysroot,
};
use rust_analyzer::config::{Config, ConfigChange, LinkedProject};
use vfs::{
    AbsPath, AbsPathBuf, FileExcluded, Vfs, VfsPath,
    loader::{Entry, Handle},
};

pub struct Loaded {
    pub host: AnalysisHost,
    pub vfs: Vfs,
    /// What could not be loaded, and why; all other crates are loaded.
    pub problems: Vec<String>,
    pub workspaces: usize,
    roots: SourceRootConfig,
    /// What was applied to the host, besides the text of files.
    applied: AppliedState,
    /// Which files are read from disk; no other file is part of the analysis.
    entries: Vec<Entry>,
    /// The server's settings, as they are for the next time that workspaces are loaded.
    pub settings: serde_json::Value,
    build_inputs: BuildInputs,
}

/// What was applied to the host besides the text of files. Setting an input again counts as a change, so equal values
/// are not set again.
#[derive(Default)]
struct AppliedState {
    roots: Vec<SourceRoot>,
    /// The root files of the crates whose procedural macros are disabled.
    without_macros: Option<Vec<FileId>>,
}

impl AppliedState {
    fn roots(&mut self, host: &mut AnalysisHost, change: &mut ChangeWithProcMacros, now: Vec<SourceRoot>) {
        let same = |(old, new): (&SourceRoot, &SourceRoot)| old.is_library == new.is_library;
        if self.roots.len() != now.len() || !self.roots.iter().zip(&now).all(same) {
            change.set_roots(now.clone());
        } else {
            let db = host.raw_database_mut();
            for (index, (old, new)) in self.roots.iter().zip(&now).enumerate().filter(|(_, (a, b))| a != b) {
                let id = SourceRootId(index as u32);
                // As the engine itself has it.
                let durability = if new.is_library { Durability::MEDIUM } else { Durability::LOW };
                for file in new.iter().filter(|file| old.path_for_file(file).is_none()) {
                    db.set_file_source_root_with_durability(file, id, durability);
                }
                db.set_source_root_with_durability(id, new.clone().into(), durability);
            }
        }
        self.roots = now;
    }

    /// Disables procedural macros; None when they are disabled already for these crates.
    fn without_macros(&mut self, graph: &CrateGraphBuilder) -> Option<ProcMacrosBuilder> {
        let crates: Vec<FileId> = graph.iter().map(|krate| graph[krate].basic.root_file_id).collect();
        if self.without_macros.as_ref() == Some(&crates) {
            return None;
        }
        self.without_macros = Some(crates);
        Some(graph.iter().map(|krate| (krate, Err(ProcMacroLoadingError::Disabled))).collect())
    }
}

/// The files that decide which crates there are.
#[derive(Default, PartialEq)]
struct BuildInputs {
    manifests: BTreeMap<PathBuf, Vec<u8>>,
    /// The files that Cargo may take for a target because of their path, and the roots of crates.
    targets: BTreeSet<PathBuf>,
    /// All files, where something did not load: an added one may be what was missing.
    all: BTreeSet<PathBuf>,
}

impl Loaded {
    /// Reads files again that changed, were added or removed on disk.
    pub fn reread(&mut self, paths: &[AbsPathBuf]) {
        let is_read = |path: &&AbsPathBuf| self.entries.iter().any(|entry| entry.contains_file(path));
        for path in paths.iter().filter(is_read) {
            self.vfs.set_file_contents(path.clone().into(), std::fs::read(path).ok());
        }
        let mut change = ChangeWithProcMacros::default();
        let mut moved = false;
        for (_, file) in self.vfs.take_changes() {
            moved |= !matches!(file.change, vfs::Change::Modify(..));
            change.change_file(file.file_id, text_of(file.change));
        }
        if change.source_change.files_changed.is_empty() {
            return;
        }
        if moved {
            self.applied.roots(&mut self.host, &mut change, self.roots.partition(&self.vfs));
        }
        self.host.apply_change(change);
    }

    /// Reads files that source files may include (`include_str!`) again: requests do not name these when they change.
    pub fn read_included(&mut self, root: &AbsPathBuf) {
        let mut paths: BTreeSet<AbsPathBuf> = BTreeSet::new();
        find_included(Path::new(root.as_str()), &mut paths);
        let known = self.vfs.iter().filter_map(|(_, path)| path.as_path());
        let known = known.filter(|path| path.starts_with(root) && is_included(Path::new(path.as_str())));
        paths.extend(known.map(AbsPath::to_path_buf));
        self.reread(&paths.into_iter().collect::<Vec<_>>());
    }

    /// Loads the workspaces again when a manifest in the folders of `names` changed, or a target was added or
    /// removed. Crates and files that are the same are not set again.
    pub fn reload(&mut self, root: &AbsPathBuf, names: &[String]) -> anyhow::Result<()> {
        if self.build_inputs_of(root, names) == self.build_inputs {
            return Ok(());
        }
        let (host, vfs) = (std::mem::take(&mut self.host), std::mem::take(&mut self.vfs));
        let applied = std::mem::take(&mut self.applied);
        *self = load_into(root, self.settings.clone(), host, vfs, applied)?;
        self.build_inputs = self.build_inputs_of(root, names);
        Ok(())
    }

    fn build_inputs_of(&self, root: &AbsPathBuf, names: &[String]) -> BuildInputs {
        let all: BTreeSet<PathBuf> = names.iter().map(|name| Path::new(root.as_str()).join(name)).collect();
        let db = self.host.raw_database();
        let crates = hir::Crate::all(db).into_iter().map(|it| self.vfs.file_path(it.root_file(db)));
        let crates: BTreeSet<PathBuf> =
            crates.filter_map(|it| Some(PathBuf::from(it.as_path()?.as_str()))).collect();
        let is_target = |path: &&PathBuf| is_conventional_target(path) || crates.contains(*path);
        BuildInputs {
            manifests: manifests(root, names),
            targets: all.iter().filter(is_target).cloned().collect(),
            all: if self.problems.is_empty() { BTreeSet::new() } else { all },
        }
    }
}

/// Is this a file that the engine reads besides source files?
fn is_included(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "md" || it == "toml")
}

fn find_included(folder: &Path, found: &mut BTreeSet<AbsPathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => find_included(&path, found),
            Ok(_) if is_included(&path) => found.extend(absolute(&path)),
            _ => {}
        }
    }
}

/// May Cargo take this file for a target without a line in the manifest?
fn is_conventional_target(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).and_then(|it| it.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    matches!(folder, "bin" | "examples" | "tests" | "benches")
        || matches!(name, "main.rs" | "lib.rs" | "build.rs")
}

/// The manifests in the folders of files and above them, up to the root.
fn manifests(root: &AbsPathBuf, names: &[String]) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders: BTreeSet<&Path> =
        names.iter().flat_map(|name| Path::new(name).ancestors().skip(1)).collect();
    let mut found = BTreeMap::new();
    for folder in folders {
        for name in ["Cargo.toml", "Cargo.lock"] {
            let path = Path::new(root.as_str()).join(folder).join(name);
            if let Ok(contents) = std::fs::read(&path) {
                found.insert(path, contents);
            }
        }
    }
    found
}

/// The live server analyses text without carriage returns; lines and columns are the same.
fn text_of(change: vfs::Change) -> Option<String> {
    let (vfs::Change::Create(bytes, _) | vfs::Change::Modify(bytes, _)) = change else { return None };
    let text = String::from_utf8(bytes).ok()?;
    Some(if text.contains('\r') { text.replace("\r\n", "\n") } else { text })
}

/// `names` are source files, whose folders hold the manifests.
pub fn load(root: &AbsPathBuf, settings: serde_json::Value, names: &[String]) -> anyhow::Result<Loaded> {
    let config = configure(root, settings.clone())?;
    let host = AnalysisHost::new(config.lru_parse_query_capacity());
    let mut loaded = load_into(root, settings, host, Vfs::default(), AppliedState::default())?;
    loaded.build_inputs = loaded.build_inputs_of(root, names);
    Ok(loaded)
}

fn load_into(
    root: &AbsPathBuf,
    settings: serde_json::Value,
    mut host: AnalysisHost,
    mut vfs: Vfs,
    mut applied: AppliedState,
) -> anyhow::Result<Loaded> {
    let config = configure(root, settings.clone())?;
    let mut problems = Vec::new();
    let mut workspaces = open_workspaces(&config, &mut problems);
    if workspaces.is_empty() {
        anyhow::bail!("no Cargo workspace could be loaded: {}", problems.join("; "));
    }
    if config.run_build_scripts(None) {
        run_build_scripts(&config, &mut workspaces, &mut problems);
    }
    let folders = ProjectFolders::new(&workspaces, &config.files().exclude, None);
    let entries = folders.load;
    read_files(&mut vfs, entries.clone())?;
    if lacks_library(&workspaces, &vfs) {
        read_files(&mut vfs, entries.clone())?;
    }
    if lacks_library(&workspaces, &vfs) {
        problems.insert(0, "the standard library is not known: its sources could not be read".to_owned());
    }
    remove_unread(&mut vfs, &entries);
    let attributes = config.expand_proc_attr_macros();
    if applied.roots.is_empty() {
        host.raw_database_mut().set_expand_proc_attr_macros_with_durability(attributes, Durability::HIGH);
    }
    let mut change = ChangeWithProcMacros::default();
    for (_, file) in vfs.take_changes() {
        change.change_file(file.file_id, text_of(file.change));
    }
    applied.roots(&mut host, &mut change, folders.source_root_config.partition(&vfs));
    let find = |path: &AbsPath| {
        let (file, excluded) = vfs.file_id(&VfsPath::from(path.to_path_buf()))?;
        (excluded == FileExcluded::No).then_some(file)
    };
    let (graph, macro_paths) = rust_analyzer::ws_to_crate_graph(&workspaces, config.extra_env(None), find);
    let macros = if config.expand_proc_macros() {
        Some(load_macros(&config, &workspaces, macro_paths, &mut problems))
    } else {
        applied.without_macros(&graph)
    };
    change.set_crate_graph(graph);
    if let Some(macros) = macros {
        change.set_proc_macros(macros);
    }
    host.apply_change(change);
    let (workspaces, roots) = (workspaces.len(), folders.source_root_config);
    Ok(Loaded {
        host,
        vfs,
        problems,
        workspaces,
        roots,
        applied,
        entries,
        settings,
        build_inputs: BuildInputs::default(),
    })
}

fn configure(root: &AbsPathBuf, settings: serde_json::Value) -> anyhow::Result<Config> {
    let capabilities = lsp_types::ClientCapabilities::default();
    let config = Config::new(root.clone(), capabilities, vec![root.clone()], None);
    let mut change = ConfigChange::default();
    change.change_client_config(settings);
    let (mut config, errors, _) = config.apply_change(change);
    anyhow::ensure!(errors.is_empty(), "settings: {errors}");
    if !config.has_linked_projects() {
        config.rediscover_workspaces();
    }
    Ok(config)
}

fn open_workspaces(config: &Config, problems: &mut Vec<String>) -> Vec<ProjectWorkspace> {
    let cargo = config.cargo(None);
    let mut workspaces: Vec<ProjectWorkspace> = Vec::new();
    for project in config.linked_or_discovered_projects() {
        let open = || match project.clone() {
            LinkedProject::ProjectManifest(manifest) => ProjectWorkspace::load(manifest, &cargo, &|_| ()),
            LinkedProject::InlineProjectJson(json) => {
                Ok(ProjectWorkspace::load_inline(json, &cargo, &|_| ()))
            }
        };
        let mut loaded = open();
        // Compiler and Cargo are asked where the library is, which fails now and then on a busy machine.
        if loaded.as_ref().is_ok_and(|it| library_problem(it).is_some()) {
            loaded = open();
        }
        match loaded {
            Ok(mut workspace) => {
                join_library(&mut workspace.sysroot);
                problems.extend(library_problem(&workspace));
                if let ProjectWorkspaceKind::Cargo { error: Some(error), .. } = &workspace.kind {
                    problems.push(format!("dependencies are missing: {error:#}"));
                }
                if !workspaces.iter().any(|other| other.eq_ignore_build_data(&workspace)) {
                    workspaces.push(workspace);
                }
            }
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    workspaces
}

/// Joins the crates of the standard library by what is known of them, where Cargo does not say how they belong together:
/// it does not while crates that they need are in no registry here, and then `std` would have no `core`, and no
/// `println!`. Without Cargo's word these other crates alone are not known.
fn join_library(sysroot: &mut Sysroot) {
    if sysroot.metadata_error().is_none() {
        return;
    }
    let [root, source] = [sysroot.root(), sysroot.rust_lib_src_root()].map(|it| it.map(AbsPath::to_path_buf));
    let mut joined = Sysroot::new(root, source);
    // The engine joins them where Cargo fails at all, not where it only lacks crates.
    let failing = CargoMetadataConfig {
        metadata_extra_args: vec!["--no-such-option".to_owned()],
        kind: "sysroot",
        ..CargoMetadataConfig::default()
    };
    let workspace = joined.load_workspace(&RustSourceWorkspaceConfig::CargoMetadata(failing), false, &|_| ());
    if let Some(workspace) = workspace {
        joined.set_workspace(workspace);
        *sysroot = joined;
    }
}

/// Why the names of the standard library are not known, where they should be.
fn library_problem(workspace: &ProjectWorkspace) -> Option<String> {
    let sysroot = &workspace.sysroot;
    let is_cargo = matches!(workspace.kind, ProjectWorkspaceKind::Cargo { .. });
    let is_missing = is_cargo && sysroot.is_rust_lib_src_empty();
    let why = sysroot.error().or(is_missing.then_some("it has no sources"))?;
    Some(format!("the standard library is not known: {}", why.trim()))
}

/// Is there a standard library whose first file was not read? No crate knows its names then.
fn lacks_library(workspaces: &[ProjectWorkspace], vfs: &Vfs) -> bool {
    let sources = workspaces.iter().filter_map(|it| it.sysroot.rust_lib_src_root());
    sources
        .map(|folder| VfsPath::from(folder.join("core/src/lib.rs")))
        .any(|file| vfs.file_id(&file).is_none())
}

fn run_build_scripts(config: &Config, workspaces: &mut [ProjectWorkspace], problems: &mut Vec<String>) {
    let cargo = config.cargo(None);
    let root = config.default_root_path();
    let results = ProjectWorkspace::run_all_build_scripts(workspaces, &cargo, &|_| (), root);
    for (workspace, result) in workspaces.iter_mut().zip(results) {
        match result {
            Ok(scripts) => {
                problems.extend(scripts.error().map(|error| format!("build scripts: {error}")));
                workspace.set_build_scripts(scripts);
            }
            Err(error) => problems.push(format!("build scripts: {error:#}")),
        }
    }
}

fn load_macros(
    config: &Config,
    workspaces: &[ProjectWorkspace],
    paths: Vec<ProcMacroPaths>,
    problems: &mut Vec<String>,
) -> ProcMacrosBuilder {
    let mut builder = ProcMacrosBuilder::default();
    for (workspace, crates) in workspaces.iter().zip(paths) {
        let client = spawn_macro_server(config, workspace);
        if let Err(error) = &client {
            problems.push(format!("procedural macros: {error:#}"));
        }
        for (krate, path) in crates.iter() {
            let loaded = match (&client, path) {
                (Ok(client), Ok((_, path))) => load_proc_macro(client, path, &[]),
                (Ok(_), Err(error)) => Err(error.clone()),
                (Err(error), _) => {
                    Err(ProcMacroLoadingError::ProcMacroSrvError(error.to_string().into_boxed_str()))
                }
            };
            builder.insert(*krate, loaded);
        }
    }
    builder
}

fn spawn_macro_server(config: &Config, workspace: &ProjectWorkspace) -> anyhow::Result<ProcMacroClient> {
    let path = workspace.find_sysroot_proc_macro_srv().context("the toolchain has no macro server")??;
    let mut env: FxHashMap<String, Option<String>> = config.extra_env(None).clone();
    if let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind {
        env.extend(cargo.env().into_iter().map(|(key, value)| (key.clone(), Some(value.clone()))));
    }
    let toolchain = workspace.toolchain.as_ref();
    Ok(ProcMacroClient::spawn(&path, &env, toolchain, config.proc_macro_num_processes())?)
}

/// Removes what is no longer read, such as a package that left the workspace.
fn remove_unread(vfs: &mut Vfs, entries: &[Entry]) {
    let is_read = |path: &VfsPath| {
        path.as_path().is_some_and(|path| entries.iter().any(|entry| entry.contains_file(path)))
    };
    let others: Vec<VfsPath> =
        vfs.iter().filter(|(_, path)| !is_read(path)).map(|(_, path)| path.clone()).collect();
    for path in others {
        vfs.set_file_contents(path, None);
    }
}

fn read_files(vfs: &mut Vfs, entries: Vec<Entry>) -> anyhow::Result<()> {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let mut loader = vfs_notify::NotifyHandle::spawn(sender);
    loader.set_config(vfs::loader::Config { version: 0, load: entries, watch: vec![] });
    for message in receiver {
        match message {
            vfs::loader::Message::Progress { n_done: vfs::loader::LoadingProgress::Finished, .. } => {
                return Ok(());
            }
            vfs::loader::Message::Progress { .. } => {}
            vfs::loader::Message::Loaded { files } | vfs::loader::Message::Changed { files } => {
                for (path, contents) in files {
                    vfs.set_file_contents(path.into(), contents);
                }
            }
        }
    }
    anyhow::bail!("reading the source files stopped early")
}

/// The absolute path of a folder with its symbolic links: the live server gets the same.
pub fn absolute(path: &Path) -> anyhow::Result<AbsPathBuf> {
    Ok(AbsPathBuf::assert_utf8(std::path::absolute(path)?).normalize())
}

#[cfg(test)]
mod tests;
