import { describe, expect } from 'vitest';
import { ProjectPage } from './project-page';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';

const DUE = { field: 'due', direction: 'desc', nulls: 'last' } as const;

describe('the grid', () => {
  test('jumps anywhere with the scroll bar, and shows there what the API has', async ({ visit, api }) => {
    const demo = await ProjectPage.open(await visit(), 'demo', 'sort=-due');
    await demo.counts('2,000 issues');
    for (const [part, first, last] of [
      [0, 0, 0],
      [0.5, 800, 1200],
      [1, 1970, 1999],
    ] as const) {
      if (part) await demo.dragScrollBar(part);
      const [top] = await showsWhatTheApiHas(demo, api, { sort: [DUE] });
      expect(top?.at).toBeGreaterThanOrEqual(first);
      expect(top?.at).toBeLessThanOrEqual(last);
      // The columns at the right are drawn when they come into view.
      await demo.scrollSideways(9_999);
      await demo.head('Updated').waitFor();
      await showsWhatTheApiHas(demo, api, { sort: [DUE] });
      await demo.scrollSideways(-9_999);
      await demo.head('State').waitFor();
    }
    expect((await demo.rows()).at(-1)?.at).toBe(1_999);
  });
});

describe('the filter', () => {
  test('takes another condition', async ({ visit }) => {
    const demo = await ProjectPage.open(await visit(), 'demo');
    const panel = await demo.open('Filter');
    await panel.getByRole('button', { name: 'Condition', exact: true }).click();
    await expect.poll(() => panel.getByLabel('Field', { exact: true }).count()).toBe(2);
  });
});
