/** A screen with one message: something loads, failed, or does not exist. */
import type { ComponentChildren } from 'preact';

interface NoticeProps {
  readonly title: string;
  readonly detail?: string;
  readonly busy?: boolean;
  readonly children?: ComponentChildren;
}

export function Notice({ title, detail, busy = false, children }: NoticeProps) {
  return (
    <main class="notice" aria-busy={busy}>
      <h1>{title}</h1>
      {detail && <p>{detail}</p>}
      {children}
    </main>
  );
}
