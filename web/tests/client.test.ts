import { describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import { ApiError, OfflineError } from '../src/api/problem';

function answering(body: string, init: ResponseInit = {}) {
  const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.resolve(new Response(body, init)));
  const sign = (headers: Headers) => {
    headers.set('Authorization', 'Bearer t');
    return Promise.resolve();
  };
  const session = { sign, expired: vi.fn() };
  return { fetch, session, api: new Api(session, fetch) };
}

const PROBLEM = { headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '7' } };

describe('a call', () => {
  it('sends path, query, body and token', async () => {
    const { api, fetch } = answering('{"items":[],"next":null}');
    await api.call('GET', '/v1/projects', { query: { limit: 5 } });
    const [address, request] = fetch.mock.calls[0] ?? [];
    expect(address).toBe('/v1/projects?limit=5');
    expect(new Headers(request?.headers).get('Authorization')).toBe('Bearer t');
  });

  it('escapes values in the path', async () => {
    const { api, fetch } = answering('{}');
    await api.call('GET', '/v1/projects/{project}', { path: { project: 'a/b?' } });
    expect(fetch.mock.calls[0]?.[0]).toBe('/v1/projects/a%2Fb%3F');
  });

  it('goes only to the API, whatever address a remedy names', async () => {
    const { api, fetch } = answering('{}');
    await api.request('POST', '/v1/projects/a/indexes', { body: { sort: [] } });
    expect(fetch.mock.calls[0]?.[1]).toMatchObject({ method: 'POST', body: '{"sort":[]}' });
    await expect(api.request('POST', '//elsewhere.example/v1/', {})).rejects.toThrow('not of the API');
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('throws the refusal of the API, with its kind and pause', async () => {
    const { api } = answering('{"type":"urn:x/too-many-writes","title":"Too many","status":429,"detail":"Wait."}', {
      status: 429,
      ...PROBLEM,
    });
    const refused = await api.call('GET', '/v1/projects', {}).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 429, kind: 'too-many-writes', message: 'Wait.', retryAfter: 7 });
  });

  it('handles a refusal without a problem document', async () => {
    const { api } = answering('<html>', { status: 502, statusText: 'Bad Gateway' });
    await expect(api.call('GET', '/v1/projects', {})).rejects.toMatchObject({ status: 502, message: 'Bad Gateway' });
  });

  it('notifies the session if the API rejects its token', async () => {
    const { api, session } = answering('{}', { status: 401 });
    await expect(api.call('GET', '/v1/projects', {})).rejects.toBeInstanceOf(ApiError);
    expect(session.expired).toHaveBeenCalledOnce();
  });

  it('distinguishes a missing network from a cancelled request', async () => {
    const { api, fetch } = answering('');
    fetch.mockRejectedValueOnce(new TypeError('failed'));
    await expect(api.call('GET', '/v1/projects', {})).rejects.toBeInstanceOf(OfflineError);
    const request = new AbortController();
    request.abort();
    fetch.mockRejectedValueOnce(new DOMException('', 'AbortError'));
    await expect(api.call('GET', '/v1/projects', { signal: request.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is offline if the browser itself aborts it', async () => {
    const { api, fetch } = answering('');
    fetch.mockRejectedValueOnce(new DOMException('', 'AbortError'));
    await expect(api.call('GET', '/v1/projects', { signal: new AbortController().signal })).rejects.toBeInstanceOf(OfflineError);
    const cut = new Response(new ReadableStream({ pull: (body) => body.error(new TypeError('network error')) }));
    fetch.mockResolvedValueOnce(cut);
    await expect(api.call('GET', '/v1/projects', {})).rejects.toBeInstanceOf(OfflineError);
  });
});
