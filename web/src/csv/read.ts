/** CSV as usual programs write it (RFC 4180, and semicolons or tabs), read piece by piece. Pure. */

/** A file is no CSV: quotes do not close, or text follows them. `line` counts from 1. */
export class MalformedError extends Error {
  constructor(readonly line: number) {
    super();
  }
}

const DELIMITERS = [',', ';', '\t'] as const;

export class CsvReader {
  private cells: string[] = [];
  private cell = '';
  private quoted = false;
  /** A quote was the last character within quotes. It ends them, or is the first of two that mean one. */
  private quoteSeen = false;
  private returnSeen = false;
  private line = 1;
  private openedAt = 1;
  private begun = false;

  constructor(private readonly delimiter: string) {}

  /** The rows that end in this piece of text. Throws a `MalformedError`. */
  push(text: string): string[][] {
    const rows: string[][] = [];
    const start = this.begun ? 0 : text.startsWith('\ufeff') ? 1 : 0;
    this.begun ||= text !== '';
    for (let at = start; at < text.length; at += 1) {
      const sign = text.charAt(at);
      const afterReturn = this.returnSeen;
      this.returnSeen = sign === '\r';
      if (sign === '\r' || (sign === '\n' && !afterReturn)) this.line += 1;
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
        if (sign !== this.delimiter && sign !== '\r' && sign !== '\n') throw new MalformedError(this.line);
      }
      if (sign === '"' && this.cell === '') {
        this.quoted = true;
        this.openedAt = this.line;
      } else if (sign === this.delimiter) this.endCell();
      else if (sign === '\r') rows.push(...this.endRow());
      else if (sign === '\n') {
        if (!afterReturn) rows.push(...this.endRow());
      } else this.cell += sign;
    }
    return rows;
  }

  /** The row that no line end follows. Throws a `MalformedError`. */
  end(): string[][] {
    if (this.quoted && !this.quoteSeen) throw new MalformedError(this.openedAt);
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

/** A file is no text in UTF-8, nor in UTF-16 with a byte order mark. */
export class EncodingError extends Error {}

/**
 * All rows of a file, in batches as they are read. Throws an `EncodingError` or a `MalformedError` rather than change a
 * character.
 */
export async function* rowsOf(file: Blob): AsyncGenerator<string[][]> {
  const head = new Uint8Array(await file.slice(0, 1 << 16).arrayBuffer());
  const encoding = encodingOf(head);
  const beginning = decoderOf(encoding)(head);
  // UTF-16 without a mark reads as UTF-8 with these. A value may have one, a head does not.
  if (beginning.split('\n', 1)[0]?.includes('\0')) throw new EncodingError();
  const reader = new CsvReader(delimiterOf(beginning));
  const decode = decoderOf(encoding);
  const pieces = file.stream().getReader();
  for (;;) {
    const { done, value } = await pieces.read();
    const rows = reader.push(decode(value));
    if (done) rows.push(...reader.end());
    if (rows.length) yield rows;
    if (done) return;
  }
}

/** The encoding that a byte order mark names, else UTF-8. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Decodes a text in pieces, which may end within a character. Undefined ends the text. */
function decoderOf(encoding: string): (piece: Uint8Array | undefined) => string {
  const decoder = new TextDecoder(encoding, { fatal: true });
  return (piece) => decoded(decoder, piece);
}

function decoded(decoder: TextDecoder, piece: Uint8Array | undefined): string {
  try {
    return decoder.decode(piece, { stream: piece !== undefined });
  } catch {
    throw new EncodingError();
  }
}
