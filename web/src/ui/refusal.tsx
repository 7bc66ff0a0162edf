/** Why a request was refused, and the way out: a retry, or a remedy for users who may begin it. */
import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import { ApiError, OfflineError } from '../api/problem';
import { permits, type Role } from '../auth/session';
import { isRole } from '../auth/session';
import { words } from '../words';

interface RefusalProps {
  readonly error: unknown;
  readonly title?: string;
  /** Replaces the text of the API. */
  readonly reason?: string;
  /** A sentence after the reason. */
  readonly also?: string;
  readonly onRetry?: () => void;
  /** The requirements of remedies: the API, the user's role, and a function to call when one has begun. */
  readonly remedied?: { readonly api: Api; readonly role: Role; readonly onBegun: () => void };
}

export function Refusal({ error, title, reason, also, onRetry, remedied }: RefusalProps) {
  const remedies = error instanceof ApiError ? (error.problem.remedies ?? []) : [];
  return (
    <div class="refusal" role="alert">
      <strong>{title ?? titleOf(error)}</strong>
      <p>{reason ?? reasonOf(error)}</p>
      {also && <p>{also}</p>}
      {remedied && remedies.length > 0 && <Remedies error={error as ApiError} remedied={remedied} />}
      {onRetry && remedies.length === 0 && (
        <button class="button" type="button" onClick={onRetry}>
          {words.retry}
        </button>
      )}
    </div>
  );
}

function Remedies({ error, remedied: { api, role, onBegun } }: { readonly error: ApiError; readonly remedied: NonNullable<RefusalProps['remedied']> }) {
  const remedies = error.problem.remedies ?? [];
  const [failed, setFailed] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const allowed = remedies.every((remedy) => isRole(remedy.role) && permits(role, remedy.role));
  if (!allowed) return <p>{words.refusal.askAdmin(remedies.map(({ title }) => title))}</p>;
  const begin = async () => {
    setBusy(true);
    setFailed(null);
    try {
      for (const { method, path, body } of remedies) await api.request(method, path, { body });
      onBegun();
    } catch (reason) {
      setFailed(reason);
    }
    setBusy(false);
  };
  return (
    <>
      <button class="button primary" type="button" disabled={busy} onClick={() => void begin()}>
        {remedies.map(({ title }) => title).join(', ')}
      </button>
      {failed !== null && <p>{reasonOf(failed)}</p>}
    </>
  );
}

function titleOf(error: unknown): string {
  if (error instanceof OfflineError) return words.refusal.offline;
  if (error instanceof ApiError && error.status === 403) return words.refusal.forbidden;
  if (error instanceof ApiError) return error.status === 412 ? words.conflict.title : error.problem.title;
  return words.refusal.failed;
}

/** A sentence for users. */
export function reasonOf(error: unknown): string {
  if (error instanceof OfflineError) return words.refusal.offlineWhy;
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 412) return words.refusal.changedWhy;
  const { detail, errors = [], jobs } = error.problem;
  if (error.kind === 'too-many-jobs') return words.refusal.tooManyJobs(jobs?.map(({ kind }) => kind) ?? []);
  return [detail, ...errors.map(({ field, message }) => `${field}: ${message}`)].filter(Boolean).join(' ') || error.problem.title;
}
