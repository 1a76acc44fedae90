"use strict";
/**
 * A checkout in, the live server's project structure out: tsserver's own project service, run in process.
 *
 * Which files a question searches depends on the projects that the server has loaded: the tsconfig.json or
 * jsconfig.json above the file, the projects it refers to, or an inferred project for a file that none
 * includes. So files are opened and closed here as a client would. Nothing outside the checkout and the
 * engine's own library is read, no typings are fetched, and no plugin is loaded.
 */

/** @import ts from "typescript" */
/** @import { TypeScript } from "../typescript-internals" */
/** @import { FileCache } from "./file-cache" */

const { getOrCreate } = require("../../../engines/js/maps");
const { newLookups, prepareRegistry } = require("./file-cache");

/** What typescript-language-server sets for files without a project. */
const INFERRED = {
  module: "ESNext",
  moduleResolution: "Bundler",
  target: "ES2024",
  jsx: "react-jsx",
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

class ProjectServer {
  /**
   * @param {TypeScript} ts
   * @param {string} root
   * @param {string} libraries
   * @param {FileCache | null} fileCache what earlier servers of this process leave; null when there will be one only
   */
  constructor(ts, root, libraries, fileCache) {
    this.ts = ts;
    this.root = root;
    this.libraries = libraries;
    this.fileCache = fileCache;
    /** @type {string[]} */
    this.openFiles = [];
    /** @type {any[] | null} files without a project, while no program is built for them */
    this.deferred = null;
    this.host = this.confinedHost();
    /** @type {any} */
    this.session = this.startSession();
    this.service = this.session.projectService;
    this.session.executeCommand({
      seq: 1,
      type: "request",
      command: "compilerOptionsForInferredProjects",
      arguments: { options: INFERRED },
    });
    this.deferInferred();
    if (fileCache) this.service.documentRegistry = fileCache.registry;
    else prepareRegistry(ts, this.service.documentRegistry);
  }

  startSession() {
    const { ts } = this;
    class Quiet extends ts.server.Session {
      /** @override */
      send() {}
    }
    const options = {
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
    };
    return new Quiet(/** @type {any} */ (options));
  }

  /**
   * The file system as far as the checkout and the library go. Neither changes: lookups are remembered.
   * @returns {ts.System}
   */
  confinedHost() {
    const { sys } = this.ts;
    const nothing = { close() {} };
    const lookups = this.fileCache?.lookups ?? newLookups();
    const isInside = (/** @type {string} */ name) => this.isInside(name);
    /** @type {any} */
    const real = sys;
    /** @type {any} */
    const host = {
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
      fileExists: remembered(lookups.files, (name) => isInside(name) && sys.fileExists(name)),
      readFile: (/** @type {string} */ name, /** @type {string} */ encoding) =>
        isInside(name) ? this.readFile(name, encoding) : undefined,
      // A path that leads to the root itself (`"paths": {"app": ["."]}`) is looked up in the folder above it.
      directoryExists: remembered(
        lookups.folders,
        (name) => this.isAbove(name) || (isInside(name) && sys.directoryExists(name)),
      ),
      realpath: remembered(lookups.real, (name) => real.realpath(name)),
      getDirectories: (/** @type {string} */ name) => (isInside(name) ? sys.getDirectories(name) : []),
      readDirectory: (/** @type {string} */ name, /** @type {any[]} */ ...rest) =>
        getOrCreate(lookups.listed, JSON.stringify([name, ...rest]), () =>
          isInside(name) ? sys.readDirectory(name, ...rest) : [],
        ).slice(),
      getEnvironmentVariable: () => "",
    };
    return host;
  }

  /**
   * @param {string} name
   * @param {string} [encoding]
   */
  readFile(name, encoding) {
    const read = () => this.ts.sys.readFile(name, encoding);
    return this.fileCache ? this.fileCache.read(name, read) : read();
  }

  /** @param {string} name */
  isInside(name) {
    return name === this.root || name.startsWith(`${this.root}/`) || name.startsWith(this.libraries);
  }

  /**
   * Whether a folder holds the checkout.
   * @param {string} name
   */
  isAbove(name) {
    return `${this.root}/`.startsWith(name.endsWith("/") ? name : `${name}/`);
  }

  /** While `deferred` is a list, files without a project are added to it instead of building a program for each. */
  deferInferred() {
    const build = this.service.assignOrphanScriptInfoToInferredProject.bind(this.service);
    this.service.assignOrphanScriptInfoToInferredProject = (
      /** @type {any} */ info,
      /** @type {string} */ root,
    ) => {
      if (!this.deferred) return build(info, root);
      const project = this.service.getOrCreateInferredProjectForProjectRootPathIfEnabled(info, root);
      project.addRoot(info);
      this.deferred.push(info);
      return project;
    };
  }

  /** @param {string} file */
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
    this.openFiles.push(file);
  }

  closeAll() {
    for (const file of this.openFiles.splice(0)) this.service.closeClientFile(file);
  }

  /**
   * Opens `file` alone, as after a client closed the one before; gives its project, null when it has none.
   * @param {string} file
   * @returns {ts.server.Project | null}
   */
  openAlone(file) {
    this.closeAll();
    this.deferred = [];
    try {
      this.openFile(file);
      return this.deferred.length ? null : this.projectOf(file);
    } finally {
      this.deferred = null;
    }
  }

  /**
   * Opens files that have no project of their own together; gives the one inferred project that has them all.
   * @param {string[]} files
   * @returns {ts.server.Project}
   */
  openTogether(files) {
    const { service } = this;
    const before = this.openFiles.splice(0);
    const wanted = new Set(files);
    this.deferred = [];
    // Each opening would look through all open files for projects to close: once at the end is enough.
    service.cleanupProjectsAndScriptInfos = () => {};
    for (const file of files.slice(0, -1)) this.openFile(file);
    delete service.cleanupProjectsAndScriptInfos;
    this.openFile(files[files.length - 1]);
    for (const file of before) if (!wanted.has(file)) service.closeClientFile(file);
    this.deferred = null;
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

  /** @param {string} file */
  projectOf(file) {
    const info = this.service.getScriptInfo(file);
    if (!info || info.isOrphan()) return null;
    return info.getDefaultProject();
  }

  /**
   * Whether a project is that of a configuration; else it is an inferred one, of files that no configuration includes.
   * @param {ts.server.Project} project
   */
  isConfigured(project) {
    return project.projectKind === this.ts.server.ProjectKind.Configured;
  }

  /** The loaded projects that a references question may search. */
  loaded() {
    /** @type {ts.server.Project[]} */
    const projects = [];
    this.service.forEachEnabledProject((/** @type {any} */ project) => {
      if (project.getCurrentProgram()) projects.push(project);
    });
    return projects;
  }

  /** Whether a request can never leave the file's own project. */
  isSingle() {
    const { configuredProjects, inferredProjects } = this.service;
    const inferred = inferredProjects.filter((/** @type {any} */ each) => !each.isOrphan());
    return configuredProjects.size + inferred.length === 1;
  }
}

/**
 * @template T
 * @param {Map<string, T>} known
 * @param {(name: string) => T} lookUp
 * @returns {(name: string) => T}
 */
function remembered(known, lookUp) {
  return (name) => getOrCreate(known, name, () => lookUp(name));
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

module.exports = { ProjectServer };
