(function_declaration name: (_) @name) @def.function
(variable_declaration (assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (function_definition)))) @def.function
(assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (function_definition))) @def.function
(field name: (_) @name value: (function_definition)) @def.function
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (table_constructor)))) @value.table)
(chunk (assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (table_constructor))) @value.table)
