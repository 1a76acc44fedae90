"""A store in a bucket (`s3://`, `gs://`, `az://`) or in memory, by `obstore`; only this module imports it.

Credentials and endpoints come from the environment, as the clouds' own programs read it (`AWS_ACCESS_KEY_ID`,
`AWS_ENDPOINT`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME` …).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import msgspec

from codenib.core.errors import InputError, ProviderError, extra_hint
from codenib.fleet.store.backend import StoredObject, Unacknowledged, Version

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig
    from obstore.store import ObjectStore as Bucket

ParamsT = ParamSpec("ParamsT")
ValueT = TypeVar("ValueT")

SCHEMES = ("s3", "gs", "az", "memory")
#: An object up to this size is sent in one request, which may be conditional; a longer one in pieces.
_WHOLE = 64 << 20
_CHUNK = 4 << 20
_READS = 3
_CUT = "response body error"  # the connection broke within an answer, which the library does not repeat
_RETRY: RetryConfig = {
    "max_retries": 6,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {"init_backoff": timedelta(milliseconds=50), "max_backoff": timedelta(seconds=5), "base": 2},
}
_HINT = "codenib fleet verify --store URL, and look at the credentials and the endpoint in the environment"


def open_bucket(url: str) -> ObjectBucket:
    """The bucket and prefix that a URL names."""
    try:
        import obstore
    except ImportError as error:
        raise InputError(f"the store {url} needs the library obstore", hint=extra_hint("fleet")) from error
    del obstore
    return ObjectBucket(_memory(url) if url.startswith("memory:") else _connect(url))


@cache
def _memory(url: str) -> Bucket:
    """One of this process, by its URL: two that open it have the same objects."""
    from obstore.store import MemoryStore

    return MemoryStore()


def _connect(url: str) -> Bucket:
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    # The library reads this variable only where it is given no options at all.
    plain = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true", "yes")
    options: ClientConfig = {"timeout": "300s", "connect_timeout": "5s", "allow_http": plain}
    try:
        return from_url(url, retry_config=_RETRY, client_options=options)
    except (BaseError, ValueError, TypeError) as error:
        raise InputError(f"{url} cannot be opened: {_first_line(error)}", hint=_HINT) from error


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300]


def _translated(method: Callable[ParamsT, ValueT]) -> Callable[ParamsT, ValueT]:
    """A call whose errors of the library are ours."""

    @wraps(method)
    def guarded(*args: ParamsT.args, **options: ParamsT.kwargs) -> ValueT:
        from obstore.exceptions import BaseError

        try:
            return method(*args, **options)
        except FileNotFoundError:
            raise
        except (BaseError, OSError, NotImplementedError) as error:
            raise ProviderError(f"the object store failed: {_first_line(error)}", hint=_HINT) from error

    return guarded


def _each(items: Iterator[ValueT]) -> Iterator[ValueT]:
    """What an iterator of the library gives, its errors as ours."""
    following = _translated(lambda: next(items, None))
    while (item := following()) is not None:
        yield item


class ObjectBucket:
    """A `Backend` by obstore."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    @_translated
    def read(self, path: str) -> tuple[bytes, Version] | None:
        import obstore
        from obstore.exceptions import BaseError

        for left in reversed(range(_READS)):
            try:
                answer = obstore.get(self._bucket, path)
                return bytes(answer.bytes()), _version(answer.meta)
            except FileNotFoundError:
                return None
            except BaseError as error:
                if not left or _CUT not in str(error):
                    raise
        raise AssertionError("unreachable")

    @_translated
    def read_ranges(self, path: str, ranges: list[tuple[int, int]]) -> list[bytes]:
        import obstore

        if not ranges:
            return []
        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        return [bytes(piece) for piece in obstore.get_ranges(self._bucket, path, starts=starts, ends=ends)]

    def chunks(self, path: str) -> Iterator[bytes]:
        import obstore

        start = _translated(lambda: obstore.get(self._bucket, path).stream(min_chunk_size=_CHUNK))
        for piece in _each(iter(start())):
            yield bytes(piece)

    @_translated
    def size(self, path: str) -> int | None:
        import obstore

        try:
            return obstore.head(self._bucket, path)["size"]
        except FileNotFoundError:
            return None

    @_translated
    def create(self, path: str, source: bytes | Path) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        if isinstance(source, Path) and source.stat().st_size > _WHOLE:
            if self.size(path) is not None:
                return False
            self.overwrite(path, source)  # named by its content: whoever is faster wrote the same
            return True
        data = source if isinstance(source, bytes) else source.read_bytes()
        try:
            obstore.put(self._bucket, path, data, mode="create", use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    @_translated
    def overwrite(self, path: str, source: bytes | Path) -> None:
        import obstore

        obstore.put(self._bucket, path, source, chunk_size=16 << 20)

    def replace(self, path: str, data: bytes, version: Version) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        mode: Any = msgspec.json.decode(version) if version else "create"
        try:
            obstore.put(self._bucket, path, data, mode=mode, use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        except FileNotFoundError:  # there is none any more
            return False
        except (BaseError, OSError) as error:
            raise Unacknowledged(
                f"the object store failed while a head moved: {_first_line(error)}", hint=_HINT
            ) from error
        return True

    def list(self, prefix: str) -> Iterator[StoredObject]:
        import obstore

        for page in _each(iter(obstore.list(self._bucket, prefix=prefix.rstrip("/") + "/"))):
            for entry in page:
                yield StoredObject(entry["path"], entry["size"], entry["last_modified"].timestamp())

    @_translated
    def remove(self, path: str) -> None:
        import obstore

        try:
            obstore.delete(self._bucket, path)
        except FileNotFoundError:
            return

    def remove_partials(self, before_s: float) -> int:
        return 0  # unfinished multipart uploads are for a lifecycle rule of the bucket


def _version(meta: Any) -> Version:
    """The tag and the version of an object as one text, without what this kind of bucket does not have."""
    return msgspec.json.encode({name: meta[name] for name in ("e_tag", "version") if meta[name]}).decode()
