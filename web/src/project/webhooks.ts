/**
 * The webhooks of a project: where its changes are sent, the outcome of each message, and secrets, which are shown
 * once.
 */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { SavedView, Webhook, WebhookCreate, WebhookDelivery, WebhookPatch } from '../api/types';
import { relativesIn } from '../view/relative';
import { Changing } from './changing';
import { Fresh } from './fresh';
import { Paged } from './paged';

export type WebhookEvent = Webhook['events'][number];

/** The events that a webhook of all issues may receive, and one of a view. */
const OF_ALL: readonly WebhookEvent[] = ['create', 'update', 'delete', 'restore'];
const OF_VIEW: readonly WebhookEvent[] = ['enter', 'leave', 'update'];

export function eventsOf(view: string | null): readonly WebhookEvent[] {
  return view === null ? OF_ALL : OF_VIEW;
}

export interface WebhookDraft {
  readonly url: string;
  /** The saved view whose rows are followed, in its state when it is chosen; null: all issues. */
  readonly view: string | null;
  /** The only fields whose values are sent; null: all. */
  readonly columns: readonly string[] | null;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
}

/** The parts of a webhook that a draft changes. To name a view is to choose it again, so the same one is left out. */
export function changesOf(webhook: Webhook, { url, view, columns, events }: WebhookDraft): WebhookPatch {
  const chosen = view !== webhook.view;
  return {
    ...(url !== webhook.url && { url }),
    ...(chosen && { view }),
    ...((chosen || !isSame(columns, webhook.columns)) && { columns: columns && [...columns] }),
    ...((chosen || !isSame(events, webhook.events)) && { events: [...events] }),
  };
}

/** Whether a view has changed since an administrator chose it: messages follow its state at that time. */
export function isOutdated({ frozen }: Webhook, view: SavedView | undefined): boolean {
  return frozen !== null && view !== undefined && !isSame(frozen.query, view.query);
}

/** The operand for which a webhook cannot follow a view: it has no user, and no end of a moment. Null if it can. */
export function obstacleIn(filter: SavedView['query']['filter'] | undefined): 'me' | 'now' | null {
  const found = relativesIn(filter ?? null);
  if (found.some((one) => 'me' in one)) return 'me';
  return found.some((one) => 'now' in one) ? 'now' : null;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A new secret. */
export interface IssuedSecret {
  readonly webhook: string;
  readonly url: string;
  readonly secret: string;
}

/** The version on which a draft is based, and what to do once the API has taken it. */
interface SentDraft {
  readonly seen: Readonly<Record<'If-Match', string>>;
  readonly taken: () => void;
}

export class Webhooks {
  /** In the order of their creation; null before they are read. */
  readonly list = signal<readonly Webhook[] | null>(null);
  readonly error = signal<unknown>(null);
  private readonly changing = new Changing(() => this.load());
  readonly refusal = this.changing.refusal;
  readonly busy = this.changing.busy;
  readonly secret = signal<IssuedSecret | null>(null);
  private readonly closed = new AbortController();
  private readonly fresh = new Fresh();

  constructor(
    private readonly api: Api,
    private readonly project: string,
  ) {}

  async load(): Promise<void> {
    try {
      const options = { path: { project: this.project }, signal: this.closed.signal };
      const { body } = await this.fresh.read(() => this.api.call('GET', '/v1/projects/{project}/webhooks', options));
      this.list.value = body.items;
      this.error.value = null;
    } catch (error) {
      if (!isAbort(error)) this.error.value = error;
    }
  }

  /** Create one. `key`, and with it the secret, is the same for a repeated attempt. Returns whether the API accepted it. */
  async create({ url, view, columns, events, enabled }: WebhookDraft, key: string): Promise<boolean> {
    const body: WebhookCreate = { url, view, columns: columns && [...columns], events: [...events], enabled };
    return this.changed(async () => {
      const { body: made } = await this.api.call('POST', '/v1/projects/{project}/webhooks', {
        path: { project: this.project },
        body,
        headers: { 'Idempotency-Key': key },
      });
      this.showSecret(made);
    });
  }

  /** Change one. `draft`: the form that has the change. */
  async change(webhook: Webhook, body: WebhookPatch, draft?: SentDraft): Promise<boolean> {
    const headers = draft?.seen ?? seen(webhook);
    return this.changed(async () => {
      await this.api.call('PATCH', '/v1/projects/{project}/webhooks/{webhook}', { path: this.pathOf(webhook), body, headers });
      draft?.taken();
    });
  }

  /** Replace its secret. For a day, the previous one also signs. */
  async rotate(webhook: Webhook): Promise<boolean> {
    return this.changed(async () => {
      const { body } = await this.api.call('POST', '/v1/projects/{project}/webhooks/{webhook}/rotate', {
        path: this.pathOf(webhook),
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      });
      this.showSecret(body);
    });
  }

  async remove(webhook: Webhook): Promise<boolean> {
    return this.changed(async () => {
      await this.api.call('DELETE', '/v1/projects/{project}/webhooks/{webhook}', { path: this.pathOf(webhook), headers: seen(webhook) });
      if (this.secret.peek()?.webhook === webhook.id) this.secret.value = null;
    });
  }

  /** Send a message again. */
  async replay(webhook: Webhook, { id }: WebhookDelivery): Promise<boolean> {
    return this.changed(() =>
      this.api.call('POST', '/v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}/replay', {
        path: { ...this.pathOf(webhook), delivery: id },
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      }),
    );
  }

  /** The messages of the last 7 days, the last change first. */
  deliveriesOf(webhook: string): Paged<WebhookDelivery> {
    return new Paged(async (cursor, signal) => {
      const { body } = await this.api.call('GET', '/v1/projects/{project}/webhooks/{webhook}/deliveries', {
        path: { project: this.project, webhook },
        query: cursor === null ? {} : { cursor },
        signal,
      });
      return body;
    });
  }

  close(): void {
    this.closed.abort();
  }

  private pathOf({ id }: Webhook) {
    return { project: this.project, webhook: id };
  }

  private showSecret({ id, url, secret }: { readonly id: string; readonly url: string; readonly secret: string }): void {
    this.secret.value = { webhook: id, url, secret };
  }

  /** Make a change, and read all of them again. */
  private changed(change: () => Promise<unknown>): Promise<boolean> {
    return this.changing.make(async () => {
      await this.fresh.change(change);
      await this.load();
    });
  }
}

function seen({ version }: Webhook) {
  return { 'If-Match': `"${version}"` };
}
