(function_declaration name: (identifier) @name) @def.function
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @owner
        (pointer_type (type_identifier) @owner)
        (generic_type type: (type_identifier) @owner)
        (pointer_type (generic_type type: (type_identifier) @owner))
      ]))
  name: (field_identifier) @name) @def.method
; A declaration of one type starts at its keyword; in a group each type stands for itself.
(type_declaration . (type_spec name: (type_identifier) @name type: (struct_type)) .) @type.struct
(type_declaration . (type_spec name: (type_identifier) @name type: (interface_type)) .) @type.interface
(type_declaration . (type_spec name: (type_identifier) @name) .) @type.type
(type_declaration . (type_alias name: (type_identifier) @name) .) @type.type
(type_spec name: (type_identifier) @name type: (struct_type)) @type.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @type.interface
(type_spec name: (type_identifier) @name) @type.type
(const_declaration . (const_spec name: (identifier) @name)) @def.const
(var_declaration . (var_spec name: (identifier) @name)) @def.var
(var_declaration (var_spec_list . (var_spec name: (identifier) @name))) @def.var
(source_file (const_declaration (const_spec name: (identifier) @name) @entry.const))
(source_file (var_declaration (var_spec name: (identifier) @name) @entry.var))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @entry.var)))
