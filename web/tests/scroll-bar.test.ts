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
let events: { bar: number; rows: number };
/** The element to which the library listens; it moves the other. */
let leads: Element | null;
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  [bar, rows] = [new Element(), new Element()];
  events = { bar: 0, rows: 0 };
  leads = null;
  bar.addEventListener('scroll', () => {
    events.bar++;
    if (leads !== rows) rows.scrollTop = bar.scrollTop;
  });
  rows.addEventListener('scroll', () => {
    events.rows++;
    if (leads !== bar) bar.scrollTop = rows.scrollTop;
  });
  stop = keepTogether(bar, rows);
});

afterEach(() => {
  stop();
  vi.useRealTimers();
});

it('the rows follow a bar whose last event was dropped, after both rest', () => {
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

it('no event is repeated if both are together, or while either scrolls', () => {
  bar.scroll(500);
  vi.advanceTimersByTime(1_000);
  expect(events).toEqual({ bar: 1, rows: 0 });
  leads = rows;
  for (let to = 0; to < 10; to++) {
    bar.scroll(to);
    vi.advanceTimersByTime(200);
  }
  expect(rows.scrollTop).toBe(500);
  expect(events.bar).toBe(11);
});

it('an event is repeated only once if the two do not come together', () => {
  leads = rows;
  bar.scroll(500);
  vi.advanceTimersByTime(10_000);
  expect(events).toEqual({ bar: 2, rows: 0 });
});

it('no event is repeated after the end', () => {
  leads = rows;
  bar.scroll(500);
  stop();
  vi.advanceTimersByTime(1_000);
  expect(events.bar).toBe(1);
});
