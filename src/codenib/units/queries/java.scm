(class_declaration name: (_) @name) @type.class
(interface_declaration name: (_) @name) @type.interface
(enum_declaration name: (_) @name) @type.enum
(record_declaration name: (_) @name) @type.record
(annotation_type_declaration name: (_) @name) @type.annotation
(method_declaration name: (_) @name body: (_)) @def.method
(method_declaration name: (_) @name) @decl.method
(constructor_declaration name: (_) @name) @def.constructor
(compact_constructor_declaration name: (_) @name) @def.constructor
(static_initializer "static" @name) @def.initializer
(field_declaration declarator: (variable_declarator name: (_) @name value: (_))) @value.field
(constant_declaration declarator: (variable_declarator name: (_) @name value: (_))) @value.field
