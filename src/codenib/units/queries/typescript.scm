; On top of ecmascript.scm.
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @def.method
(export_statement (abstract_class_declaration name: (_) @name)) @type.class
(abstract_class_declaration name: (_) @name) @type.class
(export_statement (interface_declaration name: (_) @name)) @type.interface
(interface_declaration name: (_) @name) @type.interface
(export_statement (enum_declaration name: (_) @name)) @type.enum
(enum_declaration name: (_) @name) @type.enum
(export_statement (type_alias_declaration name: (_) @name)) @value.type
(type_alias_declaration name: (_) @name) @value.type
(internal_module name: (_) @name) @scope.namespace
(module name: (_) @name) @scope.namespace
(export_statement (function_signature name: (_) @name)) @decl.function
(function_signature name: (_) @name) @decl.function
(class_body (method_signature name: (_) @name) @decl.method)
(abstract_method_signature name: (_) @name) @decl.method
