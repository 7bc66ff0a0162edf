/** The saved views of a project: the list, the open one, and their changes. */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { Api } from '../api/client';
import type { Project, SavedView, ViewPatch } from '../api/types';
import { permits, type Person, type Role } from '../auth/session';
import { fieldsOf, type Field } from '../fields/fields';
import { addressOfProject, go, present, route, search } from '../router';
import { addressOf, linkTo, lookOf, openedAt, placeBefore, withoutView, withView, type Opened } from '../view/saved';
import { fitting, type View } from '../view/view';
import { words } from '../words';
import { Changing } from './changing';
import { Fresh } from './fresh';

const PAGE = 500;

export type Visibility = SavedView['visibility'];

export const VISIBILITIES: readonly Visibility[] = ['private', 'shared', 'default'];

const NEEDED: Readonly<Record<Visibility, Role>> = { private: 'viewer', shared: 'editor', default: 'admin' };

/** A question to the user about a view. */
export type Asked = { readonly kind: 'save' | 'board' } | { readonly kind: 'rename' | 'delete'; readonly view: SavedView };

/** Why the views of a project could not be read. The project can be used without them. */
export class Unread {
  constructor(readonly why: unknown) {}
}

export class SavedViews {
  /** In the order in which they are shown. */
  readonly list = signal<readonly SavedView[]>([]);
  /** Why they could not be read. */
  readonly error = signal<unknown>(null);
  private readonly changing = new Changing(() => this.load());
  readonly refusal = this.changing.refusal;
  readonly busy = this.changing.busy;
  readonly asked = signal<Asked | null>(null);
  readonly fields: readonly Field[];
  private readonly fresh = new Fresh();
  readonly opened: ReadonlySignal<Opened>;
  /** The view that the address names, as far as the project has its fields. */
  readonly view: ReadonlySignal<View>;

  constructor(
    private readonly api: Api,
    readonly project: Project,
    readonly user: Person,
    listed: readonly SavedView[] | Unread,
  ) {
    if (listed instanceof Unread) this.error.value = listed.why;
    else this.list.value = listed;
    this.fields = fieldsOf(project, words.fields);
    this.opened = computed(() => openedAt(search.value, this.list.value));
    this.view = computed(() => fitting(this.opened.value.view, this.fields));
  }

  /** Read them again. */
  async load(): Promise<void> {
    try {
      this.list.value = await this.fresh.read(() => readViews(this.api, this.project.id));
      this.error.value = null;
    } catch (error) {
      this.error.value = error;
    }
  }

  mayWrite(...visibilities: readonly Visibility[]): boolean {
    return visibilities.every((one) => permits(this.user.role, NEEDED[one]));
  }

  /** The address of a view that is based on the open one. */
  addressOf(view: View): string {
    return this.whole(addressOf(view, this.opened.peek().base, this.list.peek()));
  }

  /** The link to a saved view; null: to all issues. */
  linkTo(view: SavedView | null): string {
    return this.whole(linkTo(view, this.list.value));
  }

  /**
   * Save the present look, with a change of it, as a new view, and open that, unless the user has gone elsewhere meanwhile.
   * `key` is the same for a repeated attempt.
   */
  async create(name: string, visibility: Visibility, key: string, change: Partial<View> = {}): Promise<boolean> {
    const before = present();
    return this.changing.make(async () => {
      const { body } = await this.fresh.change(() =>
        this.api.call('POST', '/v1/projects/{project}/views', {
          path: this.path,
          // Another view has no manual order before it exists.
          body: { name, visibility, ...this.look({ manual: null, ...change }) },
          headers: { 'Idempotency-Key': key },
        }),
      );
      await this.taken(body);
      this.showSaved(body, before);
    });
  }

  /** Save the present look in place of the view on which it is based. */
  async overwrite(): Promise<boolean> {
    const { base } = this.opened.peek();
    if (!base) return false;
    const before = present();
    const saved = await this.patch(base, this.look());
    const after = this.list.peek().find(({ id }) => id === base.id);
    if (saved && after) this.showSaved(after, before, { replace: true });
    return saved;
  }

  /** Begin the manual order of a view, unless it has one. Its other parts, and changes that are not saved, stay. */
  async beginManual(view: SavedView): Promise<boolean> {
    if (view.manual_order !== null) return true;
    return this.patch(view, { query: { sort: [{ manual: view.id }], filter: view.query.filter } });
  }

  /** Show the open view as it was saved. */
  discard(): void {
    go(this.linkTo(this.opened.peek().base));
  }

  async patch(view: SavedView, body: ViewPatch): Promise<boolean> {
    return this.changing.make(async () => {
      const { body: after } = await this.fresh.change(() =>
        this.api.call('PATCH', '/v1/projects/{project}/views/{view}', {
          path: { ...this.path, view: view.id },
          body,
          headers: { 'If-Match': `"${view.version}"` },
        }),
      );
      await this.taken(after);
    });
  }

  /**
   * Move a view before another of its kind, or behind all of them (null). The list shows that at once. The moves are
   * sent one after the other, since each has its place in the order that the one before leaves.
   */
  async move(view: SavedView, before: string | null): Promise<boolean> {
    const place = placeBefore(this.list.peek(), view, before);
    const present = this.list.peek().find(({ id }) => id === view.id);
    if (!present || present.place === place) return true;
    this.list.value = withView(this.list.peek(), { ...present, place });
    const isSent = await this.changing.make(async () => {
      await this.fresh.changeInTurn(() => this.api.call('PATCH', '/v1/projects/{project}/views/{view}', { path: { ...this.path, view: view.id }, body: { place } }));
    });
    if (!isSent) await this.load();
    return isSent;
  }

  /** Delete a view. If it is open, its look stays. */
  async remove(view: SavedView): Promise<boolean> {
    return this.changing.make(async () => {
      await this.fresh.change(() =>
        this.api.call('DELETE', '/v1/projects/{project}/views/{view}', {
          path: { ...this.path, view: view.id },
          headers: { 'If-Match': `"${view.version}"` },
        }),
      );
      // The address by now: the user may have changed it meanwhile, and may even be in another project.
      const isOpen = this.isShown && this.opened.peek().base?.id === view.id;
      const shown = this.view.peek();
      this.list.value = withoutView(this.list.peek(), view.id);
      if (isOpen) go(this.whole(addressOf(shown, null, this.list.peek())), { replace: true });
    });
  }

  /** Whether the address is in this project. */
  private get isShown(): boolean {
    const at = route.peek();
    return at.screen === 'project' && at.project === this.project.id;
  }

  /** Show a view that was saved from the address `before`. What the user has opened or changed meanwhile stays. */
  private showSaved(view: SavedView, before: string, how: { readonly replace?: boolean } = {}): void {
    if (present() === before) go(this.whole(linkTo(view, this.list.peek(), this.view.peek().closed)), how);
  }

  private get path() {
    return { project: this.project.id };
  }

  private look(change: Partial<View> = {}) {
    return lookOf({ ...this.view.peek(), ...change }, this.project.issues ?? 0, this.fields);
  }

  private whole(query: string): string {
    return addressOfProject(this.project.id) + (query && `?${query}`);
  }

  /** Show a view in its present state of the API. A new default leaves the former one shared, so all are read then. */
  private async taken(view: SavedView): Promise<void> {
    this.list.value = withView(this.list.peek(), view);
    if (view.visibility === 'default') await this.load();
  }
}

/** All views of a project that the user sees. */
export async function readViews(api: Api, project: string, signal?: AbortSignal): Promise<readonly SavedView[]> {
  const all: SavedView[] = [];
  let cursor: string | null = null;
  do {
    const { body }: { body: { items: SavedView[]; next: string | null } } = await api.call('GET', '/v1/projects/{project}/views', {
      path: { project },
      query: { limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      ...(signal && { signal }),
    });
    all.push(...body.items);
    cursor = body.next;
  } while (cursor !== null);
  return all;
}
