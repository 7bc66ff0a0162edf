/** Cells as spreadsheets exchange them: tab-separated text, and a table of HTML. Pure. */
import { guarded } from '../cells/guard';

export type Block = readonly (readonly string[])[];

/** Texts as lines to edit; one with a line break, or with a quote at its beginning, is in quotes. */
export function toLines(texts: readonly string[]): string {
  return joined(texts.map((text) => [text]), '\n');
}

export function fromLines(text: string): readonly string[] {
  return fromTsv(text).map((cells) => cells.join('\t'));
}

/** Text that spreadsheets split into the same cells again. */
export function toTsv(block: Block): string {
  return joined(block, '\r\n');
}

function joined(block: Block, lineEnd: string): string {
  const last = block.at(-1);
  const lines = block.map((row) => row.map(quoted).join('\t')).join(lineEnd);
  // A last row of one empty cell has no character of its own: only the end of its line shows it.
  return last?.length === 1 && last[0] === '' ? lines + lineEnd : lines;
}

/**
 * A table of HTML, which spreadsheets prefer. It is guarded like exports; the text is exact, for the page's own paste
 * and for editors.
 */
export function toHtml(block: Block): string {
  const rows = block.map((row) => `<tr>${row.map((cell) => `<td>${escaped(guarded(cell))}</td>`).join('')}</tr>`);
  return `<table>${rows.join('')}</table>`;
}

/** A table of Markdown, under a head. */
export function toMarkdown(head: readonly string[], block: Block): string {
  const line = (cells: readonly string[]) => `| ${cells.map(inTable).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...block.map(line)].join('\n');
}

function inTable(cell: string): string {
  return cell.replace(/[\\|]/g, '\\$&').replace(/\r?\n/g, '<br>');
}

/** The cells of a text that a spreadsheet or an editor has copied. A last line end is not one more row. */
export function fromTsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let place = 0;
  const cells = /"((?:[^"]|"")*)"(?=\t|\r?\n|$)|([^\t\r\n]*)/y;
  while (place < text.length) {
    cells.lastIndex = place;
    const [whole = '', quoted, plain = ''] = cells.exec(text) ?? [];
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    place += whole.length;
    if (text[place] === '\t') {
      place += 1;
      if (place < text.length) continue;
      row.push('');
    } else {
      place += text.startsWith('\r\n', place) ? 2 : 1;
    }
    rows.push(row);
    row = [];
  }
  return rows;
}

function quoted(cell: string): string {
  return /[\t\r\n]|^"/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function escaped(cell: string): string {
  return cell.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '<br>');
}
