(class_declaration name: (_) @name) @type.class
(struct_declaration name: (_) @name) @type.struct
(interface_declaration name: (_) @name) @type.interface
(enum_declaration name: (_) @name) @type.enum
(record_declaration name: (_) @name) @type.record
(method_declaration name: (_) @name body: (_)) @def.method
(method_declaration name: (_) @name) @decl.method
(constructor_declaration name: (_) @name) @def.constructor
(destructor_declaration name: (_) @name) @def.destructor
(operator_declaration "operator" @name) @def.operator
(conversion_operator_declaration "operator" @name) @def.operator
(indexer_declaration "this" @name) @def.indexer
(property_declaration name: (_) @name) @decl.property
(event_declaration name: (_) @name) @decl.event
(delegate_declaration name: (_) @name) @decl.delegate
(field_declaration (variable_declaration (variable_declarator name: (_) @name (_)))) @value.field
(local_function_statement name: (_) @name) @def.function
