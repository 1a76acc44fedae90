(class_declaration name: (_) @name) @type.class
(interface_declaration name: (_) @name) @type.interface
(trait_declaration name: (_) @name) @type.trait
(enum_declaration name: (_) @name) @type.enum
(method_declaration name: (_) @name body: (_)) @def.method
(method_declaration name: (_) @name) @decl.method
(function_definition name: (_) @name) @def.function
(expression_statement (assignment_expression left: (_) @name right: [(anonymous_function) (arrow_function)])) @def.function
(const_declaration (const_element (name) @name)) @value.const
(property_declaration (property_element name: (_) @name)) @value.field
