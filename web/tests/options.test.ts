import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { Attribute, Project } from '../src/api/types';
import type { Option } from '../src/fields/fields';
import { addOptions } from '../src/project/options';
import { onlyAddsOptions } from '../src/project/redefinition';
import { field } from './fields';

const option = (value: string): Option => ({ id: value, value, color: null });

/** A project with one field of options. */
function project(version: number, ...options: string[]): Project {
  const attribute: Partial<Attribute> = { id: 'kind', name: 'Kind', type: 'enum', version, options: options.map(option) };
  return { id: 'p', name: 'Parts', version, states: [option('open')], attributes: [attribute] } as unknown as Project;
}

/** The API with this project, and the bodies of the changes that it received. `refuse`: its answers before it accepts one. */
function server(now: Project, ...refuse: number[]) {
  const sent: unknown[] = [];
  const fetch: typeof globalThis.fetch = (_, request) => {
    if (request?.method !== 'PATCH') return Promise.resolve(Response.json(now));
    const body = JSON.parse(request.body as string) as { options?: Option[]; states?: Option[] };
    sent.push([new Headers(request.headers).get('If-Match'), (body.options ?? body.states ?? []).map(({ value }) => value)]);
    const status = refuse.shift();
    if (status) return Promise.resolve(Response.json({ title: 'No', detail: 'At most 200.', status }, { status }));
    const [attribute] = now.attributes ?? [];
    if (body.options && attribute) attribute.options = body.options.map(({ value }) => option(value));
    if (body.states) now.states = body.states.map(({ value }) => option(value));
    return Promise.resolve(Response.json({}));
  };
  return { api: new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch), sent };
}

const KIND = field('kind', 'enum');
const kinds = ({ attributes = [] }: Project) => attributes[0]?.options?.map(({ value }) => value);

describe('new options', () => {
  it('are added at the end, under the version that the page knows', async () => {
    const { api, sent } = server(project(3, 'beam'));
    expect(kinds(await addOptions(api, project(3, 'beam'), KIND, ['bolt', 'beam']))).toEqual(['beam', 'bolt']);
    expect(sent).toEqual([['"3"', ['beam', 'bolt']]]);
  });

  it('are added to what others have made of the field meanwhile', async () => {
    const { api, sent } = server(project(4, 'plate', 'beam'), 412);
    expect(kinds(await addOptions(api, project(3, 'beam'), KIND, ['bolt']))).toEqual(['plate', 'beam', 'bolt']);
    expect(sent).toEqual([['"3"', ['beam', 'bolt']], ['"4"', ['plate', 'beam', 'bolt']]]);
  });

  it('are not added twice if someone else was first', async () => {
    const { api, sent } = server(project(4, 'beam', 'bolt'), 412);
    expect(kinds(await addOptions(api, project(3, 'beam'), KIND, ['bolt']))).toEqual(['beam', 'bolt']);
    expect(sent).toHaveLength(1);
  });

  it('may be states', async () => {
    const { api, sent } = server(project(2));
    const now = await addOptions(api, project(2), { ...field('state', 'enum'), custom: false }, ['done']);
    expect(now.states.map(({ value }) => value)).toEqual(['open', 'done']);
    expect(sent).toEqual([['"2"', ['open', 'done']]]);
  });

  it('are refused with the reason of the API, after some conflicts, and for a field that is gone', async () => {
    await expect(addOptions(server(project(1), 400).api, project(1), KIND, ['bolt'])).rejects.toThrow('At most 200.');
    await expect(addOptions(server(project(1), 412, 412, 412, 412).api, project(1), KIND, ['bolt'])).rejects.toMatchObject({ status: 412 });
    const gone = server({ ...project(1), attributes: [] }, 412).api;
    await expect(addOptions(gone, project(1), KIND, ['bolt'])).rejects.toThrow('kind does not exist anymore.');
  });
});

describe('a later state of a project', () => {
  it('only adds options if all others are as before', () => {
    const before = project(1, 'beam', 'bolt');
    expect(onlyAddsOptions(before, project(9, 'beam', 'bolt'))).toBe(true);
    expect(onlyAddsOptions(before, project(2, 'beam', 'bolt', 'plate'))).toBe(true);
    expect(onlyAddsOptions(before, { ...before, states: [option('open'), option('done')] })).toBe(true);
    for (const other of [project(2, 'bolt', 'beam'), project(2, 'beam'), project(2, 'plate', 'beam', 'bolt'), { ...before, name: 'Other' }]) {
      expect(onlyAddsOptions(before, other)).toBe(false);
    }
    expect(onlyAddsOptions(before, { ...before, attributes: [] })).toBe(false);
  });
});
