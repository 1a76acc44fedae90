(data_type name: (_) @name) @type.data
(newtype name: (_) @name) @type.newtype
(class name: (_) @name) @type.class
(instance name: (_) @owner patterns: (_) @name) @type.instance
(type_synonym name: (_) @name) @decl.type
(data_constructor (_ name: (constructor) @name)) @entry.constructor
(signature name: [(variable) (prefix_id)] @name) @def.function
(function name: [(variable) (prefix_id)] @name) @def.function
(function (infix operator: (_) @name)) @def.function
(declarations (bind name: (variable) @name) @def.function)
(class_declarations (bind name: (variable) @name) @def.function)
(instance_declarations (bind name: (variable) @name) @def.function)
