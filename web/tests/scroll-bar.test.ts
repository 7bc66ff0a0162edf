import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepTogether } from '../src/grid/ag/scroll-bar';

/** A scrolling element that reports its scrolls. */
class Element extends EventTarget {
  scrollTop = 0;

  scroll(to: number): void {
    this.scrollTop = to;
    this.dispatchEvent(new Event('scroll'));
  }
}

let bar: Element;
let rows: Element;
/** How many scrolls of each the library received. */
let told: { bar: number; rows: number };
/** The element to which the library listens; it moves the other. */
let leads: Element | null;
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  [bar, rows] = [new Element(), new Element()];
  told = { bar: 0, rows: 0 };
  leads = null;
  bar.addEventListener('scroll', () => {
    told.bar++;
    if (leads !== rows) rows.scrollTop = bar.scrollTop;
  });
  rows.addEventListener('scroll', () => {
    told.rows++;
    if (leads !== bar) bar.scrollTop = rows.scrollTop;
  });
  stop = keepTogether(bar, rows);
});

afterEach(() => {
  stop();
  vi.useRealTimers();
});

it('the rows follow a bar whose last event was dropped, once nobody leads', () => {
  leads = rows;
  bar.scroll(500);
  leads = null;
  vi.advanceTimersByTime(240);
  expect(rows.scrollTop).toBe(0);
  vi.advanceTimersByTime(20);
  expect([bar.scrollTop, rows.scrollTop]).toEqual([500, 500]);
});

it('the bar follows rows whose last event was dropped', () => {
  bar.scroll(500);
  leads = bar;
  rows.scroll(700);
  leads = null;
  vi.advanceTimersByTime(260);
  expect([bar.scrollTop, rows.scrollTop]).toEqual([700, 700]);
});

it('nothing is told again where both are together, or while anything scrolls', () => {
  bar.scroll(500);
  vi.advanceTimersByTime(1_000);
  expect(told).toEqual({ bar: 1, rows: 0 });
  leads = rows;
  for (let to = 0; to < 10; to++) {
    bar.scroll(to);
    vi.advanceTimersByTime(200);
  }
  expect(rows.scrollTop).toBe(500);
  expect(told.bar).toBe(11);
});

it('what does not come together is told again once, and not for ever', () => {
  leads = rows;
  bar.scroll(500);
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual({ bar: 2, rows: 0 });
});

it('nothing is told any more after the end', () => {
  leads = rows;
  bar.scroll(500);
  stop();
  vi.advanceTimersByTime(1_000);
  expect(told.bar).toBe(1);
});
