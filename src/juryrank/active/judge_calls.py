"""Calling a judge: in a thread, in the event loop or at the prompt, with a time-out.

Whatever goes wrong comes back as a `CallFailed`, but for what is to stop everything: the user's
interrupt, and `SystemExit`.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from juryrank.active.judge import Judge
from juryrank.active.replies import Malformed, Reply, reply_of
from juryrank.text import short

LONGEST_WAIT = 60.0
"""Seconds between two attempts."""
WIDEST_REASON = 200
STOPS = (KeyboardInterrupt, SystemExit)

Result = TypeVar("Result")
Prompt = Callable[[Callable[[], None]], None]
"""Has something done in the thread of the user who is at the prompt."""


class CallFailed(Exception):  # noqa: N818  it is what the call has
    """A call gave no answer; the message says why."""

    def __init__(self, reason: str, *, may_cost: bool) -> None:
        super().__init__(reason)
        self.may_cost = may_cost
        """Whether the call was, or may have been, made nonetheless."""


@dataclass(frozen=True)
class _Ended:
    """How a call ended. No exception of the judge's travels through the event loop by itself."""

    value: Any = None
    error: BaseException | None = None


async def reply_from(judge: Judge, left: Any, right: Any, prompt: Prompt | None) -> Reply:
    """Ask a judge once."""
    asked = asyncio.ensure_future(_ended(judge, left, right, prompt))
    limit = None if judge.prompt else judge.timeout
    try:
        await asyncio.wait({asked}, timeout=limit)
    except asyncio.CancelledError:
        asked.cancel()
        raise
    if not asked.done():
        asked.cancel()  # and not awaited: nobody knows whether it can be stopped
        raise CallFailed(f"no answer within {limit:g} s", may_cost=True)
    ended = asked.result()
    if isinstance(ended.error, STOPS):
        raise Stopped(ended.error)
    if ended.error is not None:
        raise CallFailed(_said(ended.error), may_cost=False) from ended.error
    try:
        return reply_of(ended.value)
    except Malformed as error:
        raise CallFailed(str(error), may_cost=True) from error


class Stopped(Exception):  # noqa: N818  it is what everything is
    """A judge's function has raised what is to stop everything."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(repr(error))
        self.error = error


async def _ended(judge: Judge, left: Any, right: Any, prompt: Prompt | None) -> _Ended:
    """Call, and catch whatever comes of it."""
    if judge.is_async:
        return await _awaited(lambda: judge.call(left, right))
    do = prompt if judge.prompt and prompt is not None else _in_new_thread
    ended = await _elsewhere(lambda: judge.call(left, right), do)
    return await _awaited(lambda: ended.value) if inspect.isawaitable(ended.value) else ended


async def _awaited(begin: Callable[[], Awaitable[Any]]) -> _Ended:
    try:
        return _Ended(await begin())
    except asyncio.CancelledError as error:
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            raise
        return _Ended(error=error)  # of the judge's own making
    except BaseException as error:  # else it would stop the event loop
        return _Ended(error=error)


async def in_thread(function: Callable[[], Result]) -> Result:
    """Have something done in a thread that nobody waits for when the process ends."""
    ended = await _elsewhere(function, _in_new_thread)
    if ended.error is not None:
        raise ended.error
    result: Result = ended.value
    return result


async def _elsewhere(function: Callable[[], Any], do: Prompt) -> _Ended:
    """Have something done in another thread, which tells how it ended."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[_Ended] = loop.create_future()
    context = copy_context()

    def tell(ended: _Ended) -> None:
        if not told.done():
            told.set_result(ended)

    def work() -> None:
        try:
            ended = _Ended(context.run(function))
        except BaseException as error:
            ended = _Ended(error=error)
        try:
            loop.call_soon_threadsafe(tell, ended)
        except RuntimeError:  # the loop is closed, as this took too long
            _discard(ended.value)

    do(work)
    return await told


def _in_new_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="juryrank judge", daemon=True).start()


def _discard(value: Any) -> None:
    """Close what nobody will await, which Python would warn about."""
    if inspect.iscoroutine(value):
        value.close()


def _said(error: BaseException) -> str:
    """What an exception says, in short."""
    try:
        text = str(error)
    except Exception:  # whatever its __str__ may do
        text = ""
    kind = type(error).__name__
    return short(f"{kind}: {text}" if text else kind, WIDEST_REASON)


def waiting_time(judge: Judge, attempt: int, seed: int, question: int) -> float:
    """Seconds before the next attempt: ``wait 2^(attempt - 1)`` times something in [0.5, 1.5).

    Judges that fail together are so asked again at different times; which, the seed decides.
    """
    digest = hashlib.sha256(f"{seed}:{question}:{attempt}".encode()).digest()
    jitter = 0.5 + int.from_bytes(digest[:8], "big") / 2.0**64
    return float(min(judge.wait * 2.0 ** min(attempt - 1, 30), LONGEST_WAIT) * jitter)
