; Also the base of the C++ query.
; A macro before a namespace or a class makes it read as a function without parameters.
(function_definition declarator: (identifier) @body) @scope.misread
(function_definition declarator: (_) @declarator) @suspect.function
(struct_specifier name: (_) @name body: (_)) @type.struct
(union_specifier name: (_) @name body: (_)) @type.union
(enum_specifier name: (_) @name body: (_)) @type.enum
(type_definition type: (struct_specifier name: (_) @name body: (_))) @type.struct
(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @type.struct
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name) @type.union
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @type.enum
(preproc_function_def name: (identifier) @name) @value.macro
(preproc_def name: (identifier) @name) @value.macro
(declaration declarator: (init_declarator declarator: (_) @declarator)) @value.variable
(declaration declarator: (function_declarator) @declarator) @decl.prototype
(declaration declarator: (pointer_declarator declarator: (function_declarator)) @declarator) @decl.prototype
; TEST_CASE("name") { ... } reads as a call and a block.
(translation_unit (expression_statement (call_expression function: (identifier) @name)) . (compound_statement) @def.block)
(preproc_ifdef (expression_statement (call_expression function: (identifier) @name)) . (compound_statement) @def.block)
(enumerator name: (identifier) @name) @entry.constant
(type_definition declarator: (type_identifier) @name) @entry.typedef
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @entry.typedef
(type_definition declarator: (function_declarator
  declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @entry.typedef
