(class_definition name: (identifier) @name) @type.class
(mixin_declaration (identifier) @name) @type.mixin
(enum_declaration name: (identifier) @name) @type.enum
(extension_declaration name: (identifier) @name) @type.extension
(enum_constant name: (identifier) @name) @entry.constant
(type_alias . (type_identifier) @name) @entry.type
; A signature and its body are neighbours.
(_ (function_signature name: (identifier) @name) @def.function . (function_body) @until)
(program (getter_signature name: (identifier) @name) @def.getter . (function_body) @until)
(program (setter_signature name: (identifier) @name) @def.setter . (function_body) @until)
(_ (method_signature (function_signature name: (identifier) @name)) @def.method . (function_body) @until)
(_ (method_signature (getter_signature name: (identifier) @name)) @def.getter . (function_body) @until)
(_ (method_signature (setter_signature name: (identifier) @name)) @def.setter . (function_body) @until)
(_ (method_signature (operator_signature (binary_operator) @name)) @def.operator . (function_body) @until)
(_ (method_signature [
    (constructor_signature . (identifier) @name . (formal_parameter_list))
    (constructor_signature . (identifier) . (identifier) @name)
    (factory_constructor_signature . (identifier) @name . (formal_parameter_list))
    (factory_constructor_signature . (identifier) . (identifier) @name)
  ]) @def.constructor . (function_body) @until)
(declaration (function_signature name: (identifier) @name)) @decl.method
(static_final_declaration . (identifier) @name) @entry.constant
