/**
 * From where the page follows a project. Pure.
 *
 * Each answer has a cursor in front of which is exactly what it counts (docs/live.md#from-a-grid-on). What is shown together was asked for together: a reading. The feed goes on from the
 * cursor of its first answer. Answers that count the same have the same cursor; one of another age is compared, by what is behind its own.
 */

/** What of a view an answer holds: where rows stand and how many there are, or the figures of groups and below the columns. */
export type Part = 'places' | 'figures';

/** What is to be done about an answer. */
export type Step =
  /** The feed goes on from here. Null: nobody can tell what the answer counts; then it goes on from where it is, or begins now. */
  | { readonly do: 'follow'; readonly from: string | null }
  /** It counts something else than the answer from which the feed goes on: look what is behind it. */
  | { readonly do: 'compare'; readonly part: Part; readonly since: string }
  /** Nobody can tell what it counts. */
  | { readonly do: 'reread'; readonly part: Part };

/** Takes the cursor of an answer. */
export type Answered = (changes: string | null) => readonly Step[];

interface Answer {
  readonly part: Part;
  readonly changes: string | null;
}

export class Reading {
  /** Undefined until the first answer is there. */
  private beginning: string | null | undefined;
  /** Answers that are not shown yet. */
  private waiting: Answer[] | null;

  /** `isHeld`: its answers are shown in one step, which `shown` tells of. What is shown until then is older, and is followed from where the feed is. */
  constructor(isHeld = false) {
    this.waiting = isHeld ? [] : null;
  }

  /** A part is asked for now. What is asked for when the feed has begun to go on from this reading hears of all that is told. */
  asks(part: Part): Answered {
    if (this.beginning !== undefined) return () => [];
    return (changes) => {
      if (!this.waiting) return this.stepsOf({ part, changes });
      this.waiting.push({ part, changes });
      return [];
    };
  }

  shown(): readonly Step[] {
    const answers = this.waiting ?? [];
    this.waiting = null;
    return answers.flatMap((answer) => this.stepsOf(answer));
  }

  private stepsOf({ part, changes }: Answer): readonly Step[] {
    if (this.beginning === undefined) {
      this.beginning = changes;
      return [{ do: 'follow', from: changes }];
    }
    // Without a beginning the feed skips nothing, and who has just begun reads everything anew.
    if (this.beginning === null || changes === this.beginning) return [];
    return [changes === null ? { do: 'reread', part } : { do: 'compare', part, since: changes }];
  }
}
