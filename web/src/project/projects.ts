/** The tenant's projects in name order, read once and held for the list and the rail. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import { isAbort } from '../api/problem';
import type { Project } from '../api/types';

const PAGE = 500;

export type Listed =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly projects: readonly Project[] }
  | { readonly kind: 'failed'; readonly error: unknown };

export class Projects {
  readonly listed = signal<Listed>({ kind: 'loading' });

  constructor(private readonly api: Api) {
    void this.load();
  }

  /** Read them anew. The present ones stay until then. */
  async load(): Promise<void> {
    try {
      this.listed.value = { kind: 'ready', projects: await this.all() };
    } catch (error) {
      if (!isAbort(error)) this.listed.value = { kind: 'failed', error };
    }
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

/** Those that have these letters in their name or are called so. */
export function found(projects: readonly Project[], wanted: string): readonly Project[] {
  const folded = wanted.trim().toLocaleLowerCase();
  return projects.filter(({ id, name }) => name.toLocaleLowerCase().includes(folded) || id === folded);
}
