(variable_declaration . (identifier) @name (struct_declaration)) @type.struct
(variable_declaration . (identifier) @name (union_declaration)) @type.union
(variable_declaration . (identifier) @name (enum_declaration)) @type.enum
(variable_declaration . (identifier) @name (opaque_declaration)) @type.opaque
; A function that returns a type is how Zig spells a generic struct.
(function_declaration name: (identifier) @name type: (builtin_type) @_type (#eq? @_type "type")) @type.struct
(function_declaration name: (identifier) @name) @def.function
(test_declaration (string (string_content) @name)) @def.test
(test_declaration (identifier) @name) @def.test
(test_declaration) @def.test
(source_file (variable_declaration . (identifier) @name) @entry.const)
(struct_declaration (variable_declaration . (identifier) @name) @entry.const)
(enum_declaration (container_field name: (identifier) @name) @entry.variant)
