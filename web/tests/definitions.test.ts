import { expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import type { Project } from '../src/api/types';
import { Definitions } from '../src/project/definitions';

/** The settings of a project whose name a change raises. Each read of the project waits until it is let go. */
function opened() {
  let name = 'before';
  const reads: (() => void)[] = [];
  const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, async (address, request) => {
    if (request?.method === 'PATCH') name = 'after';
    else if (!(address as string).endsWith('/indexes')) await new Promise<void>((resolve) => reads.push(resolve));
    return Response.json({ id: 'demo', name, attributes: [], items: [] });
  });
  const definitions = new Definitions(api, { id: 'demo', name: 'given', attributes: [] } as unknown as Project);
  const letGo = async () => {
    await vi.waitFor(() => expect(reads).not.toEqual([]));
    for (const resolve of reads.splice(0)) resolve();
  };
  return { definitions, letGo, rename: () => definitions.change((api, project) => api.call('PATCH', '/v1/projects/{project}', { path: { project }, body: { name: 'after' } })) };
}

it('the settings wait for the first read where they must not use a former state', async () => {
  const { definitions, letGo } = opened();
  const read = definitions.read();
  expect(definitions.project.value.name).toBe('given');
  await letGo();
  expect((await read).name).toBe('before');
});

it('the settings know whether they have read the last change', async () => {
  const { definitions, letGo, rename } = opened();
  await letGo();
  await definitions.read();
  expect(definitions.isLatest).toBe(true);
  const renamed = rename();
  await vi.waitFor(() => expect([definitions.isLatest, definitions.project.value.name]).toEqual([false, 'before']));
  await letGo();
  expect(await renamed).toBe(true);
  expect([definitions.isLatest, definitions.project.value.name]).toEqual([true, 'after']);
});
