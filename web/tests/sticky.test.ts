import { describe, expect, it } from 'vitest';
import { layoutOfGroups, type CountedGroup } from '../src/rows/groups';
import { Layout } from '../src/rows/layout';
import { headsAbove, stickyHeads } from '../src/rows/sticky';
import { headRoom } from '../src/grid/head-room';

const group = (count: number, ...values: string[]): CountedGroup => ({ values, count, filter: { field: 'state', op: 'eq', value: values.join() }, figures: [] });

/**
 * Rows 0, 1, 7, 11 and 12 are the heads open, open/High, open/Low, closed and closed/High. The issues of the innermost
 * groups follow their heads. Row 15 is an issue that was added here.
 */
const inner = layoutOfGroups(
  [
    [group(8, 'open'), group(2, 'closed')],
    [group(5, 'open', 'High'), group(3, 'open', 'Low'), group(2, 'closed', 'High')],
  ],
  ['state', 'priority'],
  new Set(),
);
const layout = new Layout([...inner.pieces, { kind: 'run', run: { key: 'added', filter: null, count: 1 } }]);
const at = (top: number, max = 3) => stickyHeads(layout, top, max).map(({ group: { values }, row, top: place }) => `${values.map(String).join('/')} of ${row} at ${place}`);

describe('the heads over a row', () => {
  it('are those of its groups, with the ends of these', () => {
    const over = (row: number) => layout.headsOver(row).map(({ group: { values }, row: own, end }) => `${values.map(String).join('/')} ${own} to ${end}`);
    expect(over(0)).toEqual(['open 0 to 11']);
    expect(over(1)).toEqual(['open 0 to 11', 'open/High 1 to 7']);
    expect(over(9)).toEqual(['open 0 to 11', 'open/Low 7 to 11']);
    expect(over(14)).toEqual(['closed 11 to 15', 'closed/High 12 to 15']);
    expect(over(15)).toEqual([]);
    expect(over(16)).toEqual([]);
    expect(Layout.ofOneRun(null, 5).headsOver(2)).toEqual([]);
  });
});

describe('sticky heads', () => {
  it('are none while all heads are in their places', () => {
    expect(at(0)).toEqual([]);
    expect(stickyHeads(Layout.ofOneRun(null, 50), 20.5, 3)).toEqual([]);
  });

  it('are both levels of the rows at the top', () => {
    expect(at(0.5)).toEqual(['open of 0 at 0', 'open/High of 1 at 1']);
    expect(at(4)).toEqual(['open of 0 at 0', 'open/High of 1 at 1']);
    expect(at(8.25)).toEqual(['open of 0 at 0', 'open/Low of 7 at 1']);
  });

  it('are pushed away by the next head', () => {
    // The head in row 7 begins to push the inner one when it is at 2.
    expect(at(5)).toEqual(['open of 0 at 0', 'open/High of 1 at 1']);
    expect(at(5.25)).toEqual(['open of 0 at 0', 'open/High of 1 at 0.75']);
    expect(at(6)).toEqual(['open of 0 at 0']);
    // Then the head in row 11 pushes both.
    expect(at(9.5)).toEqual(['open of 0 at 0', 'open/Low of 7 at 0.5']);
    expect(at(10.5)).toEqual(['open of 0 at -0.5']);
    expect(at(11)).toEqual([]);
  });

  it('are at most some, from the outermost on', () => {
    expect(at(4, 1)).toEqual(['open of 0 at 0']);
  });

  it('are not over rows that are in no group', () => {
    expect(at(15)).toEqual([]);
  });

  it('are not those of closed groups', () => {
    const closed = layoutOfGroups([[group(8, 'open'), group(2, 'closed')]], ['state'], new Set(['open', 'closed']));
    expect(stickyHeads(closed, 0.5, 3)).toEqual([]);
  });

  it('cover rows above a row only with the heads of its own groups', () => {
    expect([0, 1, 2, 7, 8, 11, 12, 13, 15].map((row) => headsAbove(layout, row, 3))).toEqual([0, 1, 2, 1, 2, 0, 1, 2, 0]);
    expect(headsAbove(layout, 13, 1)).toBe(1);
    for (let row = 0; row < layout.length; row += 1) {
      const top = row - headsAbove(layout, row, 3);
      expect(Math.max(0, ...stickyHeads(layout, top, 3).map((head) => head.top + 1))).toBeLessThanOrEqual(row - top);
    }
  });
});

describe('the room of a label', () => {
  const columns = [
    { field: 'num', width: 70 },
    { field: 'name', width: 300 },
    { field: 'cost', width: 120 },
    { field: 'weight', width: 120 },
  ];
  const room = (figures: readonly string[], width = 1200) => {
    const { room: pixels, listed } = headRoom(columns, figures.map((field) => ({ field })), 68, width);
    return [pixels, ...listed];
  };

  it('ends at the first figure that leaves enough of it', () => {
    expect(room(['cost', 'weight'])).toEqual([438]);
    expect(room(['weight'])).toEqual([558]);
    expect(room(['num', 'weight'])).toEqual([558, 'num']);
  });

  it('is the whole width without figures, and never so much that figures have none', () => {
    expect(room([])).toEqual([1200]);
    expect(room(['cost'], 600)).toEqual([300]);
    expect(room(['cost'], 360)).toEqual([220]);
  });

  it('has the figures of hidden columns', () => {
    expect(room(['height'])).toEqual([1200, 'height']);
  });
});
