/** The open panels and windows around the grid. They are not part of the view, so no link restores them. */
import { signal, type ReadonlySignal } from '@preact/signals';
import { Unwritten } from '../edits/unwritten';
import { CommentDrafts } from './comment-drafts';

/** The issues of a bulk change: all that match the filter, the ones in the selected rows, or the ones that are checked. */
export type Scope = 'all' | 'rows' | 'checked';
/** A bulk change: one value for all issues, a text in the place of another, or the values of another field. */
export type BulkKind = 'set' | 'replace' | 'copy';
/** A part of the panel of an issue that it is opened for. */
export type IssuePart = 'history' | 'comments';
export type Drawer =
  | { readonly kind: 'issue'; readonly num: number; readonly part?: IssuePart }
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

/** The part of the settings that they are opened for. */
export type SettingsPlace =
  | { readonly kind: 'field'; readonly field: string; readonly act: 'edit' | 'delete' }
  /** A new field: beside a column, and with the definition of another field. */
  | { readonly kind: 'new'; readonly beside: Beside | null; readonly like: string | null };

export interface Beside {
  readonly field: string;
  readonly side: 'before' | 'after';
}

/** Distinguishes panels. Another bulk change is another form. */
export function keyOf(drawer: Drawer): string {
  switch (drawer.kind) {
    case 'bulk':
      return `bulk ${drawer.scope} ${drawer.edit} ${drawer.field} ${drawer.find ?? ''}`;
    case 'issue':
      return `issue ${drawer.num}`;
    case 'explain':
    case 'refused':
      return drawer.kind;
  }
}

export class Panels {
  private readonly shown = signal<Drawer | null>(null);
  readonly drawer: ReadonlySignal<Drawer | null> = this.shown;
  readonly window = signal<Window | null>(null);
  /** The window that any key or button of the page opens, over whatever is shown. */
  readonly asked = signal<'help' | 'palette' | null>(null);
  /** For which part the settings are open; null for none in particular. */
  readonly settings = signal<SettingsPlace | null>(null);
  /** The field for which the user enters a condition. */
  readonly filtering = signal<string | null>(null);
  /** A dropped file, to be imported. */
  readonly dropped = signal<File | null>(null);

  constructor(
    readonly comments = new CommentDrafts(),
    /** Lists what the API refuses after the project was closed. */
    readonly unwritten = new Unwritten(),
    /** Whether the open panel may be discarded: asks the user if something in it is not saved. */
    private readonly mayDiscard: () => boolean = () => true,
  ) {}

  /** Show a panel in place of the open one. Returns false if the user keeps the open one. */
  open(drawer: Drawer): boolean {
    const open = this.shown.peek();
    // The same form stays as the user has filled it in.
    if (open && keyOf(open) !== keyOf(drawer) && !this.mayDiscard()) return false;
    this.shown.value = drawer;
    return true;
  }

  /** Close the panel. Its own buttons and keys have asked before. */
  close(): void {
    this.shown.value = null;
  }

  /** Open the settings for a part of them. */
  openSettings(place: SettingsPlace): void {
    this.settings.value = place;
    this.window.value = 'settings';
  }
}
