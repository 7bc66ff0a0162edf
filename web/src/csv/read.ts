/** CSV as usual programs write it (RFC 4180, and semicolons or tabs), read piece by piece. Pure. */

const DELIMITERS = [',', ';', '\t'] as const;

export class CsvReader {
  private cells: string[] = [];
  private cell = '';
  private quoted = false;
  /** A quote was the last character within quotes. It ends them, or is the first of two that mean one. */
  private quoteSeen = false;
  private returnSeen = false;
  private begun = false;

  constructor(private readonly delimiter: string) {}

  /** The rows that end in this piece of text. */
  push(text: string): string[][] {
    const rows: string[][] = [];
    const start = this.begun ? 0 : text.startsWith('\ufeff') ? 1 : 0;
    this.begun ||= text !== '';
    for (let at = start; at < text.length; at += 1) {
      const sign = text.charAt(at);
      const afterReturn = this.returnSeen;
      this.returnSeen = false;
      if (this.quoted && !this.quoteSeen) {
        if (sign === '"') this.quoteSeen = true;
        else this.cell += sign;
        continue;
      }
      if (this.quoteSeen) {
        this.quoteSeen = false;
        if (sign === '"') {
          this.cell += sign;
          continue;
        }
        this.quoted = false;
      }
      if (sign === '"' && this.cell === '') this.quoted = true;
      else if (sign === this.delimiter) this.endCell();
      else if (sign === '\r') {
        this.returnSeen = true;
        rows.push(...this.endRow());
      } else if (sign === '\n') {
        if (!afterReturn) rows.push(...this.endRow());
      } else this.cell += sign;
    }
    return rows;
  }

  /** The row that no line end follows. */
  end(): string[][] {
    return this.cell || this.cells.length ? this.endRow() : [];
  }

  private endCell(): void {
    this.cells.push(this.cell);
    this.cell = '';
  }

  private endRow(): string[][] {
    this.endCell();
    const row = this.cells;
    this.cells = [];
    // An empty line is no row.
    return row.length === 1 && row[0] === '' ? [] : [row];
  }
}

/** The sign that divides the cells of a first line: the most frequent outside quotes. */
export function delimiterOf(text: string): string {
  const line = (/^(?:"(?:[^"]|"")*"|[^\r\n"])*/.exec(text)?.[0] ?? '').replace(/"(?:[^"]|"")*"/g, '');
  const counts = DELIMITERS.map((sign) => line.split(sign).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** All rows of a file, in batches as they are read. */
export async function* rowsOf(file: Blob): AsyncGenerator<string[][]> {
  const delimiter = delimiterOf(await file.slice(0, 1 << 16).text());
  const reader = new CsvReader(delimiter);
  const decoder = new TextDecoder();
  const pieces = file.stream().getReader();
  for (;;) {
    const { done, value } = await pieces.read();
    const rows = done ? [...reader.push(decoder.decode()), ...reader.end()] : reader.push(decoder.decode(value, { stream: true }));
    if (rows.length) yield rows;
    if (done) return;
  }
}
