/** An input method, such as one for Japanese: it composes a text, and its keys choose among candidates. */
import type { CDPSession, Page } from 'playwright-core';

/** The `keyCode` of its keys. */
const HANDLED = 229;
const CONTROL = 2;

export class InputMethod {
  private constructor(private readonly session: CDPSession) {}

  static async on(page: Page): Promise<InputMethod> {
    return new InputMethod(await page.context().newCDPSession(page));
  }

  async compose(text: string): Promise<void> {
    await this.session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  }

  /** End the composition with a text. */
  async confirm(text: string): Promise<void> {
    await this.session.send('Input.insertText', { text });
  }

  /** Press a key that the input method handles. The browser reports which key it is, as on macOS. */
  async press(key: string, { control = false } = {}): Promise<void> {
    const event = { key, windowsVirtualKeyCode: HANDLED, modifiers: control ? CONTROL : 0 };
    await this.session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...event });
    await this.session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }
}
