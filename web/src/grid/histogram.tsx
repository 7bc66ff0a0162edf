/** A small histogram at the end of a column's menu. A bar filters by its values. */
import { useState } from 'preact/hooks';
import { formatValue } from '../cells/format';
import type { Field } from '../fields/fields';
import type { HistogramState } from '../project/histogram';
import { reasonOf } from '../ui/refusal';
import type { Bar } from '../view/histogram';
import { words } from '../words';
import { labelOf } from './group-label';

interface HistogramProps {
  readonly field: Field;
  readonly state: HistogramState;
  readonly onChoose: (bar: Bar) => void;
}

export function HistogramBars({ field, state, onChoose }: HistogramProps) {
  const [pointed, setPointed] = useState<string | null>(null);
  if (state.kind !== 'ready') {
    return (
      <div class="histogram">
        <span class={state.kind === 'failed' ? 'bad' : 'soft'}>{textOf(state)}</span>
      </div>
    );
  }
  const { bars, key, least, greatest } = state;
  const most = Math.max(...bars.map((bar) => bar?.count ?? 0));
  const range = [least, greatest].map((value) => formatValue(field, value));
  return (
    <div class="histogram">
      <div class="bars" onKeyDown={walkAcross} onMouseLeave={() => setPointed(null)}>
        {bars.map((bar, at) => {
          if (bar === null) return <span key={at} class="bar-gap" />;
          const label = words.histogram.bar(labelOf(bar.value, field, key.unit), bar.count);
          const show = () => setPointed(label);
          return (
            <button
              key={at}
              type="button"
              class="bar"
              role="menuitem"
              aria-label={label}
              disabled={bar.filter === null}
              onClick={() => onChoose(bar)}
              onMouseEnter={show}
              onFocus={show}
              onBlur={() => setPointed(null)}
            >
              <span style={{ height: `${(100 * bar.count) / most}%` }} />
            </button>
          );
        })}
      </div>
      <span class="histogram-text">{pointed ?? words.range.between(range[0] ?? '', range[1] ?? '')}</span>
    </div>
  );
}

/** The text in place of bars. */
function textOf(state: Exclude<HistogramState, { kind: 'ready' }>): string {
  switch (state.kind) {
    case 'loading':
      return words.loading;
    case 'empty':
      return words.histogram.none;
    case 'tooMany':
      return words.histogram.tooMany;
    case 'failed':
      return reasonOf(state.error);
  }
}

/** The state of a histogram for screen readers. */
export function announcementOf(state: HistogramState): string {
  return state.kind === 'ready' ? words.histogram.drawn(state.bars.filter(Boolean).length) : textOf(state);
}

/** The arrow keys to the left and right go from bar to bar. */
function walkAcross(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (!step) return;
  const bars = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button:enabled')];
  const at = bars.findIndex((bar) => bar === document.activeElement);
  bars[(at + step + bars.length) % bars.length]?.focus();
  event.preventDefault();
}
