/** The webhooks of a project, for its admins: where changes are sent, and the outcome of each message. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Webhook, WebhookDelivery } from '../api/types';
import { formatDatetime } from '../cells/format';
import type { ProjectModel } from '../project/model';
import { changesOf, eventsOf, isOutdated, obstacleIn, Webhooks, type IssuedSecret, type WebhookDraft, type WebhookEvent } from '../project/webhooks';
import { Dialog } from '../ui/dialog';
import { Refusal } from '../ui/refusal';
import { unsaved } from '../ui/unsaved';
import { words } from '../words';
import { webhookWords } from './webhook-words';
import { Clash, textOf } from './settings/clash';
import { Confirm } from './settings/confirm';
import { useDraft, type Drafted } from './settings/use-draft';

export function WebhooksWindow({ model }: { readonly model: ProjectModel }) {
  const webhooks = useMemo(() => new Webhooks(model.api, model.project.id), [model]);
  useEffect(() => {
    void webhooks.load();
    return () => webhooks.close();
  }, [webhooks]);
  const list = webhooks.list.value;
  const error = webhooks.error.value;
  const refusal = webhooks.refusal.value;
  const secret = webhooks.secret.value;
  return (
    <Dialog title={words.webhooks.title} wide onClose={() => (model.panels.window.value = null)}>
      <p class="soft">{webhookWords.what}</p>
      {error !== null && <Refusal error={error} title={webhookWords.failed} onRetry={() => void webhooks.load()} />}
      {refusal !== null && <Refusal error={refusal} title={webhookWords.refused} />}
      {secret && <Secret key={secret.secret} issued={secret} onTaken={() => (webhooks.secret.value = null)} />}
      {list === null && error === null && <p aria-busy="true">{words.loading}</p>}
      {list?.length === 0 && <p>{webhookWords.none}</p>}
      <ul class="webhooks">
        {list?.map((webhook) => <WebhookItem key={webhook.id} model={model} webhooks={webhooks} webhook={webhook} />)}
      </ul>
      {list && <NewWebhook model={model} webhooks={webhooks} />}
    </Dialog>
  );
}

/** A secret, until the user has copied it: it is shown only once. */
function Secret({ issued, onTaken }: { readonly issued: IssuedSecret; readonly onTaken: () => void }) {
  const [outcome, setOutcome] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // The button that asked for it may be far below.
  useEffect(() => field.current?.focus(), []);
  const copy = () => {
    navigator.clipboard.writeText(issued.secret).then(
      () => setOutcome(webhookWords.copied),
      () => setOutcome(words.views.notCopied),
    );
  };
  return (
    <section class="secret" aria-label={webhookWords.secret}>
      <label>
        {webhookWords.secretOf(issued.url)}
        <input readOnly ref={field} value={issued.secret} onFocus={(event) => event.currentTarget.select()} />
      </label>
      <div class="row">
        <button class="button primary" type="button" onClick={copy}>
          {webhookWords.copy}
        </button>
        <button class="button" type="button" onClick={onTaken}>
          {webhookWords.taken}
        </button>
        <span role="status">{outcome}</span>
      </div>
    </section>
  );
}

interface WebhookProps {
  readonly model: ProjectModel;
  readonly webhooks: Webhooks;
  readonly webhook: Webhook;
}

function WebhookItem({ model, webhooks, webhook }: WebhookProps) {
  const { url, view, frozen, columns, events, enabled, warning, previous_secret_expires: rotating } = webhook;
  const stored = { url, view, columns, events, enabled };
  const draft = useDraft<WebhookDraft>(webhook.version, stored);
  const busy = webhooks.busy.value;
  const rows = frozen === null ? webhookWords.all : webhookWords.frozen(frozen.name, formatDatetime(frozen.at), frozen.by);
  const chosen = model.views.list.value.find(({ id }) => id === view);
  const outdated = isOutdated(webhook, chosen);
  const obstacle = obstacleIn(chosen?.query.filter);
  return (
    <li aria-label={url} {...unsaved(draft.isChanged)}>
      <strong>{url}</strong>
      <p class="soft">
        {[enabled ? webhookWords.on : webhookWords.off, rows, events.map((event) => webhookWords.events[event]).join(', ')].join(' · ')}
      </p>
      {columns !== null && <p class="soft">{webhookWords.sent(columns.map((id) => model.field(id)?.name ?? id))}</p>}
      {warning && <p class="bad">{webhookWords.notice(formatDatetime(warning.at), warning.reason, enabled)}</p>}
      {warning && enabled && (
        <button class="button" type="button" disabled={busy} onClick={() => void webhooks.change(webhook, { warning: null })}>
          {webhookWords.confirm}
        </button>
      )}
      {outdated && (
        <>
          <p class="bad">{webhookWords.outdated}</p>
          <button class="button" type="button" disabled={busy || obstacle !== null} onClick={() => void webhooks.change(webhook, { view, columns: columns && [...columns] })}>
            {webhookWords.choose}
          </button>
          {obstacle !== null && <p class="soft">{webhookWords.notFollowedWhy}</p>}
        </>
      )}
      {rotating !== null && <p class="soft">{webhookWords.rotating(formatDatetime(rotating))}</p>}
      <div class="row">
        <button class="button" type="button" disabled={busy} onClick={() => void webhooks.change(webhook, { enabled: !enabled })}>
          {enabled ? webhookWords.disable : webhookWords.enable}
        </button>
        <Confirm label={webhookWords.rotate} question={webhookWords.rotateWhy} onConfirm={() => void webhooks.rotate(webhook)} />
        <Confirm label={webhookWords.delete} question={webhookWords.deleteWhy(url)} onConfirm={() => void webhooks.remove(webhook)} />
      </div>
      <Disclosure label={webhookWords.edit}>
        <WebhookForm
          model={model}
          draft={draft}
          stored={stored}
          chosen={frozen?.name ?? null}
          isNew={false}
          busy={busy}
          onSave={(entered) => void webhooks.change(webhook, changesOf(webhook, entered), draft)}
        />
      </Disclosure>
      <Disclosure label={webhookWords.deliveries}>
        <Deliveries webhooks={webhooks} webhook={webhook} />
      </Disclosure>
    </li>
  );
}

function Disclosure({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && children}
    </details>
  );
}

const NEW: WebhookDraft = { url: '', view: null, columns: null, events: eventsOf(null), enabled: true };

function NewWebhook({ model, webhooks }: { readonly model: ProjectModel; readonly webhooks: Webhooks }) {
  const [round, setRound] = useState(0);
  return <NewWebhookForm key={round} model={model} webhooks={webhooks} onCreated={() => setRound(round + 1)} />;
}

interface NewWebhookProps {
  readonly model: ProjectModel;
  readonly webhooks: Webhooks;
  readonly onCreated: () => void;
}

function NewWebhookForm({ model, webhooks, onCreated }: NewWebhookProps) {
  const draft = useDraft(0, NEW);
  // The same request sent again is carried out once, even if its answer was lost.
  const [sent, setSent] = useState<{ readonly draft: string; readonly key: string } | null>(null);
  const save = async (entered: WebhookDraft) => {
    const text = JSON.stringify(entered);
    const key = sent?.draft === text ? sent.key : crypto.randomUUID();
    setSent({ draft: text, key });
    if (await webhooks.create(entered, key)) onCreated();
  };
  return (
    <section class="section" aria-label={webhookWords.new} {...unsaved(draft.isChanged)}>
      <h3>{webhookWords.new}</h3>
      <WebhookForm model={model} draft={draft} stored={NEW} isNew busy={webhooks.busy.value} onSave={(entered) => void save(entered)} />
    </section>
  );
}

const PARTS: Readonly<Record<keyof WebhookDraft, string>> = {
  url: webhookWords.url,
  view: webhookWords.view,
  columns: webhookWords.columns,
  events: webhookWords.eventTypes,
  enabled: webhookWords.on,
};

interface WebhookFormProps {
  readonly model: ProjectModel;
  readonly draft: Drafted<WebhookDraft>;
  readonly stored: WebhookDraft;
  /** The name of its view at the time of the choice: the view may be deleted, or private. */
  readonly chosen?: string | null;
  readonly isNew: boolean;
  readonly busy: boolean;
  readonly onSave: (entered: WebhookDraft) => void;
}

function WebhookForm({ model, draft, stored, chosen = null, isNew, busy, onSave }: WebhookFormProps) {
  const entered = draft.value;
  const { put } = draft;
  const toggle = (event: WebhookEvent) =>
    put({ events: eventsOf(entered.view).filter((one) => (one === event ? !entered.events.includes(one) : entered.events.includes(one))) });
  const toggleColumn = (field: string) => {
    const columns = entered.columns ?? [];
    put({ columns: columns.includes(field) ? columns.filter((one) => one !== field) : [...columns, field] });
  };
  const views = model.views.list.value.filter(({ visibility }) => visibility !== 'private');
  const gone = stored.view !== null && !views.some(({ id }) => id === stored.view);
  const shown = (part: keyof WebhookDraft, { view, columns, events, ...plain }: WebhookDraft) => {
    if (part === 'view') return view === null ? webhookWords.all : (views.find(({ id }) => id === view)?.name ?? chosen ?? view);
    if (part === 'columns') return columns === null ? webhookWords.allFields : textOf(columns.map((id) => model.field(id)?.name ?? id));
    return textOf(part === 'events' ? events.map((event) => webhookWords.events[event]) : plain[part]);
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSave({ ...entered, url: entered.url.trim() });
      }}
    >
      <label>
        {webhookWords.url}
        <input type="url" required readOnly={busy} placeholder="https://" value={entered.url} onInput={(event) => put({ url: event.currentTarget.value })} />
      </label>
      <label>
        {webhookWords.view}
        <select
          value={entered.view ?? ''}
          onChange={(event) => {
            const view = event.currentTarget.value || null;
            const shown = views.find(({ id }) => id === view)?.columns ?? null;
            put({ view, events: eventsOf(view), columns: shown?.map(({ field }) => field) ?? null });
          }}
        >
          <option value="">{webhookWords.all}</option>
          {gone && <option value={stored.view}>{chosen}</option>}
          {views.map(({ id, name, query }) => {
            const obstacle = obstacleIn(query.filter);
            return (
              <option key={id} value={id} disabled={obstacle !== null && id !== entered.view}>
                {obstacle === null ? name : webhookWords.notFollowed(name, obstacle)}
              </option>
            );
          })}
        </select>
      </label>
      {views.some(({ query }) => obstacleIn(query.filter) !== null) && <p class="soft">{webhookWords.notFollowedWhy}</p>}
      {entered.view !== null && <p class="soft">{webhookWords.freezes}</p>}
      <fieldset class="radios">
        <legend>{webhookWords.columns}</legend>
        <label>
          <input
            type="checkbox"
            checked={entered.columns === null}
            onChange={(event) => put({ columns: event.currentTarget.checked ? null : model.fields.map(({ id }) => id) })}
          />
          {webhookWords.allFields}
        </label>
        {entered.columns !== null &&
          model.fields.map(({ id, name }) => (
            <label key={id}>
              <input type="checkbox" checked={entered.columns?.includes(id)} onChange={() => toggleColumn(id)} />
              {name}
            </label>
          ))}
      </fieldset>
      <fieldset class="radios">
        <legend>{webhookWords.eventTypes}</legend>
        {eventsOf(entered.view).map((event) => (
          <label key={event}>
            <input type="checkbox" checked={entered.events.includes(event)} onChange={() => toggle(event)} />
            {webhookWords.events[event]}
          </label>
        ))}
      </fieldset>
      {isNew && (
        <label class="check">
          <input type="checkbox" checked={entered.enabled} onChange={(event) => put({ enabled: event.currentTarget.checked })} />
          {webhookWords.on}
        </label>
      )}
      <Clash
        parts={draft.clashing.map((part) => ({ name: PARTS[part], yours: shown(part, entered), theirs: shown(part, stored) }))}
        onYours={draft.keepYours}
        onTheirs={draft.keepTheirs}
      />
      <div class="row-end">
        <button class="button primary" type="submit" disabled={busy || !entered.events.length || draft.clashing.length > 0}>
          {isNew ? webhookWords.create : words.settings.save}
        </button>
      </div>
    </form>
  );
}

function Deliveries({ webhooks, webhook }: Omit<WebhookProps, 'model'>) {
  const deliveries = useMemo(() => webhooks.deliveriesOf(webhook.id), [webhooks, webhook.id]);
  useEffect(() => {
    void deliveries.load();
    return () => deliveries.close();
  }, [deliveries]);
  const [outcome, setOutcome] = useState('');
  const list = deliveries.list.value;
  const error = deliveries.error.value;
  const replay = async (delivery: WebhookDelivery) => {
    setOutcome('');
    if (!(await webhooks.replay(webhook, delivery))) return;
    setOutcome(webhookWords.replayed);
    await deliveries.load();
  };
  return (
    <>
      {error !== null && <Refusal error={error} onRetry={() => void deliveries.load()} />}
      {list === null && error === null && <p aria-busy="true">{words.loading}</p>}
      {list?.length === 0 && <p>{webhookWords.noDeliveries}</p>}
      <p role="status">{outcome}</p>
      <ul>
        {list?.map((delivery) => (
          <li key={delivery.id}>
            <Delivery delivery={delivery} />{' '}
            <button
              class="button"
              type="button"
              disabled={webhooks.busy.value || !webhook.enabled}
              aria-label={webhookWords.replayOf(whatOf(delivery))}
              onClick={() => void replay(delivery)}
            >
              {webhookWords.replay}
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <button class="button" type="button" onClick={() => void deliveries.load()}>
          {webhookWords.look}
        </button>
        {deliveries.more.value && (
          <button class="button" type="button" onClick={() => void deliveries.next()}>
            {webhookWords.more}
          </button>
        )}
      </div>
    </>
  );
}

function Delivery({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { at, status, attempts, response_status: code, failure, response_body: answer, last_attempt: last, next_attempt: next } = delivery;
  return (
    <>
      <strong>{whatOf(delivery)}</strong>{' '}
      <span class="soft">
        <time dateTime={at}>{formatDatetime(at)}</time> · {webhookWords.statuses[status]} · {webhookWords.attempts(attempts, last === null ? null : formatDatetime(last))}
        {next !== null && ` · ${webhookWords.next(formatDatetime(next))}`}
        {code !== null && ` · ${code}`}
      </span>
      {failure !== null && <p class="bad">{failure}</p>}
      {answer && <code>{answer}</code>}
    </>
  );
}

function whatOf({ event, issue }: WebhookDelivery): string {
  return issue === null ? webhookWords.events[event] : webhookWords.of(webhookWords.events[event], issue.num, issue.version);
}
