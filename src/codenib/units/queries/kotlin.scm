(class_declaration "class" name: (_) @name) @type.class
(class_declaration "interface" name: (_) @name) @type.interface
(object_declaration name: (_) @name) @type.object
(companion_object "companion" @name) @type.object
(function_declaration name: (_) @name) @def.function
(secondary_constructor "constructor" @name) @def.constructor
(anonymous_initializer "init" @name) @def.initializer
(property_declaration (variable_declaration (identifier) @name)) @value.property
(type_alias (identifier) @name) @value.type
