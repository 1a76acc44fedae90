"use strict";
// A checkout's root (and the interpreter to ask for libraries) in, the program that the language server would make of
// it out: same configuration, same files.

const path = require("path");

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

async function open(inner, root, python) {
  inner("common/workersHost").initializeWorkersHost(new (inner("common/nodeWorkersHost").NodeWorkersHost)());
  await inner("common/asyncInitialization").initializeDependencies();
  const real = inner("common/realFileSystem");
  const temp = new real.RealTempFile();
  const quiet = new (inner("common/console").NullConsole)();
  const files = new (inner("pyrightFileSystem").PyrightFileSystem)(
    real.createFromRealFileSystem(temp, quiet),
  );
  const caches = new (inner("analyzer/cacheManager").CacheManager)(0);
  const stubs = new (inner("partialStubService").PartialStubService)(files);
  const services = inner("common/serviceProviderExtensions").createServiceProvider(
    files,
    temp,
    quiet,
    caches,
    stubs,
  );
  const service = new (inner("analyzer/service").AnalyzerService)("facts", services, {
    console: quiet,
    hostFactory: () => new (inner("common/fullAccessHost").FullAccessHost)(services),
    importResolverFactory: (provider, options, host) =>
      new (inner("analyzer/importResolver").ImportResolver)(provider, options, host),
    fileSystem: files,
    shouldRunAnalysis: () => false,
  });
  // The engine empties its caches when the heap looks full, which moves with the machine; we do it by counts.
  caches.pauseTracking();
  const { Uri } = inner("common/uri/uri");
  const rootUri = files.realCasePath(Uri.file(path.resolve(root), services));
  const { getEffectiveCommandLineOptions } = inner("languageService/analyzerServiceExecutor");
  const settings = python ? { ...SETTINGS, pythonPath: Uri.file(python, services) } : SETTINGS;
  service.setOptions(getEffectiveCommandLineOptions(rootUri, settings, true));
  service.enumerateSourceFiles(0);
  const program = service.backgroundAnalysisProgram.program;
  silence(program.configOptions);
  return {
    inner,
    root: rootUri.getFilePath(),
    rootUri,
    program,
    service,
    temp,
    uriOf: uriMaker(Uri, services),
  };
}

// We read no diagnostics; a profile of Django showed a tenth of the time in one of them. Facts of flask and click are
// the same bytes without them. The rules that change types stay as they are.
function silence(options) {
  for (const { diagnosticRuleSet: rules } of [options, ...options.executionEnvironments]) {
    for (const rule of Object.keys(rules)) {
      if (rule.startsWith("report")) {
        rules[rule] = "none";
      }
    }
  }
}

function uriMaker(Uri, services) {
  return (root, file) => Uri.file(path.join(root, file), services);
}

module.exports = { open };
