// The parts of basedpyright's inner modules that the engine uses, at the version that bundle.js names. The package has
// no types of its own. Parse nodes differ by `nodeType`: what their `d` has is not declared here.

/** Gives an inner module by its source path, e.g. "analyzer/service". */
export type InnerModules = (name: string) => any;

export interface Span {
  start: number;
  length: number;
}

export interface Position {
  line: number;
  character: number;
}

export interface ParseNode extends Span {
  nodeType: number;
  parent?: ParseNode;
  d: any;
}

/** The numbers of parse nodes, by name. */
export type NodeTypes = Readonly<Record<string, number>>;

export interface Uri {
  key: string;
  getFilePath(): string;
  isEmpty(): boolean;
  equals(other: Uri): boolean;
  hasExtension(extension: string): boolean;
}

export interface Declaration {
  type: number;
  node: ParseNode;
  uri: Uri;
  range: { start: Position };
  isConstant?: boolean;
  isFinal?: boolean;
  isMethod?: boolean;
  isInExceptSuite?: boolean;
  isDefinedByMemberAccess?: boolean;
  isUnresolved?: boolean;
  loadSymbolsFromPath?: boolean;
  usesLocalName?: boolean;
  symbolName?: string;
  submoduleFallback?: Declaration;
}

export interface Symbol {
  _flags: number;
  getDeclarations(): Declaration[];
}

export type SymbolTable = Map<string, Symbol>;

export interface Type {
  shared: any;
}

export interface TypeResult {
  type: Type;
}

export interface DeclarationInfo {
  decls: Declaration[];
  synthesizedTypes: { node?: ParseNode }[];
}

export interface Evaluator {
  disposeEvaluator(): void;
  getDeclInfoForNameNode(node: ParseNode, skipUnreachable: boolean): DeclarationInfo | undefined;
  getEffectiveTypeOfSymbol(symbol: Symbol): Type;
  getInferredReturnType(type: Type): Type | undefined;
  getType(node: ParseNode): Type | undefined;
  getTypeCacheEntryCount(): number;
  getTypeOfClass(node: ParseNode | undefined): { classType: Type } | undefined;
  getTypeOfFunction(node: ParseNode): { functionType: Type } | undefined;
  getTypeResult(node: ParseNode): TypeResult | undefined;
  printType(type: Type, options: { useFullyQualifiedNames: boolean; expandTypeAlias: boolean }): string;
  resolveAliasDeclaration(
    declaration: Declaration,
    resolveLocalNames: boolean,
    options?: { allowExternallyHiddenAccess?: boolean; skipFileNeededCheck?: boolean },
  ): Declaration | undefined;
}

export interface FileData {
  clientDocumentContents?: string;
  parsedFileContents?: string;
  parserOutput?: { parseTree: ParseNode; containsWildcardImport: boolean };
  isBindingNeeded: boolean;
}

export interface SourceFile {
  _writableData: FileData;
  _diagnosticRuleSet: object;
  markDirty(): void;
  getFileContent(): string | undefined;
  getParserOutput(): { parseTree: ParseNode } | undefined;
}

export interface FileLinks {
  imports: SourceFileInfo[];
  importedBy: SourceFileInfo[];
  builtinsImport?: SourceFileInfo;
  effectiveFutureImports?: Set<string>;
}

export interface SourceFileInfo extends FileLinks {
  uri: Uri;
  isTracked: boolean;
  sourceFile: SourceFile;
  mutate(change: (links: FileLinks) => void): void;
}

export interface ParseResults {
  text?: string;
  parserOutput: { parseTree: ParseNode };
  tokenizerOutput: { lines: object };
}

export interface SourceMapper {
  findModules(uri: Uri): ParseNode[];
  findDeclarations(declaration: Declaration): Declaration[];
}

export interface Program {
  evaluator: Evaluator;
  importResolver: any;
  configOptions: any;
  _evaluator: Evaluator | undefined;
  _sourceFileList: SourceFileInfo[];
  _analyzerNodeInfoContext: { get(node: ParseNode): { dunderAllInfo?: object } | undefined };
  _createNewEvaluator(): void;
  emptyCache(): void;
  getCacheUsage(): number;
  getParseResults(uri: Uri): ParseResults | undefined;
  getSourceFileInfo(uri: Uri): SourceFileInfo | undefined;
  getSourceMapper(uri: Uri, cancellation: object): SourceMapper;
  markFilesDirty(uris: Uri[], evenIfContentsAreSame: boolean): void;
  addTrackedFiles(uris: Uri[]): void;
}

/** What analyzer/analyzerNodeInfo tells of bound parse nodes. */
export interface NodeInfo {
  getInfoReader(program: Program): object;
  getScope(node: ParseNode, reader: object): Scope | undefined;
  getFileInfo(node: ParseNode, reader: object): { fileUri: Uri; lines: object };
  getStringAnnotation(node: ParseNode, reader: object): ParseNode | undefined;
  getDunderAllInfo(
    node: ParseNode,
    reader: object,
  ): { names: string[]; stringNodes: ParseNode[]; usesUnsupportedDunderAllForm: boolean } | undefined;
  isCodeUnreachable(node: ParseNode, reader: object): boolean;
}

export interface Scope {
  symbolTable: SymbolTable;
  lookUpSymbolRecursive(name: string): { symbol: Symbol } | undefined;
}

/** A checkout that the engine has opened (project.js). */
export interface Project {
  inner: InnerModules;
  root: string;
  rootUri: Uri;
  program: Program;
  service: { dispose(): void };
  temp: { dispose(): void };
  uriOf(file: string): Uri;
}
