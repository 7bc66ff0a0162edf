/** Reports the outcome of the user's action in an element that then has the focus, since the pressed button is gone. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Outcome {
  readonly outcome: string;
  readonly report: (text: string) => void;
  /** The element that reports it. */
  readonly status: RefObject<HTMLParagraphElement | null>;
}

export function useOutcome(): Outcome {
  const [outcome, report] = useState('');
  const status = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (outcome) status.current?.focus();
  }, [outcome]);
  return { outcome, report, status };
}
