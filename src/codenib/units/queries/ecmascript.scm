; What JavaScript and TypeScript share. A pattern with `export` or the whole statement comes beside the bare one:
; the outer capture wins, the inner one is recognised by its name.
(export_statement (function_declaration name: (_) @name)) @def.function
(export_statement (generator_function_declaration name: (_) @name)) @def.function
(export_statement "default" @name value: [(function_expression) (arrow_function) (generator_function)]) @def.function
(export_statement "default" @name value: [(object) (call_expression)]) @value.variable
(function_declaration name: (_) @name) @def.function
(generator_function_declaration name: (_) @name) @def.function

(export_statement (class_declaration name: (_) @name)) @type.class
(export_statement "default" @name value: (class)) @type.class
(class_declaration name: (_) @name) @type.class
(variable_declarator name: (identifier) @name value: (class)) @type.class
(assignment_expression left: (_) @name right: (class)) @type.class
(method_definition name: (_) @name) @def.method

(export_statement (lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) .)) @def.function
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) .) @def.function
(variable_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) .) @def.function
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @def.function

; exports.run = function () {}, Foo.prototype.bar = function () {}, a = b.c = function () {}
((expression_statement (assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)])) @wrapper.function
  (#any-of? @name "module.exports" "exports"))
(expression_statement (assignment_expression left: [(member_expression) (identifier)] @name
  right: [(arrow_function) (function_expression) (generator_function)])) @def.function
(expression_statement (assignment_expression left: (member_expression) @name
  right: (assignment_expression right: [(arrow_function) (function_expression)]))) @def.function
(assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)]) @def.function
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(pair key: (_) @name value: (object)) @scope.object

(export_statement (lexical_declaration . (variable_declarator name: (_) @name value: (_)) .)) @value.variable
(lexical_declaration . (variable_declarator name: (_) @name value: (_)) .) @value.variable
(variable_declaration . (variable_declarator name: (_) @name value: (_)) .) @value.variable
(expression_statement (assignment_expression left: (member_expression) @name right: [(object) (call_expression)])) @value.variable

; A shell: a function called at once, or a module factory. Transparent around definitions, values included.
(call_expression function: (parenthesized_expression [(function_expression) (arrow_function)] @body @shell.callback))
(call_expression function: (function_expression) @body @shell.callback)
(call_expression function: (member_expression
  object: (parenthesized_expression (function_expression) @body @shell.callback)))
(call_expression function: (parenthesized_expression (function_expression))
  arguments: (arguments (function_expression) @body @shell.callback))
((call_expression function: (identifier) @callee
  arguments: (arguments [(function_expression) (arrow_function)] @body @shell.callback))
  (#any-of? @callee "define" "require" "requirejs"))

; Any other function expression, with the statement that passes it where there is one.
(expression_statement (call_expression
  arguments: (arguments (function_expression name: (identifier) @name) @body))) @closure.callback
(expression_statement (call_expression function: [(identifier) (member_expression)] @name
  arguments: (arguments [(arrow_function) (function_expression)] @body))) @closure.callback
(expression_statement (await_expression (call_expression function: [(identifier) (member_expression)] @name
  arguments: (arguments [(arrow_function) (function_expression)] @body)))) @closure.callback
[(arrow_function) (function_expression) (generator_function)] @body @closure.callback
