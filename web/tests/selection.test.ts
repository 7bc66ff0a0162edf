import { describe, expect, it } from 'vitest';
import { fromLines, fromTsv, toHtml, toLines, toMarkdown, toTsv } from '../src/selection/clipboard';
import {
  at,
  cellsIn,
  everything,
  extended,
  filledTo,
  joinedOf,
  rectangleOf,
  rectanglesOf,
  rowCount,
  rowsOf,
  sourceOf,
  wholeColumns,
  wholeRows,
  withCell,
  withColumns,
  withRows,
  type Rectangle,
  type Selection,
} from '../src/selection/range';

const SIZE = { rows: 100, columns: 5 };
const cell = (row: number, column: number) => ({ row, column });

describe('a range', () => {
  it('reaches from its anchor in every direction, and ends at the edge', () => {
    const up = extended(extended(at(cell(1, 1)), 'up', SIZE), 'left', SIZE);
    expect(rectangleOf(up)).toEqual({ top: 0, bottom: 1, left: 0, right: 1 });
    expect(cellsIn([rectangleOf(up)])).toBe(4);
    expect(extended(up, 'up', SIZE)).toEqual(up);
    expect(extended(up, 'down', SIZE, true).reach).toEqual(cell(99, 0));
    expect(extended(at(cell(3, 3)), 'right', SIZE, true).reach).toEqual(cell(3, 4));
  });

  it('can be whole rows, or all cells', () => {
    expect(rectangleOf(wholeRows(at(cell(7, 2)), SIZE))).toEqual({ top: 7, bottom: 7, left: 0, right: 4 });
    expect(cellsIn([rectangleOf(everything(SIZE))])).toBe(500);
  });
});

describe('several ranges', () => {
  const range = (top: number, bottom: number, left: number, right = left): Rectangle => ({ top, bottom, left, right });
  const two = withCell(extended(at(cell(4, 1)), 'down', SIZE), cell(1, 3));

  it('begin one after the other, and only the latest is extended', () => {
    expect(rectanglesOf(two)).toEqual([range(4, 5, 1), range(1, 1, 3)]);
    expect(rectanglesOf(extended(two, 'right', SIZE))).toEqual([range(4, 5, 1), range(1, 1, 3, 4)]);
    expect(rectanglesOf(wholeRows(two, SIZE))).toEqual([range(4, 5, 1), range(1, 1, 0, 4)]);
    expect(rectanglesOf(wholeColumns(two, SIZE))).toEqual([range(4, 5, 1), range(0, 99, 3)]);
    expect(rectanglesOf(withCell(two, cell(9, 0)))).toHaveLength(3);
    expect(rectanglesOf(at(cell(9, 0)))).toEqual([range(9, 9, 0)]);
  });

  it('move with their rows', () => {
    expect(rectanglesOf(withRows(two, (row) => row + 2))).toEqual([range(6, 7, 1), range(3, 3, 3)]);
    expect(withRows(at(cell(1, 1)), (row) => row)).toEqual(at(cell(1, 1)));
  });

  describe('when columns move or are hidden', () => {
    const before = ['a', 'b', 'c', 'd'];
    const now = (selection: Selection, ...fields: string[]) => withColumns(selection, before, fields);
    const over = (from: number, to: number): Selection => ({ anchor: cell(5, from), reach: cell(7, to) });

    it('stay on their fields', () => {
      expect(now(at(cell(5, 1)), 'a', 'c', 'b', 'd')).toEqual(at(cell(5, 2)));
      expect(now(at(cell(5, 2)), 'b', 'c', 'd')).toEqual(at(cell(5, 1)));
      expect(now(over(1, 2), 'x', 'a', 'b', 'c', 'd')).toEqual(over(2, 3));
      expect(now(over(2, 1), 'b', 'c', 'd')).toEqual(over(1, 0));
      expect(now(over(1, 2), 'a', 'c', 'b', 'd')).toEqual(over(2, 1));
      expect(now(over(0, 2), 'a', 'c', 'd')).toEqual(over(0, 1));
      expect(rectanglesOf(now(withCell(over(0, 1), cell(9, 3)), 'd', 'a', 'b'))).toEqual([range(5, 7, 1, 2), range(9, 9, 0)]);
    });

    it('keep only the column of the anchor if other columns come between them, or it is no longer at an edge', () => {
      expect(now(over(1, 2), 'a', 'b', 'd', 'c')).toEqual(over(1, 1));
      expect(now(over(0, 2), 'b', 'a', 'c', 'd')).toEqual(over(1, 1));
      expect(rectanglesOf(now(withCell(over(0, 1), cell(9, 3)), 'a', 'd', 'b'))).toEqual([range(9, 9, 1)]);
    });

    it('leave a cell if the column of the anchor is hidden', () => {
      expect(now(over(3, 2), 'a', 'b', 'c')).toEqual(at(cell(5, 2)));
      expect(now(over(0, 2), 'b', 'c', 'd')).toEqual(at(cell(5, 0)));
    });

    it('are the same if no column has moved', () => {
      const selection = over(1, 2);
      expect(now(selection, ...before)).toBe(selection);
    });
  });

  it('count each cell and each row once', () => {
    expect(cellsIn([])).toBe(0);
    expect(cellsIn([range(0, 2, 0, 2), range(2, 4, 2, 4), range(1, 1, 1)])).toBe(17);
    expect(rowsOf([range(7, 9, 0), range(0, 2, 1), range(3, 3, 0), range(8, 8, 4)])).toEqual([{ first: 0, last: 3 }, { first: 7, last: 9 }]);
    expect(rowCount(rowsOf([range(0, 2, 0), range(1, 5, 3)]))).toBe(6);
  });

  it('are one block if all have the same rows, or the same columns', () => {
    expect(joinedOf([range(1, 3, 4), range(1, 3, 0, 1)])).toEqual({ rows: [{ first: 1, last: 3 }], columns: [0, 1, 4] });
    expect(joinedOf([range(8, 9, 1, 2), range(1, 1, 1, 2)])).toEqual({ rows: [{ first: 1, last: 1 }, { first: 8, last: 9 }], columns: [1, 2] });
    expect(joinedOf([range(1, 3, 4), range(1, 2, 0)])).toBeNull();
    expect(joinedOf([])).toBeNull();
  });
});

describe('a fill', () => {
  const source: Rectangle = { top: 2, bottom: 3, left: 1, right: 1 };

  it('goes in the direction of the longest drag', () => {
    expect(filledTo(source, cell(9, 2))).toEqual({ ...source, bottom: 9 });
    expect(filledTo(source, cell(0, 1))).toEqual({ ...source, top: 0 });
    expect(filledTo(source, cell(4, 4))).toEqual({ ...source, right: 4 });
    expect(filledTo(source, cell(2, 1))).toEqual(source);
  });

  it('repeats the source downwards and upwards', () => {
    expect([4, 5, 6, 1, 0].map((row) => sourceOf(source, cell(row, 1)).row)).toEqual([2, 3, 2, 3, 2]);
  });
});

describe('the clipboard', () => {
  const block = [
    ['a', 'tab\there', 'two\nlines'],
    ['"quoted" text', '', 'plain "inner"'],
  ];

  it('reads the cells that it wrote', () => {
    expect(fromTsv(toTsv(block))).toEqual(block);
  });

  it('reads any small table that it wrote, also one that ends with an empty cell', () => {
    const cells = ['', 'a', '"', '"a"', 'a"', '\n', '\r\n', '\r', '\t', '"\t', 'a\n'];
    const rowsOf = (width: number): string[][] => (width ? cells.flatMap((cell) => rowsOf(width - 1).map((row) => [cell, ...row])) : [[]]);
    for (const width of [1, 2]) {
      const rows = rowsOf(width);
      for (const first of rows) {
        expect(fromTsv(toTsv([first]))).toEqual([first]);
        for (const second of rows) {
          // `toEqual` is slow, and there are thousands of them.
          if (JSON.stringify(fromTsv(toTsv([first, second]))) !== JSON.stringify([first, second])) expect(fromTsv(toTsv([first, second]))).toEqual([first, second]);
        }
      }
    }
    for (const texts of [...rowsOf(1), ...rowsOf(2), ...rowsOf(3)]) expect(fromLines(toLines(texts))).toEqual(texts);
  });

  it('reads the formats of spreadsheets', () => {
    expect(fromTsv('1\t2\r\n3\t4\r\n')).toEqual([['1', '2'], ['3', '4']]);
    expect(fromTsv('a\n\nb')).toEqual([['a'], [''], ['b']]);
    expect(fromTsv('a\t')).toEqual([['a', '']]);
    expect(fromTsv('"open\tb')).toEqual([['"open', 'b']]);
    expect(fromTsv('')).toEqual([]);
  });

  it('writes no formula for spreadsheets, and the exact text for the page and editors', () => {
    const formulas = [['=1+1', 'a\n=2+5', '-5']];
    expect(toHtml(formulas)).toBe("<table><tr><td>'=1+1</td><td>a<br>'=2+5</td><td>-5</td></tr></table>");
    expect(fromTsv(toTsv(formulas))).toEqual(formulas);
  });

  it('writes a table of Markdown that keeps its cells', () => {
    expect(toMarkdown(['A', 'B|C'], [['1', 'two\nlines'], ['a|b', 'back\\slash']])).toBe('| A | B\\|C |\n| --- | --- |\n| 1 | two<br>lines |\n| a\\|b | back\\\\slash |');
  });

  it('escapes HTML', () => {
    expect(toHtml([['<b> & c']])).toBe('<table><tr><td>&lt;b&gt; &amp; c</td></tr></table>');
  });
});
