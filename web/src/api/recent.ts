/**
 * The consistency tokens of the page's own writes, of issues that it read one by one, and of changes that it received.
 * The page's reads of the index carry them, so that they include these at once.
 */

const LIFETIME_MS = 60_000;

/** Issues that the tokens of one request may name. */
const MAX_ISSUES = 500;

/** API Gateway takes 10,240 bytes of headers, and the session's token is one of them. */
const MAX_CHARACTERS = 5_000;

interface Write {
  readonly project: string;
  readonly token: string;
  /** The greatest number of issues that the token names. */
  readonly issues: number;
  readonly until: number;
}

/** The length of a cursor of the changes, and how much longer it is at least for each issue ahead of the journal. */
const CURSOR_CHARACTERS = 60;
const ISSUE_CHARACTERS = 3;

export class RecentWrites {
  private writes: readonly Write[] = [];
  /** The cursor from which the page continues. Everything before it is already in what the page has read. */
  private place: Write | null = null;

  constructor(private readonly now: () => number = () => Date.now()) {}

  /** Keep the token that a write to this address, or a read of it, has answered. */
  keep(address: string, token: string, issues: number): void {
    const project = projectOf(address);
    if (project === null || MANY.test(address)) return;
    const now = this.now();
    const alive = this.writes.filter(({ until }) => until > now);
    this.writes = [{ project, token, issues, until: now + LIFETIME_MS }, ...alive];
  }

  /** Continue from a cursor of a project's changes, which can be used as a token. It replaces the one before. */
  continueFrom(project: string, cursor: string): void {
    const issues = Math.max(0, Math.ceil((cursor.length - CURSOR_CHARACTERS) / ISSUE_CHARACTERS));
    this.place = { project, token: cursor, issues, until: this.now() + LIFETIME_MS };
  }

  /**
   * The header of a read: the newest valid tokens of its project that fit. Null if there are none, or if the address is
   * not such a read.
   */
  headerOf(address: string): string | null {
    if (!READS.test(address)) return null;
    const project = projectOf(address);
    const now = this.now();
    const tokens: string[] = [];
    let issues = 0;
    let characters = 0;
    const place = this.place && PLACED.test(address) ? [this.place] : [];
    for (const write of [...this.writes, ...place]) {
      if (write.project !== project || write.until <= now) continue;
      issues += write.issues;
      characters += write.token.length + 1;
      if (issues > MAX_ISSUES || characters > MAX_CHARACTERS) break;
      tokens.push(write.token);
    }
    return tokens.length ? tokens.join(',') : null;
  }
}

/**
 * Reads from the index: pages, groups, summaries, positions and the issues of a job. An undo is one too, because it
 * waits until the history has these writes.
 */
const READS = /^\/v1\/projects\/[^/?]+\/(grid|groups|summary|undo|export|issues\/(\d+\/row-number|(update|delete)-matching))(\?|$)/;

/** The reads among them that must include everything before the cursor from which the page continues. */
const PLACED = /^\/v1\/projects\/[^/?]+\/(grid|groups|summary)(\?|$)/;

/**
 * Reads of many issues. Their tokens would make the next reads expensive, and the page receives the changes of others
 * anyway.
 */
const MANY = /^\/v1\/projects\/[^/?]+\/(grid|groups|summary|activity|trash|issues\/\d+\/(row-number|history))(\?|$)/;

function projectOf(address: string): string | null {
  return /^\/v1\/projects\/([^/?]+)\//.exec(address)?.[1] ?? null;
}
