"""The page in Chromium: search, code, an edit, errors, a hostile repository, and what axe-core finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.adapters.ui.browser import Tab, started_browser
from tests.adapters.ui.conftest import running_pages
from tests.adapters.ui.test_runs import make_runs
from tests.example_project import make_project
from tests.gitrepo import GitRepo

pytestmark = pytest.mark.tools
expect.set_options(timeout=20_000)  # how long to look for what must come; a busy machine indexes slowly
AXE = Path(__file__).resolve().parents[3] / "tools" / "js" / "node_modules" / "axe-core" / "axe.min.js"
#: What runs when it is taken for markup, as a file's name may have it (no slash, no line break).
ATTACK = "<img src=x onerror=document.title='owned'><script>alert(1)<∕script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as started:
        yield started


@contextmanager
def tab_of(browser: Browser, *roots: Path, runs: Sequence[Path] = ()) -> Iterator[Tab]:
    """A tab of a new visitor; it fails the test when the page had an error or asked another host."""
    with running_pages(*roots, runs=runs) as visit, browser.new_context() as context:
        context.set_default_timeout(20_000)
        tab = Tab(context.new_page(), visit.address)
        yield tab
        assert tab.problems == []


def test_one_searches_by_keyboard_and_the_address_holds_the_question(
    browser: Browser, tmp_path: Path
) -> None:
    project = make_project(tmp_path / "project")
    with tab_of(browser, project.path) as tab:  # never indexed: the page waits for the text, then answers
        page = tab.page
        expect(page.locator("#query")).to_be_focused()
        page.keyboard.type("where are sessions saved")
        first = page.locator(".result").first
        expect(first).to_contain_text("SessionStore.save_session")
        expect(first.locator("mark").first).to_have_text("save")
        assert "q=where+are+sessions+saved" in page.url

        page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.wait_for_url("**/code/src/sessions.py?line=4-7")
        expect(page.locator(".line.chosen").first).to_contain_text("def save_session")
        page.go_back()
        expect(page.locator("#query")).to_have_value("where are sessions saved")
        expect(first).to_contain_text("SessionStore.save_session")

        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.keyboard.press("/")
        expect(page.locator("#query")).to_be_focused()

        page.get_by_role("button", name="Regex").click()
        page.locator("#query").fill(r"def \w+_session")
        expect(page.locator(".summary")).to_contain_text("2 lines in 1 files")
        tab.open("project/search?mode=regex&q=def%20%28")
        expect(page.get_by_role("alert")).to_contain_text("This cannot be answered")


def test_a_name_leads_to_its_definition_and_lists_its_uses(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    with tab_of(browser, project.path) as tab:
        page = tab.page
        tab.open("project/code/src/app.py")
        expect(page.get_by_role("navigation", name="Outline")).to_contain_text("dispatch_request")
        page.locator('.line[data-line="10"] span', has_text="load_settings").click()
        page.wait_for_url("**/code/src/settings.py?**")
        expect(page.locator(".line.chosen")).to_contain_text("def load_settings")
        beside = page.get_by_role("complementary")
        expect(beside).to_contain_text("by name")  # no graph: the answer says so
        expect(beside).to_contain_text("completeness unknown")
        expect(beside.locator(".uses")).to_contain_text("self.settings = load_settings(path)")
        beside.get_by_role("tab", name="Callers").click()
        expect(beside.locator(".uses")).to_contain_text("App.run")
        beside.get_by_role("tab", name="History").click()
        expect(beside).to_contain_text("Add an application with sessions")
        assert "show=history" in page.url


def test_an_edit_is_on_the_page_without_a_reload(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    with tab_of(browser, project.path) as tab:
        page = tab.page
        page.evaluate("window.sameDocument = true")
        page.locator("#query").fill("quicksilver")
        expect(page.locator("main")).to_contain_text("Nothing matches")
        project.write("src/metal.py", "def quicksilver():\n    return 80\n")
        expect(page.locator(".result").first).to_contain_text("def quicksilver")
        page.locator(".result a").first.click()
        expect(page.locator(".source")).to_contain_text("return 80")
        project.write("src/metal.py", "def quicksilver():\n    return 200.59\n")
        expect(page.locator(".source")).to_contain_text("return 200.59")
        assert page.evaluate("window.sameDocument") is True


def test_a_hostile_repository_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    hostile = GitRepo(tmp_path / "hostile")
    name = f"{ATTACK}.py"
    comment = '# </code></pre><script>document.title="owned"</script>'
    source = f'{comment}\ndef aaaaaaaa():\n    return """{ATTACK}"""\n'
    hostile.commit({name: source, "javascript:alert(1).py": "aaaaaaaa()\n"}, f"{ATTACK}\n\n{source}")
    with tab_of(browser, hostile.path) as tab:
        page = tab.page
        page.locator("#query").fill("aaaaaaaa")
        expect(page.locator(".result").first).to_be_visible()
        for path in ("search?q=aaaaaaaa", "search?mode=regex&q=return", f"search?q={ATTACK}", "code/"):
            tab.open(f"hostile/{path}")
            expect(page.locator(".results, .folder").first).to_be_visible()
        page.locator(".folder a", has_text="onerror").click()
        expect(page.locator(".source")).to_contain_text("</code></pre><script>")
        expect(page.locator(".commits")).to_contain_text("<script>alert(1)")
        assert "owned" not in page.title().split("·")[-1]
        assert page.locator("main script, main img").count() == 0


def test_the_map_opens_folders_and_says_what_it_left_out(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    with tab_of(browser, project.path) as tab:
        page = tab.page
        tab.open("project/map")
        expect(page.locator(".summary")).to_contain_text("7 files")
        assert page.locator("canvas").evaluate("each => each.width > 100 && each.height > 100")
        page.get_by_label("shade by").select_option("tests")
        expect(page.locator(".legend")).to_contain_text("% of the lines")
        page.get_by_role("button", name="src/").click()
        expect(page.locator(".summary")).to_contain_text("4 files")
        expect(page.locator("table")).to_contain_text("src/sessions.py")
        assert "folder=src" in page.url
        page.get_by_role("button", name="Dependencies").click()
        expect(page.locator(".summary")).to_contain_text("uses are not known")  # no graph: no drawn "none"
        page.get_by_role("button", name="Calls").click()
        page.get_by_label("function").fill("load_settings")
        page.get_by_role("button", name="Draw").click()
        expect(page.get_by_role("link", name="method App.run")).to_be_visible()
        expect(page.locator("main")).to_contain_text("completeness unknown")


def test_traces_calls_and_studies_are_drawn_and_compared(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    with tab_of(browser, project.path, runs=[make_runs(tmp_path)]) as tab:
        page = tab.page
        tab.open("project/runs")
        page.get_by_role("link", name="runs/trace.jsonl").click()
        expect(page.locator(".trace")).to_contain_text("search")
        expect(page.locator(".trace")).to_contain_text("The store saves it.")
        expect(page.get_by_role("link", name="src/sessions.py:4")).to_be_visible()
        tab.open("project/runs?run=runs/one&beside=runs/two")
        expect(page.locator("main")).to_contain_text("recall")
        expect(page.locator("main")).to_contain_text("+25.0 %")
        tab.open("project/runs?run=runs/serve.jsonl")
        expect(page.locator("table")).to_contain_text("search answered")


def test_an_edit_is_told_on_the_page_of_freshness(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    with tab_of(browser, project.path) as tab:
        page = tab.page
        tab.open("project/freshness")
        expect(page.get_by_role("row", name="lexical fresh")).to_be_visible()
        project.write("src/new.py", "def new(): ...\n")
        expect(page.locator(".feed")).to_contain_text("files changed")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, tmp_path: Path, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make tools")
    project = make_project(tmp_path / "project")
    with tab_of(browser, project.path, runs=[make_runs(tmp_path)]) as tab:
        page = tab.page
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        for path, drawn in PAGES.items():
            tab.open(f"project/{path}")
            expect(page.locator(drawn).first).to_be_visible()
            page.evaluate(AXE.read_text(encoding="utf-8"))
            found = page.evaluate("axe.run()")["violations"]
            serious = [
                (each["id"], each["nodes"][0]["html"], each["nodes"][0]["failureSummary"])
                for each in found
                if each["impact"] in ("serious", "critical")
            ]
            assert serious == [], path


#: page → what is there once it is drawn
PAGES = {
    "search?q=session&why=1": ".why",
    "map": ".treemap + .legend",
    "map?show=modules": ".drawing .box",
    "map?show=calls&symbol=load_settings": ".drawing .box.ring",
    "freshness": ".updates li",
    "runs?run=runs/trace.jsonl": ".trace li",
    "search?q=session&mode=regex": ".match",
    "code/src/sessions.py?line=4-7&on=4:9&show=refs": ".uses",
    "code/src": ".folder",
    "nothing": ".problem",
}
