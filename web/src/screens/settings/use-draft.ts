/** The draft of a form. It follows what others change, and asks where they changed the same part. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { begun, clashes, isChanged, onTop } from '../../project/draft';

type Seen = Readonly<Record<'If-Match', string>>;

interface Drafted<V> {
  readonly value: V;
  /** Whether the user has changed anything that is not saved. */
  readonly isChanged: boolean;
  /** What `If-Match` tells: the version that the user saw. */
  readonly seen: Seen;
  /** What the user and somebody else have changed, each to something else. */
  readonly clashing: readonly (keyof V)[];
  readonly put: (change: Partial<V>) => void;
  readonly keepYours: () => void;
  readonly keepTheirs: () => void;
  /** The API has taken the draft. What stands there then is it, with what the API adds, such as ids. */
  readonly taken: () => void;
}

/** `now` is what stands there, as far as the page knows. */
export function useDraft<V extends object>(version: number, now: V): Drafted<V> {
  const [draft, setDraft] = useState(() => begun(version, now));
  const taken = useRef(false);
  const clashing = draft.version === version || taken.current ? [] : clashes(draft, now);
  const keepYours = () => setDraft(onTop(draft, version, now));
  const keepTheirs = () => setDraft(begun(version, now));
  useEffect(() => {
    if (draft.version === version || clashing.length) return;
    if (taken.current) keepTheirs();
    else keepYours();
    taken.current = false;
  });
  return {
    value: draft.value,
    isChanged: isChanged(draft),
    seen: seen(draft),
    clashing,
    put: (change) => {
      taken.current = false;
      setDraft((before) => ({ ...before, value: { ...before.value, ...change } }));
    },
    keepYours,
    keepTheirs,
    taken: () => {
      taken.current = true;
    },
  };
}

/** The headers of a change of what has this version. */
export function seen({ version }: { readonly version: number }): Seen {
  return { 'If-Match': `"${version}"` };
}
