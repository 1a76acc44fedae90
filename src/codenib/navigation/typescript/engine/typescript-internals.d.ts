// The inner parts of TypeScript that the engine uses and that the package's own declarations leave out, at the version
// that host/patched-typescript.js names.

import type ts from "typescript";

export type TypeScript = typeof ts;

/** A node of which it is not known what it is: parts that only some nodes have. */
export type AnyNode = ts.Node & {
  name?: any;
  text?: string;
  moduleSpecifier?: ts.StringLiteral;
  propertyName?: ts.Node;
  modifiers?: readonly ts.Node[];
  isExportEquals?: boolean;
  heritageClauses?: readonly ts.HeritageClause[];
  members?: readonly AnyNode[];
};

/** A place in a file, as the engine gives it. */
export interface FileSpan {
  fileName: string;
  textSpan: ts.TextSpan;
  node?: ts.Node;
}

/** What find-references gives: a definition and the references to it. */
export interface ReferenceGroup {
  definition: FileSpan | undefined;
  references: FileSpan[];
}

/** What the patched engine calls (host/patched-typescript.js). */
export interface Hooks {
  once<T>(checker: ts.TypeChecker, create: () => T): T;
  contextual(checker: ts.TypeChecker, object: ts.Node, find: () => ts.Type | undefined): ts.Type | undefined;
  moduleOf(checker: ts.TypeChecker, specifier: ts.Node): ts.Symbol | undefined;
  files(state: SearchState, search: SearchOfName): readonly ts.SourceFile[];
  positions(file: ts.SourceFile, search: SearchOfName, container: ts.Node, state: SearchState): number[];
  token(file: ts.SourceFile, position: number): ts.Node | undefined;
  relay(node: ts.Node): void;
}

export interface SearchState {
  checker: ts.TypeChecker;
  sourceFiles: readonly ts.SourceFile[];
}

export interface SearchOfName {
  text: string;
  allSearchSymbols: ts.Symbol[];
}

/** The inner functions of find-references that a patch opens. */
export interface FindReferences {
  forEachRelatedSymbol(
    symbol: ts.Symbol,
    location: ts.Node,
    checker: ts.TypeChecker,
    isForRenamePopulateSearchSymbolSet: boolean,
    onlyIncludeBindingElementAtReferenceLocation: boolean,
    visit: (symbol: ts.Symbol, root?: ts.Symbol, base?: ts.Symbol) => void,
    allowBaseTypes: () => boolean,
  ): void;
  populateSearchSymbolSet(
    symbol: ts.Symbol,
    location: ts.Node,
    checker: ts.TypeChecker,
    isForRename: boolean,
    providePrefixAndSuffixText: boolean,
    implementations: boolean,
  ): ts.Symbol[];
  getSpecialSearchKind(node: ts.Node): number;
  getSymbolScope(symbol: ts.Symbol): ts.Node | undefined;
  getLocalSymbolForExportSpecifier(
    location: ts.Node,
    symbol: ts.Symbol,
    specifier: ts.ExportSpecifier,
    checker: ts.TypeChecker,
  ): ts.Symbol;
  getMergedAliasedSymbolOfNamespaceExportDeclaration(
    node: ts.Node,
    symbol: ts.Symbol,
    checker: ts.TypeChecker,
  ): ts.Symbol | undefined;
  skipPastExportOrImportSpecifierOrUnion(
    symbol: ts.Symbol,
    node: ts.Node,
    checker: ts.TypeChecker,
    useLocalSymbolForExportSpecifier: boolean,
  ): ts.Symbol | undefined;
  isStaticSymbol(symbol: ts.Symbol): boolean;
}

declare module "typescript" {
  interface Node {
    id?: number;
    symbol?: Symbol;
    localSymbol?: Symbol;
    jsDoc?: Node[];
  }
  interface SourceFile {
    path: Path;
    locals?: Map<string, Symbol>;
    commonJsModuleIndicator?: Node;
    externalModuleIndicator?: Node;
    moduleAugmentations?: readonly Node[];
  }
  interface Symbol {
    id?: number;
    parent?: Symbol;
    codenibKey?: string;
    codenibElement?: Node;
  }
  interface Program {
    getFileIncludeReasons(): Map<Path, { file?: Path }[]>;
    getResolvedModuleFromModuleSpecifier(
      node: Node,
    ): { resolvedModule?: { resolvedFileName: string } } | undefined;
    getSourceFileByPath(path: string): SourceFile | undefined;
  }
  interface TypeChecker {
    getImmediateAliasedSymbol(symbol: Symbol): Symbol | undefined;
    getMergedSymbol(symbol: Symbol): Symbol;
    resolveExternalModuleSymbol(symbol: Symbol): Symbol;
  }
  interface Signature {
    minArgumentCount: number;
    flags: number;
    thisParameter?: Symbol;
  }

  function bindSourceFile(file: SourceFile, options: CompilerOptions): void;
  function createDocumentRegistryInternal(isCaseSensitive: boolean, folder: string): DocumentRegistry;
  function findChildOfKind(node: Node, kind: SyntaxKind, file: SourceFile): Node | undefined;
  function getAssignmentDeclarationKind(node: Node): number;
  function getCheckFlags(symbol: Symbol): number;
  function getDeclarationFromName(node: Node): Declaration | undefined;
  function getLineStarts(file: SourceFile): readonly number[];
  function getNodeId(node: Node): number;
  function getScriptKindFromFileName(file: string): ScriptKind;
  function getSuperContainer(node: Node, stopOnFunctions: boolean): Node | undefined;
  function getSymbolId(symbol: Symbol): number;
  function getTargetLabel(node: Node, name: string | undefined): Node | undefined;
  function getThisContainer(node: Node, arrows: boolean, computedNames: boolean): Node;
  function getTouchingPropertyName(file: SourceFile, position: number): Node;
  function hasStaticModifier(node: Node): boolean;
  function isBindingPattern(node: Node): node is BindingPattern;
  function isCallExpressionTarget(node: Node, includeElement: boolean, skipOuter: boolean): boolean;
  function isDeclaration(node: Node): node is Declaration;
  function isExternalOrCommonJsModule(file: SourceFile): boolean;
  function isGlobalScopeAugmentation(node: Node): boolean;
  function isImportMeta(node: Node): boolean;
  function isInJSFile(node: Node): boolean;
  function isInRightSideOfInternalImportEqualsDeclaration(node: Node): boolean;
  function isJsonSourceFile(file: SourceFile): boolean;
  function isJumpStatementTarget(node: Node): boolean;
  function isLabelOfLabeledStatement(node: Node): boolean;
  function isLiteralNameOfPropertyDeclarationOrIndexAccess(node: Node): boolean;
  function isModuleSpecifierLike(node: Node): boolean;
  function isNameOfModuleDeclaration(node: Node): boolean;
  function isNewExpressionTarget(node: Node, includeElement: boolean, skipOuter: boolean): boolean;
  function isPartOfTypeQuery(node: Node): boolean;
  function isRequireCall(node: Node, requireString: boolean): boolean;
  function isTaggedTemplateTag(node: Node, includeElement: boolean, skipOuter: boolean): boolean;
  function isDecoratorTarget(node: Node, includeElement: boolean, skipOuter: boolean): boolean;
  function isThis(node: Node): boolean;
  function isTypeKeyword(kind: SyntaxKind): boolean;
  function isVarConst(node: Node): boolean;
  function isVariableDeclarationInitializedToBareOrAccessedRequire(node: Node): boolean;
  function isWriteAccess(node: Node): boolean;
  function nodeIsMissing(node: Node): boolean;
  function normalizePath(path: string): string;

  namespace TypeFlags {
    const Intrinsic: number;
  }

  const AssignmentDeclarationKind: { None: number };

  namespace GoToDefinition {
    function getDefinitionAtPosition(
      program: Program,
      file: SourceFile,
      position: number,
    ): readonly (DefinitionInfo & { isLocal?: boolean })[] | undefined;
  }

  namespace FindAllReferences {
    const FindReferencesUse: { References: number };
    namespace Core {
      const nib: FindReferences;
      function getAdjustedNode(node: Node, options: { use: number }): Node;
      function getIntersectingMeaningFromDeclarations(node: Node, symbol: Symbol): number;
      function getReferencedSymbolsForNode(
        position: number,
        node: Node,
        program: Program,
        files: readonly SourceFile[],
        cancellation: object,
        options: { use: number },
        names: Set<string>,
      ): readonly { definition: any; references: readonly any[] }[] | undefined;
    }
  }
}
