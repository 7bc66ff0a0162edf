/** Issues as the API keeps them, behind a client, and the rows of a page. */
import { vi } from 'vitest';
import { Api } from '../src/api/client';
import type { CellEdit } from '../src/edits/change';
import { Editor } from '../src/edits/editor';
import { keyOf } from '../src/edits/marks';
import { WriteQueue } from '../src/edits/write-queue';
import type { CellValue, Row } from '../src/fields/values';
import { Recent } from '../src/live/events';
import { Incoming } from '../src/live/incoming';
import { field } from './fields';

export const FIELDS = [{ ...field('name'), custom: false }, field('cost', 'number'), field('city')];

export const edit = (num: number, id: string, before: string | null, after: string | null): CellEdit => ({ num, field: id, before, after });

interface Stored {
  readonly version: number;
  readonly values: Record<string, unknown>;
  readonly by: string;
  readonly changed?: Record<string, number>;
}

/** Issues as the API keeps them: the version that last changed each field, and a rule for one field. */
export class Issues {
  readonly held = new Map<number, Row>();
  readonly requests: string[] = [];
  readonly changes = new Set<string | null>();
  /** Whether a refusal contains the present issue; for large issues it does not. */
  hasCurrent = true;
  /** Cities that the API refuses. */
  readonly sunk = new Set<unknown>(['Atlantis']);
  /** Whether changes can be reverted, and how many undos fail until the history has them. */
  remembers = true;
  lagging = 0;
  /** Whether an undo is a job, and how many times it was polled. */
  byJob = false;
  looks = 0;
  /** Deleted issues, each with the change that deleted it, and issues that cannot be restored. */
  readonly trash = new Map<number, { readonly issue: Stored; readonly change: string | null }>();
  readonly purged = new Set<number>();
  /** Cities that the API writes in another form. */
  readonly spelled = new Map<unknown, string>();
  /** Requests without an answer; `lost` ones take effect. */
  away: 'no' | 'lost' | 'yes' = 'no';
  /** Called once: after the next request was carried out, before its answer comes. */
  meanwhile: (() => void) | null = null;
  /** The changes that the feed has delivered. */
  private readonly recent = new Recent();
  /** The cells whose editor is open. */
  readonly open = new Set<string>();
  private incoming: Incoming | null = null;
  /** Issues whose next operation of a batch finds DynamoDB busy; with `late`, it is written nevertheless. */
  readonly busy = new Set<number>();
  late = false;
  /** The operations that were carried out under each key. */
  private readonly finished = new Map<string, unknown>();
  /** The keys of all batches that were sent. */
  readonly sent: (string | null)[] = [];
  /** The keys of batches, and their answers. */
  readonly keys = new Map<string | null, unknown>();
  readonly writeQueue = new WriteQueue();
  private change: string | null = null;
  private last: number;
  readonly stored = new Map<number, Stored>();

  constructor(count: number) {
    this.last = count;
    for (let num = 1; num <= count; num += 1) {
      this.stored.set(num, { version: 1, values: { name: `n${num}` }, by: 'ada' });
      this.held.set(num, { num, version: 1, values: { num, name: `n${num}` } });
    }
  }

  /** An edit of someone else. */
  other(num: number, id: string, value: string): void {
    const issue = this.stored.get(num);
    if (issue) this.set(num, { [id]: value }, 'bob');
  }

  /** An edit of someone else, which the feed delivers at once. */
  deliver(num: number, id: string, value: string): void {
    this.other(num, id, value);
    const { version = 0 } = this.stored.get(num) ?? {};
    const event = { id: `${num}.${version}`, num, version, kind: 'update', by: 'bob', at: '', change: null, fields: { [id]: { old: null, new: value } } } as const;
    this.recent.add(event);
    this.incoming?.take(event);
  }

  /** A read of the grid shows an issue as it is stored. */
  read(num: number, onTop: (row: Row) => Row = (row) => row): void {
    const { version = 0, values = {} } = this.stored.get(num) ?? {};
    const row = { num, version, values: { num, ...(values as Record<string, CellValue>) } };
    this.held.set(num, onTop({ ...row, computedFrom: row }));
  }

  readonly api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, (address, request) =>
    new Promise((resolve, reject) => {
      const { away } = this;
      const answer = away === 'yes' ? null : this.answer(address as string, request ?? {});
      const { meanwhile } = this;
      if (answer) this.meanwhile = null;
      if (answer) meanwhile?.();
      if (answer && away === 'no') resolve(answer);
      else reject(new TypeError('offline'));
    }),
  );

  editor() {
    const written = vi.fn();
    const rows = {
      held: (num: number) => this.held.get(num),
      replace: (num: number, change: (row: Row) => Row) => {
        const row = this.held.get(num);
        if (row) this.held.set(num, change(row));
      },
      caughtUp: (row: Row) => this.recent.caughtUp([row])[0] ?? row,
    };
    const editor = new Editor(this.api, 'p', FIELDS, rows, written, this.writeQueue);
    this.incoming = new Incoming(rows, (num, id) => this.open.has(keyOf(num, id)) || editor.marks.peek().get(keyOf(num, id))?.kind === 'pending');
    const { incoming } = this;
    editor.marks.subscribe(() => incoming.release());
    return { written, editor };
  }

  private answer(address: string, request: RequestInit): Response {
    this.requests.push(`${request.method ?? ''} ${address}`);
    const body = JSON.parse((request.body as string | null) ?? '{}') as Patched & { operations?: Operation[]; filter?: { value: number[] } };
    if (address.endsWith('/undo')) return this.revert(String((body as { change?: string }).change));
    if (address.includes('/jobs/')) return Response.json(address.includes('/refused') ? { items: [], next: null } : { state: this.looks++ ? 'done' : 'running' });
    if (body.operations) {
      this.change = new Headers(request.headers).get('X-Change-Id');
      this.changes.add(this.change);
      const key = new Headers(request.headers).get('Idempotency-Key');
      if (this.keys.has(key)) return Response.json(this.keys.get(key));
      this.sent.push(key);
      const results = body.operations.map((operation, at) => this.once(`${key ?? ''} ${at}`, operation));
      const answer = { results };
      if (!results.some(({ status }) => status === 503)) this.keys.set(key, answer);
      return Response.json(answer);
    }
    // The index does not have issue 2 yet.
    if (body.filter) return Response.json({ rows: body.filter.value.flatMap((one) => (one === 2 || !this.stored.has(one) ? [] : [this.issueOf(one)])) });
    const num = Number(address.split('/').at(-1));
    if (request.method === 'GET') return this.stored.has(num) ? Response.json(this.issueOf(num)) : new Response('{}', { status: 404 });
    const { status, issue, problem } = this.patch(num, body);
    return Response.json(issue ?? problem, { status, headers: { 'Content-Type': 'application/problem+json' } });
  }

  /** Carry out an operation unless an earlier attempt did. */
  private once(place: string, operation: Operation) {
    const isBusy = this.busy.delete(operation.update?.num ?? 0);
    const result = this.finished.get(place) as ReturnType<Issues['operate']> | undefined ?? (isBusy && !this.late ? null : this.operate(operation));
    if (result) this.finished.set(place, result);
    return !result || isBusy ? { status: 503, problem: { type: 'x/overloaded', title: 'Service busy', status: 503, detail: 'Try again.' } } : result;
  }

  private operate({ create, update, delete: gone }: Operation) {
    if (update) {
      const { status, issue, problem } = this.patch(update.num ?? 0, update);
      return { status, ...(issue ? { version: issue.version } : { problem }) };
    }
    if (create) {
      const num = (this.last += 1);
      this.stored.set(num, { version: 1, values: { name: create.name, ...create.fields }, by: 'ada' });
      return { status: 201, num, version: 1 };
    }
    const num = gone?.num ?? 0;
    if (this.stored.get(num)?.version !== gone?.version) return { status: 412, problem: { type: 'x', title: 'no 412', status: 412, detail: 'It has changed.' } };
    this.trash.set(num, { issue: this.stored.get(num) ?? { version: 0, values: {}, by: '' }, change: this.change });
    this.stored.delete(num);
    return { status: 204, num };
  }

  private revert(change: string): Response {
    const refuse = (type: string) => Response.json({ type, title: type, status: 409 }, { status: 409, headers: { 'Retry-After': '0' } });
    if (!this.remembers) return refuse('history-disabled');
    if (this.lagging-- > 0) return refuse('history-not-ready');
    const undone: { num: number; version: number }[] = [];
    const refused: unknown[] = [];
    for (const [num, { issue, change: own }] of this.trash) {
      if (own !== change) continue;
      if (this.purged.has(num)) {
        refused.push({ num, problem: { type: 'not-found', title: 'gone', status: 404, detail: 'It is gone.' } });
        continue;
      }
      this.stored.set(num, { ...issue, version: issue.version + 2 });
      undone.push({ num, version: issue.version + 2 });
    }
    if (this.byJob) return Response.json({ id: 'j1', kind: 'undo', state: 'waiting', change: 'c2' }, { status: 202 });
    return Response.json({ undone, change: undone.length ? 'c2' : null, refused });
  }

  private patch(num: number, { fields, name, base }: Patched) {
    const issue = this.stored.get(num);
    const refuse = (status: number, more = {}) => ({ status, issue: null, problem: { type: 'x', title: `no ${status}`, status, ...more } });
    if (!issue) return refuse(404);
    const wanted: Record<string, unknown> = { ...(name && { name }), ...fields };
    const conflicts = Object.keys(wanted)
      .filter((id) => (issue.changed?.[id] ?? 1) > (base ?? Infinity) && wanted[id] !== issue.values[id])
      .map((field) => ({ field, by: issue.by }));
    if (conflicts.length) return refuse(409, { conflicts, ...(this.hasCurrent && { current: this.issueOf(num) }) });
    if (this.sunk.has(fields?.['city'])) return refuse(400, { errors: [{ field: 'fields.city', message: 'sunk' }] });
    this.set(num, { ...wanted, ...(this.spelled.has(wanted['city']) && { city: this.spelled.get(wanted['city']) }) }, 'ada');
    return { status: 200, issue: this.issueOf(num), problem: null };
  }

  private set(num: number, values: Record<string, unknown>, by: string): void {
    const { version, values: before, changed } = this.stored.get(num) ?? { version: 0, values: {}, changed: {} };
    const since = Object.fromEntries(Object.keys(values).map((id) => [id, version + 1]));
    this.stored.set(num, { version: version + 1, values: { ...before, ...values }, by, changed: { ...changed, ...since } });
  }

  private issueOf(num: number) {
    const { version, values, by } = this.stored.get(num) ?? { version: 0, values: {}, by: '' };
    const { name, ...fields } = values;
    return { num, version, name, fields, updated_by: by };
  }
}

interface Operation {
  readonly create?: Patched;
  readonly update?: Patched;
  readonly delete?: Patched;
}

interface Patched {
  readonly num?: number;
  readonly version?: number;
  readonly base?: number;
  readonly name?: string;
  readonly fields?: Record<string, unknown>;
}
