"use strict";
// A checkout's root (and the interpreter to ask for libraries) in, the program that the language server would make of
// it out: same configuration, same files.

/** @import { InnerModules, Project } from "./basedpyright" */

const fs = require("node:fs");
const path = require("node:path");

// What the server takes when a client sends no settings (its own defaults).
const SETTINGS = {
  watchForSourceChanges: false,
  watchForLibraryChanges: false,
  watchForConfigChanges: false,
  openFilesOnly: true,
  useLibraryCodeForTypes: true,
  autoSearchPaths: true,
  typeCheckingMode: "recommended",
  diagnosticSeverityOverrides: {},
  autoImportCompletions: true,
};

/**
 * @param {InnerModules} inner
 * @param {string} root
 * @param {string} [python]
 * @returns {Promise<Project>}
 */
async function openProject(inner, root, python) {
  inner("common/workersHost").initializeWorkersHost(new (inner("common/nodeWorkersHost").NodeWorkersHost)());
  await inner("common/asyncInitialization").initializeDependencies();
  const { files, temp, services, service } = startService(inner);
  const { Uri } = inner("common/uri/uri");
  const rootUri = files.realCasePath(Uri.file(path.resolve(root), services));
  const { getEffectiveCommandLineOptions } = inner("languageService/analyzerServiceExecutor");
  const settings = python ? { ...SETTINGS, pythonPath: Uri.file(python, services) } : SETTINGS;
  service.setOptions(getEffectiveCommandLineOptions(rootUri, settings, true));
  service.enumerateSourceFiles(0);
  const { program } = service.backgroundAnalysisProgram;
  silence(program.configOptions);
  const folder = rootUri.getFilePath();
  const uriOf = (/** @type {string} */ file) => Uri.file(path.join(folder, file), services);
  return { inner, root: folder, rootUri, program, service, temp, uriOf };
}

/** @param {InnerModules} inner */
function startService(inner) {
  const real = inner("common/realFileSystem");
  const temp = new real.RealTempFile();
  const quiet = new (inner("common/console").NullConsole)();
  const files = new (inner("pyrightFileSystem").PyrightFileSystem)(
    real.createFromRealFileSystem(temp, quiet),
  );
  const caches = new (inner("analyzer/cacheManager").CacheManager)(0);
  const stubs = new (inner("partialStubService").PartialStubService)(files);
  const { createServiceProvider } = inner("common/serviceProviderExtensions");
  const services = createServiceProvider(files, temp, quiet, caches, stubs);
  const { FullAccessHost } = inner("common/fullAccessHost");
  const { ImportResolver } = inner("analyzer/importResolver");
  const service = new (inner("analyzer/service").AnalyzerService)("facts", services, {
    console: quiet,
    hostFactory: () => new FullAccessHost(services),
    /** @type {(provider: any, options: any, host: any) => any} */
    importResolverFactory: (provider, options, host) => new ImportResolver(provider, options, host),
    fileSystem: files,
    shouldRunAnalysis: () => false,
  });
  // The engine empties its caches when the heap looks full, which moves with the machine; we do it by counts.
  caches.pauseTracking();
  return { files, temp, services, service };
}

/**
 * We read no diagnostics; a profile of Django showed a tenth of the time in one of them. Facts of flask and click are
 * the same bytes without them. The rules that change types stay as they are.
 * @param {any} options
 */
function silence(options) {
  for (const { diagnosticRuleSet: rules } of [options, ...options.executionEnvironments]) {
    for (const rule of Object.keys(rules)) {
      if (rule.startsWith("report")) rules[rule] = "none";
    }
  }
}

/**
 * The files that the configuration leaves out become files of the program too: tests, scripts and examples use the
 * project, whatever its configuration includes. Gives these files.
 * @param {Project} project
 * @param {string[]} files
 */
function addLoose({ program, uriOf }, files) {
  const loose = files.filter((file) => !program.getSourceFileInfo(uriOf(file))?.isTracked);
  program.addTrackedFiles(loose.map(uriOf));
  return new Set(loose);
}

/**
 * Whether there is something to read: git lists links that lead nowhere too.
 * @param {string} root
 * @param {string} file
 */
function isReadable(root, file) {
  return fs.statSync(path.join(root, file), { throwIfNoEntry: false })?.isFile() ?? false;
}

module.exports = { addLoose, isReadable, openProject };
