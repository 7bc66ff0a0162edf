/**
 * The place from which the page follows a project. Pure.
 *
 * Each answer has a cursor; it counts exactly the changes before this (docs/live.md#from-a-grid-on). Parts that are
 * shown together are requested together: a reading. The feed continues from the cursor of its first answer.
 *
 * Answers that count the same changes have the same cursor. One with another cursor is compared by the changes after
 * its own.
 */

/** A part of a view that an answer contains: the places and number of rows, or the figures of groups and columns. */
export type Part = 'places' | 'figures';

/** A step to take after an answer. */
export type Step =
  /**
   * Let the feed continue from here. Null if the changes that the answer counts are unknown: it then continues from its
   * place, or starts now.
   */
  | { readonly do: 'follow'; readonly from: string | null }
  /** It counts other changes than the answer from which the feed continues: look at the changes after it. */
  | { readonly do: 'compare'; readonly part: Part; readonly since: string }
  /** The changes that it counts are unknown. */
  | { readonly do: 'reread'; readonly part: Part };

/** Takes the cursor of an answer. */
export type Answered = (changes: string | null) => readonly Step[];

interface Answer {
  readonly part: Part;
  readonly changes: string | null;
}

export class Reading {
  /** Undefined until the first answer. */
  private beginning: string | null | undefined;
  /** Answers that are not shown yet. */
  private waiting: Answer[] | null;

  /**
   * `isHeld`: its answers are shown in one step, with a call of `shown`. The older answers on the screen until then are
   * followed from the feed's place.
   */
  constructor(isHeld = false) {
    this.waiting = isHeld ? [] : null;
  }

  /** A part is requested now. A request after the feed continued from this reading receives all changes. */
  requested(part: Part): Answered {
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
    // Without a beginning the feed skips nothing, and a feed that has just started reads everything again.
    if (this.beginning === null || changes === this.beginning) return [];
    return [changes === null ? { do: 'reread', part } : { do: 'compare', part, since: changes }];
  }
}
