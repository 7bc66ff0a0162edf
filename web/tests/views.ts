import type { SavedView } from '../src/api/types';

/** A view as the API returns it. */
export function saved(id: string, more: Partial<SavedView> = {}): SavedView {
  return {
    id,
    name: id,
    visibility: 'shared',
    query: { sort: [], filter: null },
    columns: null,
    groups: [],
    group_order: null,
    footers: [],
    color_by: null,
    kind: 'grid',
    board: null,
    rules: [],
    row_height: 32,
    place: 0,
    missing: [],
    remedies: [],
    manual_order: null,
    version: 1,
    created: '2023-05-01T12:00:00Z',
    updated: '2023-05-01T12:00:00Z',
    created_by: 'ann',
    updated_by: 'ann',
    ...more,
  };
}
