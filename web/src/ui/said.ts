/** Reports the outcome of the user's action in an element that then has the focus, since the pressed button is gone. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Said {
  readonly said: string;
  readonly say: (text: string) => void;
  /** The element that reports it. */
  readonly status: RefObject<HTMLParagraphElement | null>;
}

export function useSaid(): Said {
  const [said, say] = useState('');
  const status = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (said) status.current?.focus();
  }, [said]);
  return { said, say, status };
}
