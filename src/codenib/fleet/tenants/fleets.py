"""A grant in, the fleet that its token may ask out: its own repositories, with open views of its own.

Nothing of another tenant is in that fleet, so nothing of it can be in results, counts, statistics or errors.
What is open is not shared either: an answer is not faster because somebody else asked before.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import DEFAULT_TENANT, RepositoryEntry
from codenib.fleet.search.fleet import CatalogueMembers, Fleet
from codenib.fleet.tenants.grant import Grant

_FLEETS = 64  # that stay open; of more grants, the one that asked longest ago opens its views anew
_BYTES = 512 << 20  # of open views for each, which are mapped


class GrantedFleets:
    """The fleets of the tokens of a server. With `everything` all ask the whole catalogue."""

    def __init__(self, *, everything: bool = False, memory_bytes: int = _BYTES) -> None:
        self._everything = everything
        self._memory_bytes = memory_bytes
        self._open: OrderedDict[tuple[str, ...], Fleet] = OrderedDict()
        self._lock = Lock()

    def of(self, grant: Grant) -> Fleet:
        """The fleet of a grant; tokens of a tenant that are for the same share one."""
        key = () if self._everything else (grant.tenant, *grant.views, "", *grant.repositories)
        with self._lock:
            fleet = self._open.get(key)
            if fleet is None:
                fleet = self._open[key] = self._fleet_of(grant)
            self._open.move_to_end(key)
            while len(self._open) > _FLEETS:
                self._open.popitem(last=False)  # those who still ask it finish; its views go with the last
            return fleet

    def close(self) -> None:
        """Let go of the open views."""
        with self._lock:
            for fleet in self._open.values():
                fleet.close()
            self._open.clear()

    def _fleet_of(self, grant: Grant) -> Fleet:
        if self._everything:
            return Fleet(memory_bytes=self._memory_bytes)

        def accepts(catalogue: Catalogue, entry: RepositoryEntry) -> bool:
            return allows_entry(grant, catalogue, entry)

        members = CatalogueMembers(accepts)
        return Fleet(members, memory_bytes=self._memory_bytes, views=grant.view_kinds)


def allows_entry(grant: Grant, catalogue: Catalogue, entry: RepositoryEntry) -> bool:
    """Whether a grant is for a repository of a catalogue: by its name, or the folder that it is read in.

    What was added for a tenant is for tokens of that tenant alone.
    """
    tenant = "" if entry.tenant == DEFAULT_TENANT else entry.tenant
    if grant.allows_name(entry.name, tenant):
        return True
    own = not tenant or tenant == grant.tenant
    return own and entry.in_place and grant.allows(catalogue.mirror_of(entry))
