(create_table [(keyword_table) (keyword_exists)] . (object_reference) @name) @def.table
(create_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @def.view
(create_materialized_view [(keyword_view) (keyword_exists)] . (object_reference) @name) @def.view
(create_function (keyword_function) . (object_reference) @name) @def.function
(create_trigger (keyword_trigger) . (object_reference) @name) @def.trigger
(create_type (keyword_type) . (object_reference) @name) @def.type
(create_index column: (identifier) @name) @def.index
