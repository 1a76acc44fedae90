(module name: (_) @name) @scope.module
(class name: (_) @name) @type.class
(method name: (_) @name) @def.function
(singleton_method name: (_) @name) @def.function
((assignment left: (constant) @name right: (call method: (identifier) @callee block: (_))) @type.class
  (#any-of? @callee "new" "define"))
(assignment left: (constant) @name) @value.const
((call method: (identifier) @callee arguments: (argument_list . (simple_symbol) @name) block: (_)) @def.function
  (#any-of? @callee "define_method" "scope"))
