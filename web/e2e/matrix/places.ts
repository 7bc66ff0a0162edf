/** Projects with much of everything, in which the states of the page are opened. States change only notes. */
import { expect } from 'vitest';
import type { Api } from '../../src/api/client';
import type { Filter } from '../../src/api/types';
import { countOf, makeProject, PARTS, type NewField, type NewIssue } from '../projects';
import { ADMIN, type Stack } from '../stack';

/** The ids of the projects. */
export interface Places {
  /** Fields of each type and format, views, comments, an issue in the trash, a deleted field, an index, webhooks. */
  readonly full: string;
  /** Three issues, and jobs that have changed, previewed, refused and exported them. */
  readonly few: string;
  /** Without issues. */
  readonly empty: string;
}

export const EDITOR = { ...ADMIN, user: 'edi', role: 'editor' } as const;
export const VIEWER = { ...ADMIN, user: 'vic', role: 'viewer' } as const;

/** A name that no resolver knows, so that nothing leaves this machine. */
export const RECEIVER = 'https://receiver.invalid/gridview';

const LONG = 'has a name that is far too long for the cells of its column';
const FIELDS: readonly NewField[] = [
  ...PARTS,
  { id: 'price', name: 'Price', type: 'number', format: { as: 'currency', currency: 'USD', decimals: 2 }, description: 'Without taxes' },
  { id: 'done', name: 'Done', type: 'number', format: { as: 'progress' } },
  { id: 'stars', name: 'Stars', type: 'number', format: { as: 'rating', max: 5 } },
  { id: 'spent', name: 'Spent', type: 'number', format: { as: 'duration' } },
  { id: 'tags', name: 'Tags', type: 'multi_enum', options: ['paint', 'steel', 'wood', `A tag that ${LONG}`] },
  { id: 'owner', name: 'Owner', type: 'user' },
  { id: 'seen', name: 'Seen', type: 'datetime' },
  { id: 'site', name: 'Site', type: 'text', format: { as: 'url' } },
  { id: 'remarks', name: 'Remarks', type: 'text', format: { as: 'markdown' } },
  { id: 'shape', name: 'Shape', type: 'enum', options: Array.from({ length: 30 }, (_, at) => `${at} ${LONG}`) },
  { id: 'plain', name: 'Plain', type: 'text', indexed: false },
  { id: 'long', name: 'A field whose name is longer than its column, and its head', type: 'number' },
];
/** Computed fields, some without a value. */
const FORMULAS: readonly NewField[] = [
  { id: 'ratio', name: 'Ratio', type: 'number', formula: 'ROUND({price} / ({long} - 3), 2)' },
  { id: 'label', name: 'Label', type: 'text', formula: 'UPPER({note}) & " " & {num}' },
];
const REMARKS = 'The **upper** chord:\n\n- rust at `bay 7`\n- a [drawing](https://example.org/7)\n\n| bay | rust |\n|---|---|\n| 7 | yes |';
const ISSUES = 60;

const HEAVY: Filter = { field: 'weight', op: 'gte', value: 30 };
const HEAVIER: Filter = { field: 'weight', op: 'gte', value: 40 };

export async function makePlaces(stack: Stack): Promise<Places> {
  const api = await stack.api(ADMIN);
  // Users are known once they have signed in.
  for (const user of [EDITOR, VIEWER]) await (await stack.api(user)).call('GET', '/v1/me', {});
  return { full: await makeFull(api), few: await makeFew(api), empty: await makeProject(api, { name: 'Nothing yet' }) };
}

async function makeFull(api: Api): Promise<string> {
  const project = await makeProject(api, {
    name: 'Forth Rail Bridge, all spans',
    states: ['open', 'in review', 'closed'],
    fields: [...FIELDS, ...FORMULAS],
    issues: Array.from({ length: ISSUES }, (_, at) => ({
      name: at % 7 ? `Part ${at}` : `Part ${at} ${LONG}, with more words than fit in any window`,
      state: ['open', 'in review', 'closed'][at % 3] ?? 'open',
      fields: {
        weight: at * 20 - 500,
        due: `2024-0${1 + (at % 9)}-15`,
        kind: ['beam', 'bolt', 'plate'][at % 3] ?? null,
        note: `note ${at}`,
        safe: at % 2 === 0,
        price: 1234.5 * at,
        done: (at % 5) / 4,
        stars: at % 6,
        spent: at * 750,
        tags: at % 4 ? ['paint', 'steel'] : ['paint', 'steel', 'wood', `A tag that ${LONG}`],
        owner: at % 2 ? 'ada' : 'edi',
        seen: '2024-05-01T13:30:15Z',
        site: 'https://example.org/beam',
        remarks: REMARKS,
        shape: `${at % 30} ${LONG}`,
        plain: `plain ${at}`,
        long: at,
      },
    })),
  });
  const path = { project };
  const views = Array.from({ length: 12 }, (_, at) => ({ name: at === 3 ? `View ${LONG}` : `View ${at}`, visibility: at % 2 ? 'private' : 'shared' }) as const);
  for (const view of views) await api.call('POST', '/v1/projects/{project}/views', { path, body: view });
  await api.call('PATCH', '/v1/projects/{project}/views/{view}', { path: { ...path, view: 'v1' }, body: { query: { sort: [{ manual: 'v1' }], filter: null } } });
  await api.call('POST', '/v1/projects/{project}/attributes', { path, body: { id: 'gone', name: 'Gone', type: 'number' } });
  await api.call('POST', '/v1/projects/{project}/views', { path, body: { name: 'Broken', visibility: 'shared', query: { filter: { field: 'gone', op: 'gt', value: 1 } }, color_by: 'kind' } });
  await api.call('DELETE', '/v1/projects/{project}/attributes/{attribute}', { path: { ...path, attribute: 'gone' } });
  for (const text of ['Is this rust?', 'Yes, @edi has seen it.']) {
    await api.call('POST', '/v1/projects/{project}/issues/{num}/comments', { path: { ...path, num: 2 }, body: { text, mentions: text.includes('@') ? ['edi'] : [] } });
  }
  await changed(api, project, 2, { weight: 7, note: 'painted' });
  await discard(api, project, ISSUES);
  await api.call('POST', '/v1/projects/{project}/indexes', { path, body: { sort: [{ field: 'state', direction: 'asc' }, { field: 'due', direction: 'desc' }] } });
  const { body: view } = await api.call('POST', '/v1/projects/{project}/views', {
    path,
    body: { name: 'Heavy parts', visibility: 'shared', query: { filter: HEAVY }, columns: ['name', 'weight'].map((field) => ({ field, width: 120, frozen: false })) },
  });
  const { body: sender } = await api.call('POST', '/v1/projects/{project}/webhooks', { path, body: { url: RECEIVER, events: ['create', 'update'], enabled: true } });
  await api.call('POST', '/v1/projects/{project}/webhooks', { path, body: { url: `${RECEIVER}/of/a/view/with/a/long/path`, view: view.id, events: ['enter', 'leave'], enabled: false } });
  await api.call('PATCH', '/v1/projects/{project}/views/{view}', { path: { ...path, view: view.id }, body: { query: { filter: HEAVIER } } });
  await changed(api, project, 1, { note: 'sent to the webhook' });
  const messages = async () => (await api.call('GET', '/v1/projects/{project}/webhooks/{webhook}/deliveries', { path: { ...path, webhook: sender.id } })).body.items.length;
  await expect.poll(messages).toBeGreaterThan(0);
  return project;
}

async function makeFew(api: Api): Promise<string> {
  const project = await makeProject(api, { name: 'Few', fields: PARTS, issues: ['Girder', 'Rivet', 'Plate'].map((name) => ({ name, fields: { note: 'colour' } })) });
  const path = { project };
  await api.call('POST', '/v1/projects/{project}/attributes', { path, body: { id: 'must', name: 'Must', type: 'date', required: true } });
  await changed(api, project, 1, { must: '2024-05-31' });
  const filter: Filter = { field: 'num', op: 'gte', value: 1 };
  const jobs = [
    (await api.call('POST', '/v1/projects/{project}/issues/update-matching', { path, body: { filter, set: { fields: { weight: 5 } } } })).body.id,
    (await api.call('POST', '/v1/projects/{project}/issues/update-matching', { path, body: { filter, set: { fields: { weight: 6 } }, dry_run: true } })).body.id,
    (await api.call('POST', '/v1/projects/{project}/export', { path, body: { query: { sort: [], columns: ['name', 'num'] }, format: 'csv', formula_guard: true } })).body.id,
  ];
  const open = async () => {
    const states = await Promise.all(jobs.map(async (job) => (await api.call('GET', '/v1/projects/{project}/jobs/{job}', { path: { ...path, job } })).body.state));
    return states.filter((state) => state === 'waiting' || state === 'running').length;
  };
  await expect.poll(open).toBe(0);
  return project;
}

/** Set fields of an issue, as of its last version. */
export async function changed(api: Api, project: string, num: number, fields: NonNullable<NewIssue['fields']>): Promise<void> {
  await api.call('PATCH', '/v1/projects/{project}/issues/{num}', { path: { project, num }, body: { fields } });
}

async function discard(api: Api, project: string, num: number): Promise<void> {
  const path = { project, num };
  const { headers } = await api.call('GET', '/v1/projects/{project}/issues/{num}', { path });
  await api.call('DELETE', '/v1/projects/{project}/issues/{num}', { path, headers: { 'If-Match': headers.get('ETag') ?? '' } });
  await expect.poll(() => countOf(api, project)).toBe(num - 1);
}
