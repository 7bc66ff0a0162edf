import { describe, expect, it, vi } from 'vitest';
import { Panels, type Drawer } from '../src/project/panels';

const BULK: Drawer = { kind: 'bulk', scope: 'all', edit: 'set', field: 'cost' };
const OTHERS: readonly Drawer[] = [{ kind: 'issue', num: 1 }, { kind: 'explain' }, { kind: 'refused' }, { ...BULK, field: 'city' }, { ...BULK, edit: 'replace', find: 'a' }];

describe('a panel with something unsaved', () => {
  it('is asked about before any other panel takes its place', () => {
    for (const other of OTHERS) {
      const mayDiscard = vi.fn().mockReturnValueOnce(false).mockReturnValueOnce(true);
      const panels = new Panels(undefined, undefined, mayDiscard);
      expect(panels.open(BULK)).toBe(true);
      expect(mayDiscard).not.toHaveBeenCalled();
      expect([panels.open(other), panels.drawer.value]).toEqual([false, BULK]);
      expect([panels.open(other), panels.drawer.value]).toEqual([true, other]);
    }
  });

  it('stays without a question if the user asks for the same form', () => {
    const mayDiscard = vi.fn();
    const panels = new Panels(undefined, undefined, mayDiscard);
    panels.open(BULK);
    expect(panels.open({ ...BULK })).toBe(true);
    expect(mayDiscard).not.toHaveBeenCalled();
  });

  it('closes at its own button, which has asked', () => {
    const panels = new Panels(undefined, undefined, () => false);
    panels.open(BULK);
    panels.close();
    expect(panels.drawer.value).toBeNull();
  });
});
