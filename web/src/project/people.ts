/** The names of the tenant's users by their ids. If a name is not known yet, it is the id. */
import { signal } from '@preact/signals';
import type { Api } from '../api/client';
import type { Mentionable } from './mentions';

const PAGE = 500;
/** The greatest number of pages to read for names: a larger tenant has more users than take part in comments. */
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

  /** Users whose names begin with the prefix. */
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
