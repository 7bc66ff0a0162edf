/** Refusals of the API (RFC 9457), as errors that a screen can distinguish. */
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

/** The problem document, as far as the page reads it. Members that only some types have stay as they came. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly request_id?: string;
  readonly errors?: readonly FieldError[];
  readonly more?: number;
  readonly remedies?: readonly Remedy[];
  /** The fields of an edit that conflict with changes of others. */
  readonly conflicts?: readonly FieldConflict[];
  /** The user's open jobs that use up the limit, if there is one job too many. */
  readonly jobs?: readonly { readonly kind: 'update' | 'delete' | 'undo' | 'export'; readonly path: string }[];
  /** The place of an error in a formula, in code points from 0. */
  readonly position?: number;
  /** The ids of the fields whose formulas use a field or an option. */
  readonly dependents?: readonly string[];
  readonly [extension: string]: unknown;
}

/** The API refused a request, or could not carry it out. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly problem: ProblemDocument,
    /** Seconds until the same request may be sent again, where the API says so. */
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

/** No answer came: the network or the server is not available. */
export class OfflineError extends Error {
  override readonly name = 'OfflineError';
}

/** The user signed out before the request was sent. */
export class SignedOutError extends Error {
  override readonly name = 'SignedOutError';
}

/** The problem document of a refusal. API Gateway and proxies refuse without one. */
export function problemOf(status: number, statusText: string, body: unknown): ProblemDocument {
  const given = typeof body === 'object' && body !== null ? (body as Partial<ProblemDocument>) : {};
  return { ...given, type: given.type ?? 'about:blank', title: given.title ?? (statusText || String(status)), status };
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
