/** Shows below a cell or an editor why its value was refused, or quietly why it has none. */
import { keepBeside } from '../place';

export class Note {
  private readonly element = document.createElement('div');
  private release: () => void = () => undefined;
  private cell: HTMLElement | null = null;

  constructor() {
    this.element.className = 'note';
    this.element.popover = 'manual';
    this.element.setAttribute('role', 'alert');
    document.body.append(this.element);
  }

  /** Show a text below a cell; nothing where it is empty or the cell is not in view. */
  show(text: string, cell: HTMLElement | null, { quiet = false } = {}): void {
    if (!text || !cell) {
      this.hide();
      return;
    }
    // A screen reader would read the same text again.
    if (this.cell === cell && this.element.textContent === text) return;
    this.cell = cell;
    this.element.setAttribute('role', quiet ? 'status' : 'alert');
    this.element.classList.toggle('is-quiet', quiet);
    this.element.textContent = text;
    this.element.showPopover();
    this.release();
    this.release = keepBeside(this.element, cell);
  }

  hide(): void {
    this.cell = null;
    this.release();
    this.element.hidePopover();
  }

  destroy(): void {
    this.release();
    this.element.remove();
  }
}
