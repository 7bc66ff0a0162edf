/** The open panels and windows around the grid. They are not part of the view, so no link restores them. */
import { signal } from '@preact/signals';
import type { Mentionable } from './mentions';

/** The issues of a bulk change: all that match the filter, or the ones in the selected rows. */
export type Scope = 'all' | 'rows';
/** A bulk change: one value for all issues, a text in the place of another, or the values of another field. */
export type BulkKind = 'set' | 'replace' | 'copy';
export type Drawer =
  | { readonly kind: 'issue'; readonly num: number }
  | { readonly kind: 'explain' }
  | { readonly kind: 'refused' }
  | {
      readonly kind: 'bulk';
      readonly scope: Scope;
      readonly edit: BulkKind;
      /** The field that is chosen first. */
      readonly field: string | null;
      /** The text to replace that is entered first. */
      readonly find?: string;
    };
export type Window = 'settings' | 'import' | 'export' | 'trash' | 'jobs' | 'webhooks';

/** The text of an unsaved comment, and the users that it may mention. */
export interface CommentDraft {
  readonly text: string;
  readonly chosen: readonly Mentionable[];
}

export class Panels {
  readonly drawer = signal<Drawer | null>(null);
  readonly window = signal<Window | null>(null);
  /** The window that any key or button of the page opens, over whatever is shown. */
  readonly asked = signal<'help' | 'palette' | null>(null);
  /** The field for which the user enters a condition. */
  readonly filtering = signal<string | null>(null);
  /** A dropped file, to be imported. */
  readonly dropped = signal<File | null>(null);
  /** Unsaved comments, each by its place. They stay while other issues are shown. */
  readonly comments = new Map<string, CommentDraft>();
}
