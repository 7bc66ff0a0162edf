/** Repeats requests that are refused only for the moment. */
import { ApiError, OfflineError } from './problem';

/** Refusals that do not concern the request itself: too many requests, or a server that is not available. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const MAX_TRIES = 4;
/** The index of a busy project may be half a minute late, and a user who undoes wants to wait for it. */
const MAX_TRIES_FOR_HISTORY = 6;
const LEAST_WAIT = 0.5;

/** Whether the same request may succeed in a moment, by the status of its answer. */
export function passes(status: number): boolean {
  return PASSING.has(status);
}

/** Whether a request failed only for the moment: it had no answer, or the same request may succeed soon. */
export function isPassing(error: unknown): boolean {
  return error instanceof OfflineError || (error instanceof ApiError && passes(error.status));
}

/**
 * Send a request, and repeat it where that may help. Waits as long as the API asks, otherwise twice as long each time.
 *
 * The request must be safe to repeat.
 */
export async function withRetry<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send();
    } catch (error) {
      const wait = waitFor(error);
      if (wait === null || tries === maxTries(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * Math.max(LEAST_WAIT * 2 ** tries, wait)));
      signal?.throwIfAborted();
    }
  }
}

function maxTries(error: unknown): number {
  return error instanceof ApiError && error.kind === 'history-not-ready' ? MAX_TRIES_FOR_HISTORY : MAX_TRIES;
}

/** Seconds to wait before a request is sent again; null where that would not help. */
function waitFor(error: unknown): number | null {
  if (!(error instanceof ApiError)) return isPassing(error) ? 0 : null;
  // A job takes minutes: only the user can decide to wait for one, or to cancel it.
  if (error.kind === 'too-many-jobs') return null;
  // The index holds a new write within a moment.
  return passes(error.status) || error.kind === 'history-not-ready' ? (error.retryAfter ?? 0) : null;
}
