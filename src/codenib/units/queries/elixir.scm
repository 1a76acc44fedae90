(call target: (identifier) @_word (arguments . (alias) @name) (do_block)
  (#any-of? @_word "defmodule" "defprotocol")) @type.module
(call target: (identifier) @_word (arguments . (alias) @owner (keywords (pair value: (alias) @name))) (do_block)
  (#eq? @_word "defimpl")) @type.module
(call target: (identifier) @_word (arguments . (string (quoted_content) @name)) (do_block)
  (#eq? @_word "describe")) @scope.tests
(call target: (identifier) @_word (arguments . (string (quoted_content) @name)) (do_block)
  (#any-of? @_word "test" "property")) @def.test
(call target: (identifier) @_word (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))
    (binary_operator left: (identifier) @name operator: "when")
  ]) (#any-of? @_word "def" "defp" "defdelegate" "defn" "defnp" "defguard" "defguardp")) @def.function
(call target: (identifier) @_word (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))
  ]) (#any-of? @_word "defmacro" "defmacrop")) @def.macro
