"""Every command with `--json`, and the type of what it prints; in, one JSON schema for the docs out."""

from __future__ import annotations

from typing import Any

import msgspec

from codenib.adapters.envelopes.answers import (
    BatchReply,
    BlameReply,
    ExploreReply,
    FolderReply,
    HistoryReply,
    MapReply,
    ModulesReply,
    OverviewReply,
    PlanReply,
    ReadReply,
    RegexReply,
    SearchReply,
    UnitsReply,
)
from codenib.adapters.envelopes.comparison import ComparisonReply
from codenib.adapters.envelopes.envelope import Envelope, ErrorReply
from codenib.adapters.envelopes.fleet import (
    BundleReply,
    FleetIndexReply,
    FleetListReply,
    FleetStatusReply,
    FleetSyncReply,
    StoreCollectionReply,
    StoreReply,
)
from codenib.adapters.envelopes.fleet_answers import FleetRegexReply, FleetSearchReply, FleetSymbolsReply
from codenib.adapters.envelopes.journals import ForgottenItem, JournalFile, JournalItem, JournalReply
from codenib.adapters.envelopes.learning import LearnReply
from codenib.adapters.envelopes.navigation import (
    DrawingReply,
    GraphReply,
    ImpactReply,
    NavigationReply,
)
from codenib.adapters.envelopes.runs import AgentReply, ExportItem, TraceReply
from codenib.adapters.envelopes.upkeep import (
    AuditReply,
    CollectReply,
    EditItem,
    EntryItem,
    InstalledTool,
    StatusReply,
    TokenItem,
    TrustItem,
    UpdateReply,
    UpdatesReply,
    VerifyReply,
)
from codenib.learning.policies.activation import PolicyItem
from codenib.runtime.traces.replay import ReplayedStep
from codenib.serving.configuration import ConfiguredKey
from codenib.serving.doctor import Check
from codenib.serving.installation import ToolReport

#: command → what it prints with `--json`
REPLIES: dict[str, Any] = {
    "search": SearchReply,
    "search --batch": BatchReply,
    "explore": ExploreReply,
    "map": MapReply,
    "overview": OverviewReply,
    "modules": ModulesReply,
    "plan": PlanReply,
    "regex": RegexReply,
    "read": ReadReply,
    "read FOLDER": FolderReply,
    "units": UnitsReply,
    "history": HistoryReply,
    "blame": BlameReply,
    "impact": ImpactReply,
    "def": NavigationReply,
    "refs": NavigationReply,
    "callers": GraphReply,
    "callees": GraphReply,
    "deps": GraphReply,
    "path": GraphReply,
    "symbols": GraphReply,
    "outline": GraphReply,
    "graph": DrawingReply,
    "compare-navigation": ComparisonReply,
    "agent": AgentReply,
    "trace show": TraceReply,
    "trace export": Envelope[ExportItem],
    "trace replay": Envelope[ReplayedStep],
    "learn": LearnReply,
    "policy show": Envelope[PolicyItem],
    "policy use": Envelope[PolicyItem],
    "policy drop": Envelope[PolicyItem],
    "journal on": Envelope[JournalItem],
    "journal off": Envelope[JournalItem],
    "journal show": JournalReply,
    "journal export": Envelope[JournalFile],
    "journal forget": Envelope[ForgottenItem],
    "index": UpdateReply,
    "import-scip": UpdateReply,
    "update": UpdateReply,
    "watch": UpdateReply | AuditReply,
    "status": StatusReply,
    "updates": UpdatesReply,
    "verify": VerifyReply,
    "verify --sample": AuditReply,
    "gc": CollectReply,
    "tools": Envelope[ToolReport],
    "tools install": Envelope[InstalledTool],
    "trust": Envelope[TrustItem],
    "install": Envelope[EditItem],
    "install --print": Envelope[EntryItem],
    "uninstall": Envelope[EditItem],
    "token create": Envelope[TokenItem],
    "token list": Envelope[TokenItem],
    "token revoke": Envelope[TokenItem],
    "export": BundleReply,
    "import": BundleReply,
    "fleet verify": StoreReply,
    "fleet gc": StoreCollectionReply,
    "fleet add": FleetListReply,
    "fleet list": FleetListReply,
    "fleet remove": FleetListReply,
    "fleet sync": FleetSyncReply,
    "fleet index": FleetIndexReply,
    "fleet status": FleetStatusReply,
    "doctor": Envelope[Check],
    "config": Envelope[ConfiguredKey],
    "fleet search": FleetSearchReply,
    "fleet regex": FleetRegexReply,
    "fleet symbols": FleetSymbolsReply,
    "fleet def": FleetSymbolsReply,
    "error": ErrorReply,
}


def json_schema() -> dict[str, Any]:
    """The published schema: a definition for each type, and which one each command prints."""
    types = [kind for kind in REPLIES.values() if kind != REPLIES["watch"]]
    references, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    commands = dict(zip((name for name in REPLIES if name != "watch"), references, strict=True))
    commands["watch"] = {"anyOf": [commands["update"], commands["verify --sample"]]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the commands of codenib print with --json",
        "properties": {name: commands[name] for name in REPLIES},
        "$defs": dict(sorted(definitions.items())),
    }
