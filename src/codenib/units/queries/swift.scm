(class_declaration "class" name: (_) @name) @type.class
(class_declaration "struct" name: (_) @name) @type.struct
(class_declaration "enum" name: (_) @name) @type.enum
(class_declaration "extension" name: (_) @name) @type.extension
(class_declaration name: (_) @name) @type.class
(protocol_declaration name: (_) @name) @type.protocol
(function_declaration name: (simple_identifier) @name) @def.function
(function_declaration "func" @name) @def.function
(protocol_function_declaration name: (_) @name) @decl.function
(init_declaration "init" @name) @def.constructor
(deinit_declaration "deinit" @name) @def.destructor
(subscript_declaration "subscript" @name) @def.subscript
(property_declaration name: (pattern) @name) @value.property
(typealias_declaration name: (type_identifier) @name) @value.type
