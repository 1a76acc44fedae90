"use strict";
/**
 * A checkout in, the live server's project structure out: tsserver's own project service, run in process.
 *
 * Which files a question searches depends on the projects that the server has loaded: the tsconfig.json or
 * jsconfig.json above the file, the projects it refers to, or an inferred project for a file that none
 * includes. So files are opened and closed here as a client would. Nothing outside the checkout and the
 * engine's own library is read, no typings are fetched, and no plugin is loaded.
 */

const { keepParsed } = require("./kept.js");

/** What typescript-language-server sets for files without a project. */
const INFERRED = {
  module: "ESNext",
  moduleResolution: "Bundler",
  target: "ES2024",
  jsx: "ReactJSX",
  strict: true,
  strictNullChecks: true,
  strictFunctionTypes: true,
  sourceMap: true,
  allowImportingTsExtensions: true,
  allowJs: true,
  allowNonTsExtensions: true,
  allowSyntheticDefaultImports: true,
  resolveJsonModule: true,
};

class Server {
  /** `kept`: what earlier servers of this process leave behind (kept.js); null when there will be one only. */
  constructor(ts, root, libraries, kept = null) {
    this.ts = ts;
    this.root = root;
    this.libraries = libraries;
    this.kept = kept;
    this.open = [];
    this.delay = null;
    this.host = this.confinedHost();
    this.session = this.startSession();
    this.service = this.session.projectService;
    this.session.executeCommand({
      seq: 1,
      type: "request",
      command: "compilerOptionsForInferredProjects",
      arguments: { options: INFERRED },
    });
    this.holdInferred();
    if (kept) this.service.documentRegistry = kept.registry;
    else keepParsed(this.service.documentRegistry);
  }

  startSession() {
    const { ts } = this;
    class Quiet extends ts.server.Session {
      send() {}
    }
    return new Quiet({
      host: this.host,
      cancellationToken: ts.server.nullCancellationToken,
      useSingleInferredProject: false,
      useInferredProjectPerProjectRoot: true,
      typingsInstaller: ts.server.nullTypingsInstaller,
      byteLength: Buffer.byteLength,
      hrtime: process.hrtime,
      logger: new QuietLogger(),
      canUseEvents: false,
      suppressDiagnosticEvents: true,
      noGetErrOnBackgroundUpdate: true,
      globalPlugins: [],
      pluginProbeLocations: [],
      allowLocalPluginLoads: false,
    });
  }

  /** The file system as far as the checkout and the library go. Neither changes: looks are remembered. */
  confinedHost() {
    const { sys } = this.ts;
    const nothing = { close() {} };
    const inside = (name) => this.isInside(name);
    const looks = this.kept ? this.kept.looks : { files: new Map(), folders: new Map(), real: new Map() };
    return {
      ...sys,
      watchFile: () => nothing,
      watchDirectory: () => nothing,
      setTimeout: () => 0,
      clearTimeout() {},
      setImmediate: () => 0,
      clearImmediate() {},
      writeFile() {},
      deleteFile() {},
      createDirectory() {},
      require: undefined,
      importPlugin: undefined,
      getCurrentDirectory: () => this.root,
      fileExists: remembered(looks.files, (name) => inside(name) && sys.fileExists(name)),
      readFile: (name, encoding) => (inside(name) ? this.readFile(name, encoding) : undefined),
      directoryExists: remembered(looks.folders, (name) => inside(name) && sys.directoryExists(name)),
      realpath: remembered(looks.real, (name) => sys.realpath(name)),
      getDirectories: (name) => (inside(name) ? sys.getDirectories(name) : []),
      readDirectory: (name, ...rest) => (inside(name) ? sys.readDirectory(name, ...rest) : []),
      getEnvironmentVariable: () => "",
    };
  }

  readFile(name, encoding) {
    const read = () => this.ts.sys.readFile(name, encoding);
    return this.kept ? this.kept.read(name, read) : read();
  }

  isInside(name) {
    return name === this.root || name.startsWith(this.root + "/") || name.startsWith(this.libraries);
  }

  /**
   * While `delay` is a list, files without a project are noted there instead of building a program for each.
   */
  holdInferred() {
    const build = this.service.assignOrphanScriptInfoToInferredProject.bind(this.service);
    this.service.assignOrphanScriptInfoToInferredProject = (info, root) => {
      if (!this.delay) return build(info, root);
      const project = this.service.getOrCreateInferredProjectForProjectRootPathIfEnabled(info, root);
      project.addRoot(info);
      this.delay.push(info);
      return project;
    };
  }

  openFile(file) {
    const { ts } = this;
    const kind = ts.getScriptKindFromFileName(file) || ts.ScriptKind.JS;
    this.service.openClientFileWithNormalizedPath(
      ts.server.toNormalizedPath(file),
      undefined,
      kind,
      false,
      this.root,
    );
    this.open.push(file);
  }

  closeAll() {
    for (const file of this.open.splice(0)) this.service.closeClientFile(file);
  }

  /**
   * Opens `file` alone, as after a client closed the one before; gives its project, null when it has none.
   */
  openAlone(file) {
    this.closeAll();
    this.delay = [];
    try {
      this.openFile(file);
      return this.delay.length ? null : this.projectOf(file);
    } finally {
      this.delay = null;
    }
  }

  /** Opens files that have no project of their own together: the one inferred project that holds them all. */
  openTogether(files) {
    const { service } = this;
    const before = this.open.splice(0);
    const wanted = new Set(files);
    this.delay = [];
    // Each opening would look through all open files for projects to close: once at the end is enough.
    service.cleanupProjectsAndScriptInfos = () => {};
    for (const file of files.slice(0, -1)) this.openFile(file);
    delete service.cleanupProjectsAndScriptInfos;
    this.openFile(files[files.length - 1]);
    for (const file of before) if (!wanted.has(file)) service.closeClientFile(file);
    this.delay = null;
    const project = service.getOrCreateInferredProjectForProjectRootPathIfEnabled(
      service.getScriptInfo(files[0]),
      this.root,
    );
    for (const file of files) {
      const info = service.getScriptInfo(file);
      if (!project.isRoot(info)) project.addRoot(info);
    }
    project.updateGraph();
    return project;
  }

  projectOf(file) {
    const info = this.service.getScriptInfo(file);
    if (!info || info.isOrphan()) return null;
    return info.getDefaultProject();
  }

  /** The loaded projects that a references question may search. */
  loaded() {
    const found = [];
    this.service.forEachEnabledProject((project) => {
      if (project.getCurrentProgram()) found.push(project);
    });
    return found;
  }

  /** Whether a question can never leave the file's own project. */
  isSingle() {
    return (
      this.service.configuredProjects.size +
        this.service.inferredProjects.filter((each) => !each.isOrphan()).length ===
      1
    );
  }
}

function remembered(known, look) {
  return (name) => {
    let found = known.get(name);
    if (found === undefined) known.set(name, (found = look(name)));
    return found;
  };
}

class QuietLogger {
  close() {}
  hasLevel() {
    return false;
  }
  loggingEnabled() {
    return false;
  }
  perftrc() {}
  info() {}
  startGroup() {}
  endGroup() {}
  msg() {}
  getLogFileName() {
    return undefined;
  }
}

module.exports = { Server };
