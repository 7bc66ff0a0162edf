/** Projects that each belong to one test. */
import { expect } from 'vitest';
import type { Api, CallOptions } from '../src/api/client';
import type { GridRequest } from '../src/api/types';

export type NewField = CallOptions<'POST', '/v1/projects/{project}/attributes'>['body'];
export type NewIssue = CallOptions<'POST', '/v1/projects/{project}/issues'>['body'];

/** Fields of several types. */
export const PARTS: readonly NewField[] = [
  { id: 'weight', name: 'Weight', type: 'number' },
  { id: 'due', name: 'Due', type: 'date' },
  { id: 'kind', name: 'Kind', type: 'enum', options: ['beam', 'bolt', 'plate'] },
  { id: 'note', name: 'Note', type: 'text' },
  { id: 'safe', name: 'Safe', type: 'bool' },
];

/** Issues of one request. */
const BATCH = 500;

interface Plan {
  readonly name: string;
  readonly states?: readonly string[];
  readonly fields?: readonly NewField[];
  readonly issues?: readonly NewIssue[];
}

/** Create a project, and wait until the index holds its issues. Returns its id. */
export async function makeProject(api: Api, { name, states = ['open', 'closed'], fields = [], issues = [] }: Plan): Promise<string> {
  const { body } = await api.call('POST', '/v1/projects', { body: { name, states: [...states] } });
  const path = { project: body.id };
  for (const field of fields) await api.call('POST', '/v1/projects/{project}/attributes', { path, body: field });
  for (let start = 0; start < issues.length; start += BATCH) {
    const operations = issues.slice(start, start + BATCH).map((create) => ({ create }));
    const answer = await api.call('POST', '/v1/projects/{project}/issues/batch', { path, body: { operations, return: 'minimal' } });
    expect(answer.body.results.filter(({ status }) => status >= 300)).toEqual([]);
  }
  await expect.poll(() => countOf(api, body.id)).toBe(issues.length);
  return body.id;
}

/** How many issues match a filter. */
export async function countOf(api: Api, project: string, filter: GridRequest['filter'] = null): Promise<number> {
  const query: GridRequest = { filter, limit: 1, columns: ['num'], count: true };
  const { body } = await api.call('POST', '/v1/projects/{project}/grid', { path: { project }, body: query });
  return body.matched ?? 0;
}

/** The values of the fields of an issue. */
export async function valuesOf(api: Api, project: string, num: number): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await api.call('GET', '/v1/projects/{project}/issues/{num}', { path: { project, num } });
  return { name: body.name, state: body.state, ...body.fields };
}
