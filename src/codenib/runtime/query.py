"""An issue and exactly one source in, an answer out. Only a repository path may compile views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codenib.compiler.compiler import silent
from codenib.compiler.registry import DEFAULT_VIEWS
from codenib.core.errors import InputError
from codenib.core.protocols import Progress
from codenib.core.views import RepoManifest, ViewKind
from codenib.planner.plan import ROUTES
from codenib.runtime.context.exploration import Exploration
from codenib.runtime.context.learned import LearnedContext
from codenib.runtime.context.policies import ContextPolicy, policy_of
from codenib.runtime.providers.choose import open_model
from codenib.runtime.providers.provider import Provider, RunListener
from codenib.runtime.runner import AgentResult, AgentRunner, RunSettings
from codenib.runtime.skills.guard import ResourceGuard
from codenib.runtime.skills.registry import (
    DEFAULT_SKILLS,
    SkillFolder,
    SkillRegistry,
    load_skill_metadata,
    requirements,
)
from codenib.runtime.tools.ordinary import ordinary_tools
from codenib.runtime.traces.trace import AgentRunTrace
from codenib.runtime.traces.usage import Price, UsageTracker
from codenib.runtime.views import Contexts, Navigation, load_views
from codenib.serving.workspace import Workspace

#: What a route of the candidates needs, where that is not the lexical view alone.
_ROUTE_VIEWS = {
    "semantic": (ViewKind.DENSE,),
    "hybrid": (ViewKind.LEXICAL, ViewKind.DENSE),
    "structural": (ViewKind.LEXICAL, ViewKind.GRAPH),
}
_EXPLORED = "eager"  # the rules' action of `LearnedContext`
_SOURCES = "give one of repo_path=, contexts=, manifest="


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the views come from; exactly one is given."""

    repo_path: str | Path | None
    contexts: Contexts | None
    manifest: RepoManifest | str | Path | None


def query(
    issue: str,
    *,
    repo_path: str | Path | None = None,
    contexts: Contexts | None = None,
    manifest: RepoManifest | str | Path | None = None,
    provider: Provider | str | None = None,
    policy: str | ContextPolicy = "eager",
    skills: Sequence[str | Path] | None = None,
    shell: bool = False,
    navigation: Navigation = "static",
    settings: RunSettings | None = None,
    price: Price | None = None,
    trace: AgentRunTrace | None = None,
    listener: RunListener | None = None,
    progress: Progress = silent,
    exploration: Exploration | None = None,
) -> AgentResult:
    """Find the places of `issue` with a model, from exactly one source.

    `repo_path` compiles what is missing, then opens it; `manifest` (a value, or its file) and `contexts`
    (from `load_views`; the caller closes them) never build. Named `skills` are required: a view that they
    need and the manifest does not have is a `StateError`. Without names the default ones come as far as they
    can be served. `provider` is a provider, or a model's name as in `open_model`; by default $CODENIB_MODEL.

    With an `exploration` chance has a part in what the first prompt holds and how it is searched for, beside
    the rules (`eager`) or what was learned (`learned`), and the trace has the probabilities.
    """
    if not issue.strip():
        raise InputError("the issue is empty", hint='codenib agent "what is wrong"')
    source = _Source(repo_path, contexts, manifest)
    if sum(each is not None for each in (repo_path, contexts, manifest)) != 1:
        raise InputError("exactly one source is needed", hint=_SOURCES)
    model = open_model(provider) if provider is None or isinstance(provider, str) else provider
    chosen = _policy(policy)
    if exploration is not None and policy not in (_EXPLORED, LearnedContext.name):
        raise InputError(
            f"chance chooses beside the policy {_EXPLORED} or {LearnedContext.name}, not another one",
            hint=f"--policy {LearnedContext.name}",
        )
    limits = settings or RunSettings()
    folders = load_skill_metadata(DEFAULT_SKILLS if skills is None else skills)
    needed = _needed(chosen, limits) | (set() if skills is None else requirements(folders, navigation))
    with _opened(source, needed, folders, navigation, progress) as views:
        if exploration is not None or policy == LearnedContext.name:
            learned = policy == LearnedContext.name
            chosen = LearnedContext(
                views.workspace.searcher.policy("context") if learned else None,
                explorer=exploration.choose if exploration else None,
            )
        admission = ResourceGuard(views.manifest).admit(folders, views.navigation)
        return AgentRunner(
            provider=model,
            contexts=views,
            tools=ordinary_tools(shell=shell),
            registry=SkillRegistry(admission.skills),
            policy=chosen,
            settings=limits,
            usage=UsageTracker(price),
            trace=trace,
            listener=listener,
            warnings=admission.left_out,
            exploration=exploration,
        ).run(issue)


def compile_views(
    repo_path: str | Path,
    needed: set[ViewKind],
    skills: Sequence[SkillFolder] = (),
    progress: Progress = silent,
) -> RepoManifest:
    """Build or maintain the views that a run needs, and those there that its skills would use."""
    with Workspace(repo_path, progress=progress) as workspace:
        useful = {kind for skill in skills for kind in (*skill.spec.requires, *skill.spec.uses)}
        built = useful & set(workspace.status().views)
        wanted = {*DEFAULT_VIEWS, *needed, *built}
        return workspace.index([kind for kind in ViewKind if kind in wanted]).manifest


def _policy(given: str | ContextPolicy) -> ContextPolicy:
    """The policy that decides what is opened; `learned` has its model once the repository is open."""
    if given == LearnedContext.name:
        return LearnedContext(None)
    return policy_of(given) if isinstance(given, str) else given


def _needed(policy: ContextPolicy, settings: RunSettings) -> set[ViewKind]:
    """What the ordinary tools and the candidates need."""
    route = settings.candidate_route
    if route not in ROUTES:
        raise InputError(f"unknown route {route!r}", hint=f"--route {'|'.join(ROUTES)}")
    views = _ROUTE_VIEWS.get(route, (ViewKind.LEXICAL,)) if policy.wants_candidates else ()
    return {ViewKind.TRIGRAM, *views}


@contextmanager
def _opened(
    source: _Source,
    needed: set[ViewKind],
    skills: Sequence[SkillFolder],
    navigation: Navigation,
    progress: Progress,
) -> Iterator[Contexts]:
    """The views of the source; those that were opened here are closed again."""
    if source.contexts is not None:
        source.contexts.workspace.open_views([kind for kind in ViewKind if kind in needed])
        yield source.contexts
        return
    manifest = source.manifest
    if manifest is None:
        assert source.repo_path is not None
        manifest = compile_views(source.repo_path, needed, skills, progress)
    with load_views(manifest, needed, navigation=navigation, repository=source.repo_path) as opened:
        yield opened
