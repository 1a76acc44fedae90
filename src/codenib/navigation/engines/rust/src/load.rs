//! A checkout and the server's settings in, an analysis host with the same crates and files as the live
//! server out. Without `trusted` settings nothing of the checkout is built or run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::Context;
use hir::{ProcMacrosBuilder, db::DefDatabase};
use ide::AnalysisHost;
use ide_db::{
    ChangeWithProcMacros, FxHashMap,
    base_db::{ProcMacroLoadingError, ProcMacroPaths, salsa::Durability},
};
use load_cargo::{ProjectFolders, SourceRootConfig, load_proc_macro};
use proc_macro_api::ProcMacroClient;
use project_model::{ProjectWorkspace, ProjectWorkspaceKind};
use rust_analyzer::config::{Config, ConfigChange, LinkedProject};
use vfs::{AbsPath, AbsPathBuf, FileExcluded, Vfs, VfsPath, loader::Handle};

pub struct Loaded {
    pub host: AnalysisHost,
    pub vfs: Vfs,
    /// What went wrong on the way, in words; the crates that could be loaded are there nevertheless.
    pub problems: Vec<String>,
    pub workspaces: usize,
    roots: SourceRootConfig,
    settings: serde_json::Value,
    manifests: Manifests,
}

/// The files that say what is built, and their contents.
type Manifests = BTreeMap<PathBuf, Vec<u8>>;

impl Loaded {
    /// Reads files again that changed, came or went on disk. What else was worked out stays, as far as it holds.
    pub fn read_again(&mut self, paths: &[AbsPathBuf]) {
        for path in paths {
            self.vfs.set_file_contents(path.clone().into(), std::fs::read(path).ok());
        }
        let mut change = ChangeWithProcMacros::default();
        let mut moved = false;
        for (_, file) in self.vfs.take_changes() {
            moved |= !matches!(file.change, vfs::Change::Modify(..));
            change.change_file(file.file_id, text_of(file.change));
        }
        if moved {
            change.set_roots(self.roots.partition(&self.vfs));
        }
        self.host.apply_change(change);
    }

    /// Loads the workspaces again when a manifest of the folders of `names` is not what it was. Crates and files
    /// that stay are not touched.
    pub fn load_again(&mut self, root: &AbsPathBuf, names: &[String]) -> anyhow::Result<()> {
        let found = manifests(root, names);
        if found == self.manifests {
            return Ok(());
        }
        let (host, vfs) = (std::mem::take(&mut self.host), std::mem::take(&mut self.vfs));
        *self = load_into(root, self.settings.clone(), host, vfs)?;
        self.manifests = found;
        Ok(())
    }
}

/// The manifests in the folders of files and above them, as far as the root.
fn manifests(root: &AbsPathBuf, names: &[String]) -> Manifests {
    let folders: BTreeSet<&Path> =
        names.iter().flat_map(|name| Path::new(name).ancestors().skip(1)).collect();
    let mut found = Manifests::new();
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

/// The server analyses text without carriage returns; lines and columns stay the same.
fn text_of(change: vfs::Change) -> Option<String> {
    let (vfs::Change::Create(bytes, _) | vfs::Change::Modify(bytes, _)) = change else { return None };
    let text = String::from_utf8(bytes).ok()?;
    Some(if text.contains('\r') { text.replace("\r\n", "\n") } else { text })
}

/// `names` are source files, whose folders hold the manifests.
pub fn load(root: &AbsPathBuf, settings: serde_json::Value, names: &[String]) -> anyhow::Result<Loaded> {
    let config = configure(root, settings.clone())?;
    let host = AnalysisHost::new(config.lru_parse_query_capacity());
    let mut loaded = load_into(root, settings, host, Vfs::default())?;
    loaded.manifests = manifests(root, names);
    Ok(loaded)
}

fn load_into(
    root: &AbsPathBuf,
    settings: serde_json::Value,
    mut host: AnalysisHost,
    mut vfs: Vfs,
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
    read_files(&mut vfs, folders.load)?;
    let attributes = config.expand_proc_attr_macros();
    host.raw_database_mut().set_expand_proc_attr_macros_with_durability(attributes, Durability::HIGH);
    let mut change = ChangeWithProcMacros::default();
    for (_, file) in vfs.take_changes() {
        change.change_file(file.file_id, text_of(file.change));
    }
    change.set_roots(folders.source_root_config.partition(&vfs));
    let find = |path: &AbsPath| {
        let (file, excluded) = vfs.file_id(&VfsPath::from(path.to_path_buf()))?;
        (excluded == FileExcluded::No).then_some(file)
    };
    let (graph, macro_paths) = rust_analyzer::ws_to_crate_graph(&workspaces, config.extra_env(None), find);
    let macros = if config.expand_proc_macros() {
        load_macros(&config, &workspaces, macro_paths, &mut problems)
    } else {
        graph.iter().map(|krate| (krate, Err(ProcMacroLoadingError::Disabled))).collect()
    };
    change.set_crate_graph(graph);
    change.set_proc_macros(macros);
    host.apply_change(change);
    let (workspaces, roots) = (workspaces.len(), folders.source_root_config);
    Ok(Loaded { host, vfs, problems, workspaces, roots, settings, manifests: Manifests::new() })
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
        let loaded = match project {
            LinkedProject::ProjectManifest(manifest) => ProjectWorkspace::load(manifest, &cargo, &|_| ()),
            LinkedProject::InlineProjectJson(json) => {
                Ok(ProjectWorkspace::load_inline(json, &cargo, &|_| ()))
            }
        };
        match loaded {
            Ok(workspace) => {
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

fn read_files(vfs: &mut Vfs, entries: Vec<vfs::loader::Entry>) -> anyhow::Result<()> {
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

/// The absolute path of a folder, symbolic links kept: the live server is given the same.
pub fn absolute(path: &Path) -> anyhow::Result<AbsPathBuf> {
    Ok(AbsPathBuf::assert_utf8(std::path::absolute(path)?).normalize())
}
