import { describe, expect, it } from 'vitest';
import { placeOf } from '../src/place';

const WINDOW = { width: 360, height: 740 };
const anchor = (left: number, top: number, height = 28) => ({ left, top, bottom: top + height });

describe('a panel beside an anchor', () => {
  it('is below the anchor and aligned with it, if it fits', () => {
    expect(placeOf(anchor(20, 40), { width: 200, height: 300 }, WINDOW)).toEqual({ left: 20, top: 72, maxHeight: 660 });
  });

  it('is above an anchor at the lower edge, no higher than the space there', () => {
    expect(placeOf(anchor(20, 700), { width: 200, height: 300 }, WINDOW)).toMatchObject({ top: 396, maxHeight: 688 });
    expect(placeOf(anchor(20, 400), { width: 200, height: 900 }, WINDOW)).toMatchObject({ top: 8, maxHeight: 388 });
  });

  it('is inside the window, wherever the anchor is and however large it is', () => {
    for (const window of [WINDOW, { width: 1280, height: 800 }, { width: 800, height: 160 }])
      for (const left of [-400, 0, 150, 355, 5_000])
        for (const top of [-900, -10, 0, 60, 200, 730, 3_000])
          for (const tall of [0, 28, 600])
            for (const height of [20, 119, 300, 5_000]) {
              const width = Math.min(340, window.width - 16);
              const place = placeOf(anchor(left, top, tall), { width, height }, window);
              const bottom = place.top + Math.min(height, place.maxHeight);
              expect(place.left >= 8 && place.left + width <= window.width - 8, JSON.stringify({ left, top, tall, height, place })).toBe(true);
              expect(place.top >= 8 && bottom <= window.height - 8, JSON.stringify({ left, top, tall, height, place })).toBe(true);
              expect(place.maxHeight).toBeGreaterThanOrEqual(Math.min(120, window.height - 16));
            }
  });
});
