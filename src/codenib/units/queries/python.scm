(decorated_definition definition: (class_definition name: (identifier) @name)) @type.class
(class_definition name: (identifier) @name) @type.class
(decorated_definition definition: (function_definition name: (identifier) @name)) @def.function
(function_definition name: (identifier) @name) @def.function
(module (expression_statement (assignment left: (identifier) @name)) @entry.constant)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @entry.attribute))
