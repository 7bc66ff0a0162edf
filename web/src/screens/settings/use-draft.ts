/** The draft of a form. It follows changes of others, and asks if they changed the same part. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { begun, clashes, isChanged, onTop, since } from '../../project/draft';

type Seen = Readonly<Record<'If-Match', string>>;

export interface Drafted<V> {
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
  /**
   * The API has taken this draft. The present content becomes the draft, with additions of the API, such as ids, and
   * with what the user has entered meanwhile.
   */
  readonly taken: () => void;
}

/** The draft of a form. `now` is the present content, as far as the page knows it. */
export function useDraft<V extends object>(version: number, now: V): Drafted<V> {
  const [draft, setDraft] = useState(() => begun(version, now));
  const sent = useRef<V | null>(null);
  const clashing = draft.version === version || sent.current ? [] : clashes(draft, now);
  const keepYours = () => setDraft(onTop(draft, version, now));
  const keepTheirs = () => setDraft(begun(version, now));
  useEffect(() => {
    if (draft.version === version || clashing.length) return;
    if (sent.current) setDraft(onTop(since(draft, sent.current), version, now));
    else keepYours();
    sent.current = null;
  });
  return {
    value: draft.value,
    isChanged: isChanged(draft),
    seen: seen(draft),
    clashing,
    put: (change) => setDraft((before) => ({ ...before, value: { ...before.value, ...change } })),
    keepYours,
    keepTheirs,
    taken: () => {
      sent.current = draft.value;
    },
  };
}

/** The headers of a change of a definition with this version. */
export function seen({ version }: { readonly version: number }): Seen {
  return { 'If-Match': `"${version}"` };
}
