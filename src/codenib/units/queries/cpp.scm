; Before c.scm, so that these win.
; `class EXPORT Name { ... }` reads as a function with the macro as its type.
(function_definition type: (class_specifier !body) declarator: (identifier) @name) @type.class
(function_definition type: (struct_specifier !body) declarator: (identifier) @name) @type.struct
; `MACRO class Name { ... }`, `MACRO namespace name { ... }` too; the keyword lands in the name or in an error.
((function_definition declarator: (identifier) @body (ERROR . (identifier) @name)) @type.class
  (#any-of? @body "class" "struct"))
((function_definition declarator: (identifier) @body (ERROR . (identifier) @name)) @scope.namespace
  (#eq? @body "namespace"))
((function_definition (ERROR) @word declarator: (identifier) @body @name) @type.class
  (#any-of? @word "class" "struct"))
((function_definition (ERROR) @word declarator: (identifier) @body @name) @scope.namespace
  (#eq? @word "namespace"))
(namespace_definition name: (_) @name) @scope.namespace
(class_specifier name: (_) @name body: (_)) @type.class
(template_declaration (class_specifier name: (_) @name body: (_))) @type.class
(template_declaration (struct_specifier name: (_) @name body: (_))) @type.struct
(template_declaration (function_definition declarator: (_) @declarator)) @suspect.function
(template_declaration (declaration declarator: (function_declarator) @declarator)) @decl.prototype
(friend_declaration (function_definition declarator: (_) @declarator)) @suspect.function
(field_declaration declarator: (function_declarator) @declarator) @decl.method
(field_declaration declarator: (reference_declarator (function_declarator)) @declarator) @decl.method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator)) @declarator) @decl.method
(namespace_definition (_
  (expression_statement (call_expression function: (identifier) @name)) . (compound_statement) @def.block))
(concept_definition name: (_) @name) @def.concept
