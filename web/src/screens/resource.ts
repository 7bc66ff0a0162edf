/** A resource that a screen loads when it opens: loading, loaded, or refused. */
import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../api/problem';

export type Resource<T> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Load, and load again when one of `inputs` changes or `reload` is called. A load that is no longer needed is
 * cancelled.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): readonly [Resource<T>, reload: () => void] {
  const [state, setState] = useState<Resource<T>>({ kind: 'loading' });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const request = new AbortController();
    load(request.signal).then(
      (value) => setState({ kind: 'ready', value }),
      (error: unknown) => {
        if (!isAbort(error)) setState({ kind: 'failed', error });
      },
    );
    return () => request.abort();
  }, [...inputs, round]);
  return [state, () => setRound((before) => before + 1)];
}
