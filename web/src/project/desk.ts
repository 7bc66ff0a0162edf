/** What lies open around the grid. It is no part of the view, so no link restores it. */
import { signal } from '@preact/signals';
import type { Mentionable } from './mentions';

/** Which issues a bulk change is about: all that the filter leaves, or those in the selected rows. */
export type Scope = 'all' | 'rows';
export type Drawer =
  | { readonly kind: 'issue'; readonly num: number }
  | { readonly kind: 'explain' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'bulk'; readonly scope: Scope; readonly field: string | null };
export type Window = 'settings' | 'import' | 'export' | 'trash' | 'jobs' | 'webhooks';

/** The text of a comment that is not saved, and who may be mentioned in it. */
export interface CommentDraft {
  readonly text: string;
  readonly chosen: readonly Mentionable[];
}

export class Desk {
  readonly drawer = signal<Drawer | null>(null);
  readonly window = signal<Window | null>(null);
  /** The field for which a condition is to be entered. */
  readonly filtering = signal<string | null>(null);
  /** A file that was dropped, to be imported. */
  readonly dropped = signal<File | null>(null);
  /** Comments that are not saved, each by its place. They stay while other issues are shown. */
  readonly comments = new Map<string, CommentDraft>();
}
