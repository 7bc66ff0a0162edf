/** Refusals of the API (RFC 9457), as errors that a screen can tell apart. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A request that would make a refused plan possible. */
export interface Remedy {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly role: string;
}

/** A field that others have changed since the version that an edit named. */
export interface FieldConflict {
  readonly field: string;
  readonly by: string | null;
}

/** The problem document, as far as the page reads it. What a certain type adds is left as it came. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly request_id?: string;
  readonly errors?: readonly FieldError[];
  readonly more?: number;
  readonly remedies?: readonly Remedy[];
  /** Of an edit: which of its fields stand in its way. */
  readonly conflicts?: readonly FieldConflict[];
  /** Of one job too many: the user's own open jobs that use up the limit. */
  readonly jobs?: readonly { readonly kind: 'update' | 'delete' | 'undo' | 'export'; readonly path: string }[];
  readonly [extension: string]: unknown;
}

/** The API refused a request, or could not carry it out. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly problem: ProblemDocument,
    /** Seconds until the same request may be sent again, where the API tells. */
    readonly retryAfter: number | null = null,
  ) {
    super(problem.detail ?? problem.title);
  }

  get status(): number {
    return this.problem.status;
  }

  /** The last part of the type's address, such as `edit-conflict`. */
  get kind(): string {
    return this.problem.type.slice(this.problem.type.lastIndexOf('/') + 1);
  }
}

/** No answer came: the network, or the server behind it, is away. */
export class OfflineError extends Error {
  override readonly name = 'OfflineError';
}

/** What a refusal says. API Gateway and proxies refuse without a problem document. */
export function problemOf(status: number, statusText: string, body: unknown): ProblemDocument {
  const given = typeof body === 'object' && body !== null ? (body as Partial<ProblemDocument>) : {};
  return { ...given, type: given.type ?? 'about:blank', title: given.title ?? (statusText || String(status)), status };
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
