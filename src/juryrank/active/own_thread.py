"""An event loop in a thread of its own, while the calling thread is at people's disposal.

So it works inside a running event loop, as in Jupyter; an interrupt ends it at once, whatever the
judges are doing; and what people at a prompt are asked, they are asked in the thread that has the
keyboard.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from juryrank.active.judge_calls import Prompt

Result = TypeVar("Result")
TICK = 0.5
"""Seconds: some systems do not let a waiting thread be interrupted."""
GRACE = 1.0
"""Seconds for judges that were cancelled to clean up."""


class OwnThread(Generic[Result]):
    """Runs a coroutine in a loop of its own, and what it asks for in the calling thread."""

    def __init__(self, main: Callable[[Prompt], Coroutine[Any, Any, Result]]) -> None:
        self._main = main
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[Result] | None = None
        self._error: BaseException | None = None

    def result(self) -> Result:
        """Wait for the coroutine; if this is interrupted, dismiss it and wait no longer."""
        thread = threading.Thread(target=self._run, name="juryrank loop", daemon=True)
        thread.start()
        try:
            self._serve()
        except BaseException:
            self._dismiss()
            raise
        thread.join()
        if self._task is None:
            raise RuntimeError("The event loop did not start.") from self._error
        return self._task.result()

    def _serve(self) -> None:
        """Do what the loop wants to be done in this thread, until it has ended."""
        while True:
            try:
                job = self._jobs.get(timeout=TICK)
            except Empty:
                continue
            if job is None:
                return
            _let_interrupts_through()
            job()

    def _dismiss(self) -> None:
        try:
            self._loop.call_soon_threadsafe(lambda: self._task and self._task.cancel())
        except RuntimeError:  # it has ended by itself
            return

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._all())
        except BaseException as error:
            self._error = error
        finally:
            # What cannot be cancelled is left behind, and there is nobody to complain to.
            self._loop.set_exception_handler(lambda _loop, _context: None)
            self._loop.close()
            self._jobs.put(None)

    async def _all(self) -> None:
        """Run it, and end what it leaves behind: calls that timed out."""
        self._task = asyncio.create_task(self._main(self._jobs.put))
        await asyncio.wait({self._task})
        left_behind = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left_behind:
            task.cancel()
        if left_behind:
            await asyncio.wait(left_behind, timeout=GRACE)
        await asyncio.get_running_loop().shutdown_asyncgens()


def _let_interrupts_through() -> None:
    """Let an interrupt end a read from the terminal.

    Libraries that have handlers of their own for Ctrl-C (polars does) make the system go on reading
    when these have been called, and Python would hear of it only after the next line.
    """
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
