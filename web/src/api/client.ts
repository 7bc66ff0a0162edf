/** The typed client: each call is checked against the OpenAPI document when the page is built. */
import type { paths } from './schema';
import { formatJson, parseJson } from './json';
import { ApiError, OfflineError, problemOf } from './problem';
import { RecentWrites } from './recent';

/** Names the issues that a write changed. Reads that carry it answer as if the index held them already. */
const TOKEN = 'X-Consistency-Token';

/** The lists of an answer that may contain the issues of its token: changes or placed rows, and reverted issues. */
const LISTS = ['items', 'undone'] as const;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, { responses: object }> ? P : never;
}[keyof paths];

type OperationOf<M extends Method, P extends keyof paths> = paths[P][Lowercase<M> & keyof paths[P]];

type InPath<O> = O extends { parameters: { path: infer T } } ? { readonly path: T } : unknown;
type InQuery<O> = O extends { parameters: { query?: infer T } } ? { readonly query?: NonNullable<T> } : unknown;
type InBody<O> = O extends { requestBody: { content: { 'application/json': infer T } } }
  ? { readonly body: T }
  : O extends { requestBody?: { content: { 'application/json': infer T } } }
    ? { readonly body?: T }
    : unknown;

/** The arguments of a call. Headers are those of the contract: `If-Match`, `Idempotency-Key`, `X-Change-Id` … */
export type CallOptions<M extends Method, P extends keyof paths> = InPath<OperationOf<M, P>> &
  InQuery<OperationOf<M, P>> &
  InBody<OperationOf<M, P>> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  };

type BodyOf<R> = R extends { content: { 'application/json': infer T } } ? T : undefined;

/** The body of a success. */
export type Body<M extends Method, P extends keyof paths> =
  OperationOf<M, P> extends { responses: infer R }
    ? { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? BodyOf<R[S]> : never }[keyof R]
    : never;

export interface Answer<T> {
  readonly body: T;
  readonly headers: Headers;
}

/** The session, as the client needs it: it signs a request, and learns that the API no longer accepts the session. */
export interface Signer {
  /** Sign a request. Throws OfflineError if the login has no answer now. */
  sign(headers: Headers, signal?: AbortSignal): Promise<void>;
  expired(): void;
  /** Whether `sign` waits while the session has ended: a request that the API rejected for that can be sent again. */
  readonly waits?: boolean;
}

export class Api {
  constructor(
    private readonly session: Signer,
    private readonly fetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request),
    private readonly recent = new RecentWrites(),
  ) {}

  /**
   * Send a request. Throws ApiError for a refusal, AbortError if the signal aborted it, and OfflineError if no answer
   * came.
   */
  async call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    options: CallOptions<M, P>,
  ): Promise<Answer<Body<M, P>>> {
    const { path: inPath, query, ...request } = options as Loose;
    return this.request<Body<M, P>>(method, addressOf(path, inPath, query), request);
  }

  /** Send a request that the API itself has proposed, such as a remedy. Throws what `call` throws. */
  async request<T = unknown>(method: string, address: string, message: Message): Promise<Answer<T>> {
    // A bearer token goes only to the API, whatever address an answer names.
    if (!address.startsWith('/v1/')) throw new Error(`${address} is not of the API.`);
    for (;;) {
      try {
        return await this.ask<T>(method, address, message);
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 401)) throw error;
        this.session.expired();
        // The API did nothing for a request without a valid session, so it can be sent again.
        if (!this.session.waits) throw error;
      }
    }
  }

  private async ask<T>(method: string, address: string, { body, headers: given, signal }: Message): Promise<Answer<T>> {
    const headers = new Headers(given);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const recent = this.recent.headerOf(address);
    if (recent !== null) headers.set(TOKEN, recent);
    await this.session.sign(headers, signal);
    const [response, text] = await this.send(address, {
      method,
      headers,
      body: body === undefined ? null : formatJson(body),
      signal: signal ?? null,
    });
    if (!response.ok) {
      throw new ApiError(
        problemOf(response.status, response.statusText, refusalIn(response, text)),
        secondsIn(response.headers.get('Retry-After')),
      );
    }
    const token = response.headers.get(TOKEN);
    const answer = text ? parseJson(text) : undefined;
    if (token !== null) this.recent.keep(address, token, Math.max(issuesIn(body, 'operations'), ...LISTS.map((list) => issuesIn(answer, list))));
    return { body: answer as T, headers: response.headers };
  }

  /**
   * Make reads of a project include the writes of this token, which names at most so many issues. Tokens of answers are
   * kept automatically.
   */
  include(project: string, token: string, issues: number): void {
    this.recent.keep(`/v1/projects/${project}/changes`, token, issues);
  }

  /** Make reads of a project include, for a minute, everything before this cursor of its changes. */
  continueFrom(project: string, cursor: string): void {
    this.recent.continueFrom(project, cursor);
  }

  private async send(address: string, request: RequestInit): Promise<readonly [Response, text: string]> {
    try {
      const response = await this.fetch(address, request);
      return [response, await response.text()];
    } catch (error) {
      // Browsers also abort requests themselves, for example when the user stops the page. No other code would retry
      // those.
      if (request.signal?.aborted) throw error;
      throw new OfflineError(String(error));
    }
  }
}

interface Loose extends Message {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
}

interface Message {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

function addressOf(template: string, inPath: Loose['path'], query: Loose['query']): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(inPath?.[name])));
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length ? `${path}?${parameters.toString()}` : path;
}

/** The greatest number of issues that a token may name: a batch's operations, the issues in a list of the answer, or one. */
function issuesIn(body: unknown, list: string): number {
  const all = body instanceof Object ? (body as Readonly<Record<string, unknown>>)[list] : null;
  return Array.isArray(all) ? all.length : 1;
}

function refusalIn(response: Response, text: string): unknown {
  if (!response.headers.get('Content-Type')?.includes('json')) return null;
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function secondsIn(header: string | null): number | null {
  const seconds = Number(header);
  return header === null || Number.isNaN(seconds) ? null : seconds;
}
