/** Checks a formula while it is typed. Only the answer about the last text counts. */
import { signal } from '@preact/signals';
import type { Api, Body } from '../api/client';
import { ApiError, isAbort } from '../api/problem';

type Checked = Body<'POST', '/v1/projects/{project}/formulas/check'>;

export type FormulaState =
  | { readonly kind: 'empty' }
  | { readonly kind: 'checking' }
  | { readonly kind: 'valid'; readonly checked: Checked }
  /** `position`: the place of the error, in code points from 0; null for none. */
  | { readonly kind: 'refused'; readonly message: string; readonly position: number | null }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Milliseconds without a key after which a text is checked. */
const PAUSE = 300;

export class FormulaChecks {
  readonly state = signal<FormulaState>({ kind: 'empty' });
  private text = '';
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request = new AbortController();
  private answer: Promise<void> = Promise.resolve();

  constructor(
    private readonly api: Api,
    private readonly project: string,
    /** The issues whose values are shown. */
    private readonly nums: readonly number[],
    /** The computed field that would get the formula; null for a new one. */
    private readonly attribute: string | null,
  ) {}

  /** The text is this now. */
  typed(text: string): void {
    if (text === this.text) return;
    this.text = text;
    clearTimeout(this.timer);
    this.request.abort();
    if (!text.trim()) {
      this.state.value = { kind: 'empty' };
      return;
    }
    this.state.value = { kind: 'checking' };
    this.timer = setTimeout(() => void this.ask(), PAUSE);
  }

  /** Returns the answer about this text, without a pause; null if it is no valid formula. */
  async check(text: string): Promise<Checked | null> {
    this.typed(text);
    clearTimeout(this.timer);
    if (this.state.peek().kind === 'failed' || this.state.peek().kind === 'checking') await this.ask();
    await this.answer;
    const state = this.state.peek();
    return this.text === text && state.kind === 'valid' ? state.checked : null;
  }

  stop(): void {
    clearTimeout(this.timer);
    this.request.abort();
  }

  private ask(): Promise<void> {
    this.request.abort();
    const { signal } = (this.request = new AbortController());
    this.answer = this.read(this.text, signal).then((state) => {
      if (!signal.aborted) this.state.value = state;
    });
    return this.answer;
  }

  private async read(formula: string, signal: AbortSignal): Promise<FormulaState> {
    const { nums, attribute } = this;
    try {
      const { body } = await this.api.call('POST', '/v1/projects/{project}/formulas/check', {
        path: { project: this.project },
        body: { formula, nums: [...nums], ...(attribute !== null && { attribute }) },
        signal,
      });
      return { kind: 'valid', checked: body };
    } catch (error) {
      if (isAbort(error) || !(error instanceof ApiError) || error.status !== 400) return { kind: 'failed', error };
      const { errors = [], position = null, detail, title } = error.problem;
      return { kind: 'refused', message: errors[0]?.message ?? detail ?? title, position };
    }
  }
}
