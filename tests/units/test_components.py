"""Vue and Svelte files by their parts."""

from __future__ import annotations

from tests.units.test_outline import units_of

VUE = """<template>
  <div v-if="open">
    <template #head><h1>{{ title }}</h1></template>
  </div>
</template>

<script setup lang="ts">
import { ref } from 'vue'
const open = ref<boolean>(false)

// Opens or closes.
function toggle(): void {
  open.value = !open.value
}
</script>

<style scoped>
.head { color: red; }
</style>
"""
SVELTE = """<script>
  export let name;
  function greet() {
    alert(`<style> ${name}`);
  }
</script>

<h1 on:click={greet}>Hello {name}!</h1>
"""


def test_functions_of_a_script_are_units_between_template_and_style() -> None:
    assert units_of(VUE, "vue") == [
        "1-5 +template template",
        "1-6 body template",
        "7-15 +script script",
        "7-10 body script",
        "11-16 function toggle",
        "17-19 +style style",
        "17-19 body style",
    ]


def test_markup_outside_of_elements_is_the_rest_of_the_file() -> None:
    assert units_of(SVELTE, "svelte") == [
        "1-6 +script script",
        "1-2 body script",
        "3-7 function greet",
        "8-8 module",
    ]


def test_a_component_without_a_script_is_its_parts() -> None:
    assert units_of("<template>\n<p/>\n</template>\n", "vue") == [
        "1-3 +template template",
        "1-3 body template",
    ]
    assert units_of("<template>\n<p>\n", "vue") == ["1-2 module"]
