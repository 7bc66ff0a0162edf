/** The consistency tokens of the page's own writes, of single issues that it has read and of changes that it was told. Its reads of the index carry them, so that they show these at once. */

const LIFETIME_MS = 60_000;

/** Issues that the tokens of one request may name. */
const MAX_ISSUES = 500;

/** API Gateway takes 10,240 bytes of headers, and the session's token is one of them. */
const MAX_CHARACTERS = 5_000;

interface Write {
  readonly project: string;
  readonly token: string;
  /** How many issues the token names, at most. */
  readonly issues: number;
  readonly until: number;
}

/** A cursor of the changes has so many characters, and at least so many more for each issue that it has ahead of the journal. */
const CURSOR_CHARACTERS = 60;
const ISSUE_CHARACTERS = 3;

export class RecentWrites {
  private writes: readonly Write[] = [];
  /** The cursor from which the page goes on: what it has read counts all in front of that. */
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

  /** The page goes on from a cursor of a project's changes, which stands where a token may. It takes the place of the one before. */
  goOn(project: string, cursor: string): void {
    const issues = Math.max(0, Math.ceil((cursor.length - CURSOR_CHARACTERS) / ISSUE_CHARACTERS));
    this.place = { project, token: cursor, issues, until: this.now() + LIFETIME_MS };
  }

  /** The header of a read: the newest tokens of its project that are good and fit; null where there are none, or it is no such read. */
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
 * What the index answers: pages, groups, summaries and positions, and which issues a job takes; and an undo, which begins when the history has told
 * of these writes.
 */
const READS = /^\/v1\/projects\/[^/?]+\/(grid|groups|summary|undo|export|issues\/(\d+\/position|(update|delete)-matching))(\?|$)/;

/** The reads among them that nobody may answer from before the place from which the page goes on. */
const PLACED = /^\/v1\/projects\/[^/?]+\/(grid|groups|summary)(\?|$)/;

/** Reads of many issues. Their tokens would make the next ones dear, and the page hears of what others change. */
const MANY = /^\/v1\/projects\/[^/?]+\/(grid|groups|summary|activity|trash|issues\/\d+\/(position|history))(\?|$)/;

function projectOf(address: string): string | null {
  return /^\/v1\/projects\/([^/?]+)\//.exec(address)?.[1] ?? null;
}
