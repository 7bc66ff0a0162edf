import { describe, expect } from 'vitest';
import { ProjectPage } from './project-page';
import { test } from './test';
import { showsWhatTheApiHas } from './truth';

describe('a real tracker', () => {
  test('is sorted by several columns, one more with each Shift+click', async ({ visit, api }) => {
    const tracker = await ProjectPage.open(await visit(), 'tracker', 'columns=num:72!,name:320!,type:150,priority:150,updated:170');
    await tracker.sort('type');
    await tracker.sort('priority', { add: true });
    await tracker.sort('priority', { add: true });
    await tracker.head('priority').getByRole('button', { name: 'sorted descending, key 2' }).waitFor();
    await tracker.head('type').getByRole('button', { name: 'sorted ascending, key 1' }).waitFor();
    expect(tracker.view.get('sort')).toBe('type,-priority');
    const keys = [
      { field: 'type', direction: 'asc', nulls: 'last' },
      { field: 'priority', direction: 'desc', nulls: 'last' },
    ] as const;
    await showsWhatTheApiHas(tracker, api, { sort: [...keys] });
  });
});
