"""A map prefers what other files can name."""

from __future__ import annotations

import pytest

from codenib.core.context import Declaration
from codenib.serving.context.exported import is_exported


def exported(path: str, symbol: str, kind: str, line: str, more: str = "") -> bool:
    return is_exported(Declaration(path, 1, symbol, kind, line, 1.0), f"{line}\n{more}")


@pytest.mark.parametrize(
    ("path", "symbol", "kind", "line"),
    [
        ("a.py", "Cart.total", "method", "def total(self):"),
        ("a.ts", "Store", "interface", "export interface Store<S> {"),
        ("a.ts", "Client.ask", "method", "ask(): void {"),
        ("queue.h", "queue_empty", "function", "static inline int queue_empty(const struct queue* q)"),
        ("queue.h", "queue", "body", "struct queue {"),
        ("run.c", "uv_run", "function", "int uv_run(uv_loop_t* loop)"),
        ("a.go", "Server.Listen", "method", "func (s *Server) Listen() error {"),
        ("a.rs", "parse", "function", "pub(crate) fn parse() {"),
        ("A.java", "A.get", "method", "public int get() {"),
    ],
)
def test_what_other_files_can_name(path: str, symbol: str, kind: str, line: str) -> None:
    assert exported(path, symbol, kind, line, "export class Client {}")


@pytest.mark.parametrize(
    ("path", "symbol", "kind", "line"),
    [
        ("a.py", "_hidden", "function", "def _hidden():"),
        ("a.py", "Cart._sum", "method", "def _sum(self):"),
        ("a.ts", "helper", "function", "function helper() {"),
        ("a.ts", "default", "variable", "export default defineConfig({"),
        ("a.cjs", "module.exports", "variable", "module.exports = {"),
        ("a.ts", "createHooks.useQuery", "method", "function useQuery(path: string) {"),
        ("queue.h", "QUEUE_EMPTY", "macro", "#define QUEUE_EMPTY(q) \\"),
        ("run.c", "poll", "function", "static int poll(void)"),
        ("run.c", "state", "body", "struct state {"),
        ("a.go", "server.Listen", "method", "func (s *server) Listen() error {"),
        ("a.rs", "parse", "function", "fn parse() {"),
        ("A.java", "A.get", "method", "private int get() {"),
    ],
)
def test_what_only_its_own_file_can_name(path: str, symbol: str, kind: str, line: str) -> None:
    assert not exported(path, symbol, kind, line, "export function createHooks() {}")


@pytest.mark.parametrize(
    "more",
    ["export default Cart", "export { Other, Cart }", "module.exports = { Cart }", "exports.Cart = Cart"],
)
def test_an_export_below_the_declaration_counts(more: str) -> None:
    assert exported("cart.js", "Cart", "variable", "const Cart = () => 1", more)
    assert not exported("cart.js", "Cart", "variable", "const Cart = () => 1", "// nothing")
