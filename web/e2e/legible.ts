/**
 * Finds illegible buttons: the contrast of their texts and icons, from the colors that the browser computes, in each
 * state of a button.
 */
import type { CDPSession, Locator, Page } from 'playwright-core';

/** By the name of a state: the pseudo-classes that are forced on a button in it. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  rest: [],
  hover: ['hover'],
  focus: ['focus', 'focus-visible'],
  active: ['hover', 'active'],
  disabled: [],
};

const PROBE = 'data-probe';

/** The browser's words for a node that has left the document. */
const GONE = 'Could not find node with given id';

/**
 * The faults of the buttons in an element, light and dark. Only the first of equal-looking buttons is judged; `judged`
 * has the looks of earlier calls.
 */
export async function illegible(page: Page, within: Locator, judged: Set<string>): Promise<readonly string[]> {
  const looks = await within.evaluate(mark, { probe: PROBE, judged: [...judged] });
  if (!looks.length) return [];
  const faults = await faultsOfMarked(page);
  // Others are in their places now.
  if (faults === 'drawn again') return illegible(page, within, judged);
  for (const look of looks) judged.add(look);
  return faults;
}

/** The faults of the marked buttons. `drawn again`: some of them have left the document meanwhile. */
async function faultsOfMarked(page: Page): Promise<readonly string[] | 'drawn again'> {
  const session = await page.context().newCDPSession(page);
  const faults: string[] = [];
  try {
    const nodes = await probes(session);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [state, forcedPseudoClasses] of Object.entries(STATES)) {
        await Promise.all(nodes.map((nodeId) => session.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [...forcedPseudoClasses] })));
        const found = await page.evaluate(judge, { probe: PROBE, state });
        faults.push(...found.map((fault) => `${colorScheme}, ${state}: ${fault}`));
      }
    }
    return faults;
  } catch (error) {
    if (error instanceof Error && error.message.includes(GONE)) return 'drawn again';
    throw error;
  } finally {
    await session.detach();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.evaluate((probe) => {
      for (const element of document.querySelectorAll(`[${probe}]`)) element.removeAttribute(probe);
    }, PROBE);
  }
}

async function probes(session: CDPSession): Promise<readonly number[]> {
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root } = await session.send('DOM.getDocument');
  return (await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: `[${PROBE}]` })).nodeIds;
}

/** Runs in the browser: marks the first button of each look. */
function mark(within: Element, { probe, judged }: { readonly probe: string; readonly judged: readonly string[] }): string[] {
  const seen = new Set(judged);
  const fresh: string[] = [];
  for (const button of within.querySelectorAll('button, a, summary, [role="button"]')) {
    const look = [button.tagName, button.className, button.parentElement?.className, button.matches(':disabled'), button.ariaCurrent, button.ariaPressed].join(' ');
    if (seen.has(look) || !button.checkVisibility()) continue;
    seen.add(look);
    fresh.push(look);
    button.setAttribute(probe, '');
  }
  return fresh;
}

/** Runs in the browser. */
function judge({ probe, state }: { readonly probe: string; readonly state: string }): string[] {
  type Color = readonly [red: number, green: number, blue: number, alpha: number];
  const TEXT = 4.5;
  const SHAPE = 3;
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  if (!canvas) throw new Error('There is no canvas.');
  const colorOf = (text: string): Color => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const mixed = (upper: Color, lower: Color, alpha: number): Color => {
    const of = (part: 0 | 1 | 2) => upper[part] * alpha + lower[part] * (1 - alpha);
    return [of(0), of(1), of(2), 1];
  };
  const styleOf = (element: Element) => getComputedStyle(element);
  /** The visible color of an element's background. */
  const groundOf = (element: Element | null): Color => {
    if (!element) return colorOf(matchMedia('(prefers-color-scheme: dark)').matches ? '#121212' : '#ffffff');
    const around = groundOf(element.parentElement);
    const own = colorOf(styleOf(element).backgroundColor);
    return mixed(mixed(own, around, own[3]), around, Number(styleOf(element).opacity));
  };
  /** The visible color of paint on an element's own background. */
  const seenOf = (element: Element, text: string): Color => {
    const color = colorOf(text);
    const own = colorOf(styleOf(element).backgroundColor);
    const around = groundOf(element.parentElement);
    let seen = mixed(color, mixed(own, around, own[3]), color[3]);
    for (let at: Element | null = element; at; at = at.parentElement) seen = mixed(seen, groundOf(at.parentElement), Number(styleOf(at).opacity));
    return seen;
  };
  const light = ([red, green, blue]: Color) => {
    const linear = (value: number) => (value <= 10.31475 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const contrast = (one: Color, other: Color) => {
    const [dark = 0, bright = 0] = [light(one), light(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const opacityOf = (element: Element | null): number => (element ? Number(styleOf(element).opacity) * opacityOf(element.parentElement) : 1);
  const faultsOf = (button: Element): string[] => {
    const name = `${button.tagName.toLowerCase()}.${button.className} “${button.getAttribute('aria-label') ?? button.textContent}” in .${button.parentElement?.className ?? ''}`;
    const painted = [button, ...button.querySelectorAll('*')].filter((element) => element.checkVisibility() && element.clientHeight !== 1);
    const faults = painted.flatMap((element) => {
      const isIcon = element.matches('svg');
      const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
      // A button that appears under the pointer is invisible at rest; the focus shows it.
      if ((!isIcon && !hasText) || (opacityOf(element) === 0 && state !== 'focus')) return [];
      const least = isIcon || button.matches(':disabled') ? SHAPE : TEXT;
      const found = contrast(seenOf(element, styleOf(element).color), groundOf(element));
      return found < least ? [`${name}: ${isIcon ? 'icon' : 'text'} ${found.toFixed(2)} to 1, wanted ${least}`] : [];
    });
    if (state !== 'focus' || button.matches(':disabled')) return faults;
    const { outlineStyle, outlineWidth, outlineColor, backgroundColor } = styleOf(button);
    const isOutlined = outlineStyle !== 'none' && outlineWidth !== '0px' && contrast(seenOf(button, outlineColor), groundOf(button.parentElement)) >= SHAPE;
    const isFilled = backgroundColor !== button.getAttribute(probe);
    return isOutlined || isFilled ? faults : [...faults, `${name}: the focus is not seen`];
  };
  const buttons = [...document.querySelectorAll<HTMLElement>(`[${probe}]`)];
  return buttons.flatMap((button) => {
    if (state === 'rest') button.setAttribute(probe, styleOf(button).backgroundColor);
    if (state !== 'disabled' || !(button instanceof HTMLButtonElement)) return state === 'disabled' ? [] : faultsOf(button);
    const { disabled } = button;
    button.disabled = true;
    const faults = faultsOf(button);
    button.disabled = disabled;
    return faults;
  });
}
