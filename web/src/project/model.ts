/**
 * The state of an open project: its fields, the view that the address names, the rows, and how many there are.
 *
 * A change of the view changes the address, and the address alone says what is shown; so the back button restores all of it.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { Explanation, Filter, Project } from '../api/types';
import type { Role } from '../auth/session';
import { fieldsOf, type Field } from '../fields/fields';
import { Layout, type Run } from '../rows/layout';
import { RowStore } from '../rows/store';
import { addressOfProject, go, search } from '../router';
import { fromAddress, toAddress } from '../view/address';
import { defaultColumns, inScreenOrder } from '../view/columns';
import { withSearch } from '../view/filters';
import { fitting, type Column, type View } from '../view/view';
import { words } from '../words';
import { Desk } from './desk';
import { fetchCounts, fetchRows, type Counts } from './queries';

/** How many rows a filter is taken to leave until it is known. */
const GUESS = 100;

export class ProjectModel {
  readonly fields: readonly Field[];
  readonly view: ReadonlySignal<View>;
  readonly columns: ReadonlySignal<readonly Column[]>;
  readonly rows: RowStore;
  /** Null until they are known; asked apart from the rows. */
  readonly counts = signal<Counts | null>(null);
  /** Why the counts could not be told. */
  readonly countError = signal<unknown>(null);
  /** Why the rows could not be shown. */
  readonly refusal = signal<unknown>(null);
  /** How the first page of the present query was answered, and what it cost. */
  readonly explanation = signal<Explanation | null>(null);
  readonly desk = new Desk();
  private explained = false;
  private counting: AbortController | null = null;
  private readonly stop: () => void;

  constructor(
    readonly api: Api,
    readonly project: Project,
    readonly role: Role,
  ) {
    this.fields = fieldsOf(project, words.fields);
    this.view = computed(() => fitting(fromAddress(search.value), this.fields));
    this.columns = computed(() => inScreenOrder(this.view.value.columns ?? defaultColumns(this.fields)));
    this.rows = new RowStore((run, offset, limit, signal) => this.fetch(run, offset, limit, signal));
    // What the rows depend on, as text: the view is made anew with each change of the address.
    const query = computed(() => {
      const { sort, filter, search } = this.view.value;
      return toAddress({ ...fromAddress(''), sort, filter, search });
    });
    this.stop = query.subscribe(() => this.restart());
  }

  field(id: string): Field | undefined {
    return this.fields.find((field) => field.id === id);
  }

  /** Show another view. `replace` is for what is no step of its own, such as the width of a column. */
  change(change: Partial<View>, { replace = false } = {}): void {
    const query = toAddress({ ...this.view.peek(), ...change });
    const target = addressOfProject(this.project.id) + (query && `?${query}`);
    go(target, { replace });
  }

  close(): void {
    this.stop();
    this.counting?.abort();
    this.rows.close();
  }

  /** The filter and what is searched for, as one. */
  get filter(): Filter | null {
    const { filter, search } = this.view.peek();
    return withSearch(filter, search, this.project.issues ?? 0);
  }

  /** Ask for everything anew. */
  restart(): void {
    const { filter } = this;
    this.refusal.value = null;
    this.explained = false;
    const guess = filter ? GUESS : (this.project.issues ?? GUESS);
    this.rows.reset(Layout.ofOneRun(filter, guess));
    void this.count();
  }

  private async count(): Promise<void> {
    this.counting?.abort();
    const request = new AbortController();
    this.counting = request;
    const { filter } = this;
    this.counts.value = null;
    this.countError.value = null;
    try {
      const counts = await fetchCounts(this.api, this.project.id, filter, request.signal);
      this.counts.value = counts;
      this.rows.relayout(Layout.ofOneRun(filter, counts.matched));
    } catch (error) {
      if (!isAbort(error)) this.countError.value = error;
    }
  }

  private async fetch(run: Run, offset: number, limit: number, signal: AbortSignal) {
    const { sort } = this.view.peek();
    const columns = this.columns.peek().map(({ field }) => field);
    const explain = !this.explained;
    this.explained = true;
    const query = { sort, filter: run.filter, columns, offset, limit, explain };
    const { rows, end, explanation } = await fetchRows(this.api, this.project.id, query, signal).catch((error: unknown) => {
      this.explained &&= !explain;
      if (!isAbort(error)) this.refusal.value = error;
      throw error;
    });
    if (explanation) this.explanation.value = explanation;
    // The last page tells how many rows there are, where the count has not come yet.
    if (end && this.counts.peek() === null) this.rows.relayout(Layout.ofOneRun(run.filter, offset + rows.length));
    return rows;
  }
}
