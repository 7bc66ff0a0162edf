/** The draft of a form. It follows changes of others, and asks if they changed the same part. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { begun, clashes, isChanged, onTop } from '../../project/draft';

type Seen = Readonly<Record<'If-Match', string>>;

interface Drafted<V> {
  readonly value: V;
  /** Whether the user has unsaved changes. */
  readonly isChanged: boolean;
  /** The version that the user saw, for `If-Match`. */
  readonly seen: Seen;
  /** Parts that both the user and someone else have changed, to different values. */
  readonly clashing: readonly (keyof V)[];
  readonly put: (change: Partial<V>) => void;
  readonly keepYours: () => void;
  readonly keepTheirs: () => void;
  /** The API has taken the draft. The present content becomes the draft, with additions of the API, such as ids. */
  readonly taken: () => void;
}

/** The draft of a form. `now` is the present content, as far as the page knows it. */
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

/** The headers of a change of a definition with this version. */
export function seen({ version }: { readonly version: number }): Seen {
  return { 'If-Match': `"${version}"` };
}
