/** The tenant's projects in name order, read once and held for the list and the rail. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { DeletedProject, Project } from '../api/types';
import type { Deleted } from './deleted';
import { deletedProjectsOf } from './deleted-projects';
import { Fresh } from './fresh';

const PAGE = 500;

export type Listed =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly projects: readonly Project[] }
  | { readonly kind: 'failed'; readonly error: unknown };

export class Projects {
  readonly listed = signal<Listed>({ kind: 'loading' });
  /** The deleted ones, which administrators can restore. */
  readonly deleted: Deleted<DeletedProject>;
  private readonly fresh = new Fresh();

  constructor(private readonly api: Api) {
    this.deleted = deletedProjectsOf(api, () => void this.load());
    void this.load();
  }

  /** Read them again, and repeat a read that has begun. The present ones stay until then. */
  async load(): Promise<void> {
    this.fresh.outdate();
    try {
      this.listed.value = { kind: 'ready', projects: await this.fresh.read(() => this.all()) };
    } catch (error) {
      if (!isAbort(error)) this.listed.value = { kind: 'failed', error };
    }
  }

  /** A project was deleted just now: read the others again, and offer to restore it. */
  async gone(id: string): Promise<void> {
    await Promise.all([this.load(), this.deleted.expect((one) => one.id === id)]);
  }

  private async all(): Promise<readonly Project[]> {
    const all: Project[] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { items: Project[]; next: string | null } } = await this.api.call('GET', '/v1/projects', {
        query: { limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      });
      all.push(...body.items);
      cursor = body.next;
    } while (cursor !== null);
    return all;
  }
}

/** The projects whose name contains these letters, or whose id they are. */
export function found(projects: readonly Project[], wanted: string): readonly Project[] {
  const lowered = wanted.trim().toLocaleLowerCase();
  return projects.filter(({ id, name }) => name.toLocaleLowerCase().includes(lowered) || id === lowered);
}
