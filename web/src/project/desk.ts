/** What lies open around the grid. It is no part of the view, so no link restores it. */
import { signal } from '@preact/signals';

export type Drawer = { readonly kind: 'issue'; readonly num: number } | { readonly kind: 'explain' };
export type Window = 'settings' | 'import' | 'export' | 'trash';

export class Desk {
  readonly drawer = signal<Drawer | null>(null);
  readonly window = signal<Window | null>(null);
  /** The field for which a condition is to be entered. */
  readonly filtering = signal<string | null>(null);
  /** A file that was dropped, to be imported. */
  readonly dropped = signal<File | null>(null);
}
