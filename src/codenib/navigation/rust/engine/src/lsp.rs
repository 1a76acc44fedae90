//! The live server: rust-analyzer itself, of the same crates as the facts, so that both give the same answers
//! and one build suffices. As its own `main`, without command line, log file and profiles.

use std::path::PathBuf;

use lsp_server::{Connection, Message, Notification};
use lsp_types::{
    InitializeParams, InitializeResult, MessageType, ServerInfo, ShowMessageParams, Url, WorkspaceFolder,
    notification::{Notification as _, ShowMessage},
};
use rust_analyzer::config::{Config, ConfigChange};
use vfs::AbsPathBuf;

/// Serves the client on standard input and output until it says goodbye.
pub fn serve() -> anyhow::Result<()> {
    let (connection, threads) = Connection::stdio();
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = rust_analyzer::from_json("InitializeParams", &params)?;
    let mut config = configure(params, &connection)?;
    let result = InitializeResult {
        capabilities: rust_analyzer::server_capabilities(&config),
        server_info: Some(ServerInfo {
            name: "rust-analyzer".to_owned(),
            version: Some(rust_analyzer::version().to_string()),
        }),
        offset_encoding: None,
    };
    connection.initialize_finish(id, serde_json::to_value(result)?)?;
    let given = config.discover_workspace_config().is_some() || config.has_linked_projects();
    if !given && config.detached_files().is_empty() {
        config.rediscover_workspaces();
    }
    rust_analyzer::main_loop(config, connection)?;
    Ok(threads.join()?)
}

#[allow(deprecated)] // some clients give the root in the old way alone
fn configure(params: InitializeParams, connection: &Connection) -> anyhow::Result<Config> {
    let root = match params.root_uri.as_ref().and_then(folder) {
        Some(root) => root,
        None => AbsPathBuf::assert_utf8(std::env::current_dir()?),
    };
    let folders = params.workspace_folders.unwrap_or_default();
    let mut roots: Vec<AbsPathBuf> =
        folders.iter().filter_map(|WorkspaceFolder { uri, .. }| folder(uri)).collect();
    if roots.is_empty() {
        roots.push(root.clone());
    }
    let config = Config::new(root, params.capabilities, roots, params.client_info);
    let Some(options) = params.initialization_options else { return Ok(config) };
    let mut change = ConfigChange::default();
    change.change_client_config(options);
    let (config, errors, _) = config.apply_change(change);
    if !errors.is_empty() {
        let shown = ShowMessageParams { typ: MessageType::WARNING, message: errors.to_string() };
        let message = Notification::new(ShowMessage::METHOD.to_owned(), shown);
        connection.sender.send(Message::Notification(message))?;
    }
    Ok(config)
}

fn folder(uri: &Url) -> Option<AbsPathBuf> {
    let path: PathBuf = uri.to_file_path().ok()?;
    Some(AbsPathBuf::assert_utf8(path))
}
