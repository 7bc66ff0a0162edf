/** The issues for which the editor of a formula shows values: the first ones in view. */
import { isDraft, valueOf, type Row } from '../fields/values';

export interface SampleRow {
  readonly num: number;
  readonly name: string;
}

const SAMPLE = 5;

export function sampleOf(rows: readonly Row[]): readonly SampleRow[] {
  return rows
    .filter(({ num }) => !isDraft(num))
    .slice(0, SAMPLE)
    .map((row) => ({ num: row.num, name: String(valueOf(row, 'name') ?? '') }));
}
