(function_item name: (identifier) @name) @def.function
(function_signature_item name: (identifier) @name) @decl.function
(struct_item name: (type_identifier) @name) @type.struct
(union_item name: (type_identifier) @name) @type.union
(enum_item name: (type_identifier) @name) @type.enum
(trait_item name: (type_identifier) @name) @type.trait
(impl_item type: (_) @name) @type.impl
(mod_item name: (identifier) @name body: (_)) @scope.module
(macro_definition name: (identifier) @name) @def.macro
(source_file (const_item name: (identifier) @name) @def.const)
(source_file (static_item name: (identifier) @name) @def.static)
(source_file (type_item name: (type_identifier) @name) @def.type)
(declaration_list (const_item name: (identifier) @name) @def.const)
(declaration_list (static_item name: (identifier) @name) @def.static)
(declaration_list (type_item name: (type_identifier) @name) @def.type)
(enum_variant name: (identifier) @name) @entry.variant
