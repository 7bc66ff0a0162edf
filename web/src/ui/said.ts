/** What is said of what somebody has just done, in an element that has the focus then: the button that had it has gone. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Said {
  readonly said: string;
  readonly say: (text: string) => void;
  /** Of the element in which it is said. */
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
