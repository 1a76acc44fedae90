(decorated_definition definition: (class_definition name: (identifier) @name)) @type.class
(class_definition name: (identifier) @name) @type.class
(decorated_definition definition: (function_definition name: (identifier) @name)) @def.function
(function_definition name: (identifier) @name) @def.function
