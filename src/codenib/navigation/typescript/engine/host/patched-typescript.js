"use strict";
/**
 * The pinned TypeScript in, the same TypeScript out with a few of its inner functions opened.
 *
 * Asking find-references once for every name would search every file again each time. So the engine is
 * loaded with hooks at the places that cost most: which positions of a file a search visits, which files it
 * visits, the table of imports (built once for each checker instead of once for each question), the token at
 * a position, and the display texts of definitions, which nobody reads here. Nor does anybody watch folders. A hook may only skip work whose
 * outcome is known; what is found, and why, stays the engine's own decision. Each patch names text that
 * occurs exactly once in the pinned version: an engine where one does not fit is refused, never half
 * patched.
 */

/** @import { Hooks, TypeScript } from "../typescript-internals" */

const fs = require("node:fs");
const path = require("node:path");
const Module = require("node:module");

/** The patches fit this version; a later patch release passes when each of them still finds its place. */
const VERSION = "6.0.";

/** @type {[what: string, from: string, to: string][]} */
const PATCHES = [
  [
    "the element of a binding pattern that asks for a property",
    "symbol.links.type = getTypeFromBindingElement(e, includePatternInType, reportErrors2);",
    `symbol.links.type = getTypeFromBindingElement(e, includePatternInType, reportErrors2);
      symbol.codenibElement = e;`,
  ],
  [
    "the table of imports",
    "const allDirectImports = getDirectImportsMap(sourceFiles, checker, cancellationToken);",
    `const allDirectImports = nibHooks.once(checker, () =>
    getDirectImportsMap(sourceFiles, checker, cancellationToken));`,
  ],
  [
    "the modules that a file imports",
    `const moduleSymbol = checker.getSymbolAtLocation(moduleSpecifier);
      if (moduleSymbol === searchModuleSymbol) {`,
    `const moduleSymbol = nibHooks.moduleOf(checker, moduleSpecifier);
      if (moduleSymbol === searchModuleSymbol) {`,
  ],
  [
    "the files of a search",
    `for (const sourceFile of state.sourceFiles) {
        state.cancellationToken.throwIfCancellationRequested();
        searchForName(sourceFile, search, state);`,
    `for (const sourceFile of nibHooks.files(state, search)) {
        state.cancellationToken.throwIfCancellationRequested();
        searchForName(sourceFile, search, state);`,
  ],
  [
    "the positions of a search",
    "for (const position of getPossibleSymbolReferencePositions(sourceFile, search.text, container)) {",
    "for (const position of nibHooks.positions(sourceFile, search, container, state)) {",
  ],
  [
    "the token at a position",
    `function getTouchingPropertyName(sourceFile, position) {
  return getTouchingToken(`,
    `function getTouchingPropertyName(sourceFile, position) {
  return nibHooks.token(sourceFile, position) || getTouchingToken(`,
  ],
  [
    "the token of a module specifier",
    `const node = getTouchingToken(sourceFile, position);
    let resolution;`,
    `const node = nibHooks.token(sourceFile, position) || getTouchingToken(sourceFile, position);
    let resolution;`,
  ],
  [
    "the folders to watch for a module that was not found",
    "function watchFailedLookupLocation(failedLookupLocation, setAtRoot) {",
    `function watchFailedLookupLocation(failedLookupLocation, setAtRoot) {
    return setAtRoot;`,
  ],
  [
    "the folders to watch no longer",
    "function stopWatchFailedLookupLocation(failedLookupLocation, removeAtRoot) {",
    `function stopWatchFailedLookupLocation(failedLookupLocation, removeAtRoot) {
    return removeAtRoot;`,
  ],
  [
    "the display of a definition",
    `const symbolName2 = checker.symbolToString(symbol);
  const symbolKind = ts_SymbolDisplay_exports.getSymbolKind(checker, symbol, node);
  const containerName = symbol.parent ? checker.symbolToString(symbol.parent, node) : "";
  return createDefinitionInfoFromName(`,
    `const symbolName2 = "", symbolKind = "", containerName = "";
  return createDefinitionInfoFromName(`,
  ],
  [
    "the type that the context gives an object, whatever its own members say",
    "const withoutNodeInferencesType = typeChecker.getContextualType(element.parent, 4 /* IgnoreNodeInferences */);",
    `const withoutNodeInferencesType = nibHooks.contextual(typeChecker, element.parent, () =>
          typeChecker.getContextualType(element.parent, 4 /* IgnoreNodeInferences */));`,
  ],
  [
    "the imports and exports that a search goes on from",
    `if (!importOrExport) return;
    const { symbol } = importOrExport;`,
    `if (!importOrExport) return;
    nibHooks.relay(referenceLocation);
    const { symbol } = importOrExport;`,
  ],
  [
    "the export specifiers that a search goes on from",
    `const exportDeclaration = parent2.parent;
    const localSymbol = getLocalSymbolForExportSpecifier(`,
    `const exportDeclaration = parent2.parent;
    nibHooks.relay(referenceLocation);
    const localSymbol = getLocalSymbolForExportSpecifier(`,
  ],
  [
    "the inner functions of find-references",
    "Core2.getIntersectingMeaningFromDeclarations = getIntersectingMeaningFromDeclarations;",
    `Core2.getIntersectingMeaningFromDeclarations = getIntersectingMeaningFromDeclarations;
  Core2.nib = { forEachRelatedSymbol, populateSearchSymbolSet, getSpecialSearchKind, getSymbolScope,
    getLocalSymbolForExportSpecifier, getMergedAliasedSymbolOfNamespaceExportDeclaration,
    skipPastExportOrImportSpecifierOrUnion, isStaticSymbol };`,
  ],
];

/**
 * The engine of `folder` (an installed npm package), with `hooks` at its hot places.
 * @param {string} folder
 * @param {Hooks} hooks
 * @returns {TypeScript}
 */
function loadTypeScript(folder, hooks) {
  const file = path.join(folder, "lib", "typescript.js");
  let text = fs.readFileSync(file, "utf8");
  for (const [what, from, to] of PATCHES) {
    const parts = text.split(from);
    if (parts.length !== 2)
      throw new Error(`typescript ${VERSION}3 is needed: ${what} is not where it should be`);
    text = parts.join(to);
  }
  const loaded = /** @type {any} */ (new Module(file));
  loaded.filename = file;
  loaded.paths = /** @type {any} */ (Module)._nodeModulePaths(path.dirname(file));
  /** @type {any} */ (globalThis).nibHooks = hooks;
  loaded._compile(text, file);
  const { version } = loaded.exports;
  if (!version.startsWith(VERSION)) throw new Error(`typescript ${VERSION}3 is needed, not ${version}`);
  return loaded.exports;
}

module.exports = { loadTypeScript };
