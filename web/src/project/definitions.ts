/** A project's definitions as its settings show and change them, with the background work that a change begins. */
import { computed, signal } from '@preact/signals';
import type { Api, Body } from '../api/client';
import { ApiError, isAbort } from '../api/problem';
import type { CompositeIndex, Project } from '../api/types';
import { FormulaChecks } from './formula-checks';
import { Fresh } from './fresh';

/** Milliseconds between two polls of background work. */
const POLL_INTERVAL = 2000;

export class Definitions {
  readonly project;
  readonly indexes = signal<readonly CompositeIndex[]>([]);
  readonly error = signal<unknown>(null);
  readonly busy = signal(false);
  /** Whether there is background work that someone may want to watch. */
  readonly building = computed(
    () => [...(this.project.value.attributes ?? []), ...this.indexes.value].some(({ build }) => build !== null),
  );
  /** Whether the project includes all changes that the API has accepted here. */
  isLatest = true;
  private readonly fresh = new Fresh();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly closed = new AbortController();
  private readonly begun: Promise<void>;

  constructor(
    private readonly api: Api,
    project: Project,
  ) {
    this.project = signal(project);
    this.begun = this.load();
  }

  /** The project as the API has it, or as it was given if the API has not answered. */
  async read(): Promise<Project> {
    await this.begun;
    return this.project.peek();
  }

  /** Make a change and read everything again. Returns whether the API accepted it. */
  change(call: (api: Api, project: string) => Promise<unknown>): Promise<boolean> {
    return this.changed(this.fresh.change(() => call(this.api, this.project.peek().id)));
  }

  /**
   * Move a field before another, or behind all of them (null). The list shows that at once. The moves are sent one after
   * the other, since each has its place in the order that the one before leaves.
   */
  async move(id: string, before: string | null): Promise<void> {
    const project = this.project.peek();
    const attribute = project.attributes?.find((one) => one.id === id);
    const others = (project.attributes ?? []).filter((one) => one !== attribute);
    const position = before === null ? others.length : others.findIndex((one) => one.id === before);
    if (!attribute || position < 0) return;
    this.project.value = { ...project, attributes: [...others.slice(0, position), attribute, ...others.slice(position)] };
    const path = { project: project.id, attribute: id };
    const send = () => this.api.call('PATCH', '/v1/projects/{project}/attributes/{attribute}', { path, body: { position } });
    if (!(await this.changed(this.fresh.changeInTurn(send)))) await this.load();
  }

  /** Checks of a formula, with its values for some issues. `attribute`: the computed field that has it; null for a new one. */
  checks(nums: readonly number[], attribute: string | null): FormulaChecks {
    return new FormulaChecks(this.api, this.project.peek().id, nums, attribute);
  }

  /** Read everything again after a change that was made elsewhere. */
  reload(): Promise<void> {
    return this.load();
  }

  close(): void {
    clearTimeout(this.timer);
    this.closed.abort();
  }

  /** Read everything again after a change. Returns whether the API accepted it. */
  private async changed(change: Promise<unknown>): Promise<boolean> {
    this.busy.value = true;
    this.error.value = null;
    try {
      await change;
      this.isLatest = false;
      await this.load();
      return true;
    } catch (error) {
      // Someone else changed it meanwhile: show its present state.
      if (error instanceof ApiError && error.status === 412) await this.load();
      this.error.value = error;
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  private async load(): Promise<void> {
    clearTimeout(this.timer);
    const options = { path: { project: this.project.peek().id }, signal: this.closed.signal };
    try {
      const [project, indexes]: [Answered<'/v1/projects/{project}'>, Answered<'/v1/projects/{project}/indexes'>] = await this.fresh.read(() =>
        Promise.all([this.api.call('GET', '/v1/projects/{project}', options), this.api.call('GET', '/v1/projects/{project}/indexes', options)]),
      );
      this.project.value = project.body;
      this.indexes.value = indexes.body.items;
      this.isLatest = true;
      if (this.building.peek()) this.timer = setTimeout(() => void this.load(), POLL_INTERVAL);
    } catch (error) {
      if (!isAbort(error)) this.error.value = error;
    }
  }
}

interface Answered<P extends '/v1/projects/{project}' | '/v1/projects/{project}/indexes'> {
  readonly body: Body<'GET', P>;
}
