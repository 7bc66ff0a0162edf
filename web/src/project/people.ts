/** The names of the tenant's users behind their ids. A name that is not known yet is the id. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import type { Mentionable } from './mentions';

const PAGE = 500;
/** Pages that are read for names at most: beyond that a tenant has more users than anybody comments with. */
const MOST_PAGES = 4;
/** How many users are offered. */
const SUGGESTED = 8;

export class People {
  readonly names = signal<ReadonlyMap<string, string>>(new Map());
  private read: Promise<void> | null = null;

  constructor(private readonly api: Api) {}

  /** Read the names, once. Without them ids are shown. */
  load(): Promise<void> {
    this.read ??= this.all().catch(() => {
      this.read = null;
    });
    return this.read;
  }

  nameOf(id: string): string {
    return this.names.value.get(id) ?? id;
  }

  of(ids: readonly string[]): readonly Mentionable[] {
    return ids.map((id) => ({ id, name: this.nameOf(id) }));
  }

  /** Users whose names begin so. */
  async find(prefix: string): Promise<readonly Mentionable[]> {
    const { body } = await this.api.call('GET', '/v1/users', { query: { limit: SUGGESTED, ...(prefix && { prefix }) } });
    this.know(body.items);
    return body.items;
  }

  private async all(): Promise<void> {
    let cursor: string | null = null;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const { body }: { body: { items: Mentionable[]; next: string | null } } = await this.api.call('GET', '/v1/users', {
        query: { limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      });
      this.know(body.items);
      cursor = body.next;
      if (cursor === null) return;
    }
  }

  private know(users: readonly Mentionable[]): void {
    this.names.value = new Map([...this.names.peek(), ...users.map(({ id, name }) => [id, name] as const)]);
  }
}
