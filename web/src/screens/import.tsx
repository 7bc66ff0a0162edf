/**
 * Import of a CSV file: its content and the field of each column, then progress, the refused rows, and the lag of the
 * index.
 */
import { useEffect, useState } from 'preact/hooks';
import type { FieldType } from '../api/types';
import { permits } from '../auth/session';
import { inspect, type ColumnPlan, type Inspected, type Target } from '../csv/plan';
import { EncodingError, MalformedError, rowsOf } from '../csv/read';
import { csvLine } from '../csv/write';
import { Import, reasonsOf, type RefusedRow } from '../project/importing';
import type { ProjectModel } from '../project/model';
import { Dialog } from '../ui/dialog';
import { reasonOf, Refusal } from '../ui/refusal';
import { save } from '../ui/save';
import { unsaved } from '../ui/unsaved';
import { words } from '../words';
import { importWords } from './import-words';

/** Reasons for refused rows that are shown. */
const REASONS = 10;

interface ImportWindowProps {
  readonly model: ProjectModel;
  /** The import has written something. */
  readonly onImported: () => void;
}

export function ImportWindow({ model, onImported }: ImportWindowProps) {
  const [file, setFile] = useState<File | null>(model.panels.dropped.peek());
  const [running, setRunning] = useState<Import | null>(null);
  const [rows, setRows] = useState(0);
  const close = () => {
    running?.cancel();
    model.panels.window.value = null;
    model.panels.dropped.value = null;
    if (running) onImported();
  };
  return (
    <Dialog title={importWords.title(model.project.name)} wide onClose={close}>
      {!file && (
        <label class="drop">
          <span>{importWords.choose}</span>
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
          />
        </label>
      )}
      {file && !running && (
        <Preview
          model={model}
          file={file}
          onStart={(columns, rows) => {
            setRows(rows);
            const next = new Import(model.api, model.project.id, model.fields, importWords.reasonsOfRows);
            setRunning(next);
            void next.run(columns, rowsOf(file));
          }}
        />
      )}
      {file && running && <Progress file={file} rows={rows} running={running} />}
    </Dialog>
  );
}

interface PreviewProps {
  readonly model: ProjectModel;
  readonly file: File;
  readonly onStart: (columns: readonly ColumnPlan[], rows: number) => void;
}

function Preview({ model, file, onStart }: PreviewProps) {
  const mayDefine = permits(model.role, 'admin');
  const [inspected, setInspected] = useState<Inspected | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    inspect(rowsOf(file), model.fields, { mayDefine }).then(setInspected, setError);
  }, [file]);
  if (error !== null) return <Refusal error={error} title={importWords.unreadable} reason={whyUnreadable(error)} />;
  if (!inspected) return <p aria-busy="true">{importWords.looking(file.name)}</p>;
  const { columns, sample, rows, wide } = inspected;
  const computed = columns.flatMap(({ header, isComputed, target }) => (isComputed && target.kind === 'skip' ? [header] : []));
  const named = columns.some(({ target }) => target.kind === 'field' && target.field === 'name');
  const put = (at: number, target: Target) =>
    setInspected({ ...inspected, columns: columns.map((column, place) => (place === at ? { ...column, target } : column)) });
  return (
    <>
      <p>{importWords.what(file.name, rows, columns.length)}</p>
      <div class="scroller" tabIndex={0} role="region" aria-label={importWords.preview}>
        <table class="table import-table">
          <thead>
            <tr>
              {columns.map(({ header, target, values }, at) => (
                <th key={at} scope="col">
                  <span class="import-header">{header || importWords.unnamed(at + 1)}</span>
                  <select
                    aria-label={importWords.target(header || importWords.unnamed(at + 1))}
                    value={textOf(target)}
                    onChange={(event) => put(at, targetOf(event.currentTarget.value, values))}
                  >
                    <option value="skip">{importWords.skip}</option>
                    <optgroup label={words.settings.fields}>
                      {model.fields
                        .filter(({ editable }) => editable)
                        .map(({ id, name }) => (
                          <option key={id} value={`field ${id}`}>
                            {name}
                          </option>
                        ))}
                    </optgroup>
                    {mayDefine && header && (
                      <optgroup label={importWords.newField}>
                        {values.types.map((type) => (
                          <option key={type} value={`new ${type}`}>
                            {importWords.newOf(words.settings.types[type])}
                          </option>
                        ))}
                      </optgroup>
                    )}
                  </select>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sample.map((row, at) => (
              <tr key={at}>
                {columns.map((_, place) => (
                  <td key={place}>{row[place] ?? ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {computed.length > 0 && <p>{importWords.computed(computed)}</p>}
      {wide > 0 && <p>{importWords.wideRows(wide)}</p>}
      {!named && <p role="alert">{importWords.noName}</p>}
      <div class="row-end">
        <button class="button primary" type="button" disabled={!named || rows === 0} onClick={() => onStart(columns, rows)}>
          {importWords.start(rows)}
        </button>
      </div>
    </>
  );
}

function whyUnreadable(error: unknown): string {
  if (error instanceof MalformedError) return importWords.malformed(error.line);
  return error instanceof EncodingError ? importWords.encoding : reasonOf(error);
}

function textOf(target: Target): string {
  return target.kind === 'skip' ? 'skip' : target.kind === 'field' ? `field ${target.field}` : `new ${target.type}`;
}

function targetOf(text: string, values: ColumnPlan['values']): Target {
  const [kind, what = ''] = text.split(' ');
  if (kind === 'field') return { kind, field: what };
  if (kind === 'new') return { kind, type: what as FieldType, options: values.options(what as FieldType) };
  return { kind: 'skip' };
}

function Progress({ file, rows, running }: { readonly file: File; readonly rows: number; readonly running: Import }) {
  const { phase, done, created, indexed, refused, unsent, stalled, error } = running.state.value;
  const left = [...refused, ...unsent].sort((a, b) => a.place - b.place);
  const isWriting = phase === 'fields' || phase === 'rows';
  const header = async () => {
    for await (const [first = []] of rowsOf(file)) return first;
    return [];
  };
  const download = async () => {
    // These rows are kept, so they can be saved even if the file is gone.
    const lines = [[...(await header().catch(() => [])), importWords.reason], ...left.map(({ cells, reason }) => [...cells, reason])];
    save(new Blob(lines.map((cells) => csvLine(cells, { raw: true })), { type: 'text/csv;charset=utf-8' }), importWords.refusedFile(file.name));
  };
  return (
    <>
      <div role="status" {...unsaved(isWriting, importWords.leave)}>
        <progress aria-label={importWords.written} max={Math.max(1, rows)} value={done} />
        <p>{importWords.state(phase, created, refused.length, unsent.length)}</p>
        {stalled && isWriting && <p>{importWords.stalled}</p>}
        {(phase === 'index' || phase === 'done') && created > 0 && (
          <>
            <progress aria-label={importWords.indexed(indexed, created)} max={created} value={indexed} />
            <p>{importWords.indexed(indexed, created)}</p>
          </>
        )}
      </div>
      {phase === 'failed' && <Refusal error={error} reason={whyUnreadable(error)} />}
      {refused.length > 0 && <Reasons refused={refused} />}
      <div class="row-end">
        {left.length > 0 && (
          <button class="button" type="button" onClick={() => void download()}>
            {unsent.length ? importWords.downloadRest(left.length) : importWords.download(left.length)}
          </button>
        )}
        {isWriting && (
          <button class="button" type="button" onClick={() => running.cancel()}>
            {words.export.cancel}
          </button>
        )}
      </div>
    </>
  );
}

/** The most frequent reasons for refused rows. The file of refused rows has the reason of each. */
function Reasons({ refused }: { readonly refused: readonly RefusedRow[] }) {
  const reasons = reasonsOf(refused);
  return (
    <ul class="import-reasons" aria-label={importWords.reasons}>
      {reasons.slice(0, REASONS).map(([reason, rows]) => (
        <li key={reason}>{importWords.because(rows, reason)}</li>
      ))}
      {reasons.length > REASONS && <li>{importWords.moreReasons(reasons.length - REASONS)}</li>}
    </ul>
  );
}
