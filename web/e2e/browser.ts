/** A real browser, whose tabs record faults that must never happen in the page. */
import { chromium, type Browser, type BrowserContext, type Cookie, type Page } from 'playwright-core';
import { TIMEOUT } from './timeout';

/**
 * The browser's own lines for each refusal of the API, and for a socket that failed or was left while it opened. Tests
 * check how the page handles these.
 */
const OF_THE_BROWSER = /^(Failed to load resource|WebSocket connection to )/;

export function openBrowser(executablePath: string): Promise<Browser> {
  // Tests drag scroll bars.
  return chromium.launch({ executablePath, ignoreDefaultArgs: ['--hide-scrollbars'] });
}

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** Whether the screen is touched, and nothing points at it. */
  readonly touch?: boolean;
  /** The most milliseconds by which answers of the API come late: each waits by chance, so they overtake each other. */
  readonly late?: number;
}

/** A window with its own cookies. It uses English and UTC, whatever the settings of this machine. */
export class Visit {
  /** Errors of the page, code that the content security policy refused, and requests to other origins. */
  readonly faults: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async begin(browser: Browser, origin: string, cookies: readonly Cookie[], look: Look = {}): Promise<Visit> {
    const { width = 1366, height = 800, scheme = 'light', touch = false, late = 0 } = look;
    const context = await browser.newContext({
      baseURL: origin,
      viewport: { width, height },
      colorScheme: scheme,
      hasTouch: touch,
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: 'UTC',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(TIMEOUT);
    await context.addCookies([...cookies]);
    if (late > 0) await context.addInitScript(answerLate, late);
    await context.addInitScript(recordFocus);
    const visit = new Visit(context, await context.newPage());
    await visit.watch(origin);
    return visit;
  }

  /** Describe for each window the last keys and moves of the focus, and the element that has the focus. */
  async recent(): Promise<string> {
    const accounts = this.context.pages().map((page) =>
      page.evaluate(() => [location.href, ...(window.recentOfFocus ?? []), `in focus: ${document.activeElement?.outerHTML.slice(0, 300)}`].join('\n')),
    );
    return (await Promise.all(accounts)).join('\n\n');
  }

  /** Close its windows. A handler of a test that still asks the API for an answer ends without an error. */
  async end(): Promise<void> {
    for (const page of this.context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.context.unrouteAll({ behavior: 'ignoreErrors' });
    await this.context.close();
  }

  private async watch(origin: string): Promise<void> {
    await this.context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
        console.error(`The policy refused ${violatedDirective} ${blockedURI}`);
      });
    });
    this.context.on('weberror', (error) => this.faults.push(String(error.error())));
    this.context.on('console', (message) => {
      if (message.type() === 'error' && !OF_THE_BROWSER.test(message.text())) this.faults.push(message.text());
    });
    this.context.on('request', (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (protocol.startsWith('http') && asked !== origin) this.faults.push(`a request to ${request.url()}`);
    });
  }
}

declare global {
  interface Window {
    recentOfFocus?: string[];
  }
}

/** Runs in the page. Elements that the library has removed are marked as such. */
function recordFocus(): void {
  const MOST = 40;
  const recent: string[] = [];
  window.recentOfFocus = recent;
  const nameOf = (target: EventTarget | null) => {
    if (!(target instanceof Element)) return target ? 'the page' : 'nothing';
    const row = target.closest('[row-index]')?.getAttribute('row-index') ?? '';
    const column = target.closest('[col-id]')?.getAttribute('col-id') ?? '';
    return `${target.tagName.toLowerCase()}.${target.classList.value.replaceAll(' ', '.')} ${row} ${column}${target.isConnected ? '' : ' removed'}`;
  };
  const record = (event: Event) => {
    const key = event instanceof KeyboardEvent ? event.key : '';
    const other = event instanceof FocusEvent ? ` from or to ${nameOf(event.relatedTarget)}` : '';
    recent.push(`${Math.round(event.timeStamp)} ${event.type} ${key} ${nameOf(event.target)}${other}`);
    if (recent.length > MOST) recent.shift();
  };
  for (const type of ['keydown', 'pointerdown', 'focusin', 'focusout']) window.addEventListener(type, record, { capture: true });
}

/** Runs in the page. */
function answerLate(most: number): void {
  const fetchNow = window.fetch.bind(window);
  window.fetch = async (...request) => {
    const answer = await fetchNow(...request);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * most));
    request[1]?.signal?.throwIfAborted();
    return answer;
  };
}
