/** Says below a cell why its value was refused, as long as the cell has the focus. */

export class Note {
  private readonly element = document.createElement('div');

  constructor() {
    this.element.className = 'note';
    this.element.popover = 'manual';
    this.element.setAttribute('role', 'alert');
    document.body.append(this.element);
  }

  /** Show a text below a cell; nothing where it is empty or the cell is not in view. */
  show(text: string, cell: HTMLElement | null): void {
    if (!text || !cell) {
      this.hide();
      return;
    }
    this.element.textContent = text;
    this.element.showPopover();
    const box = cell.getBoundingClientRect();
    const { style } = this.element;
    style.left = `${Math.max(4, Math.min(box.left, window.innerWidth - this.element.offsetWidth - 4))}px`;
    style.top = `${box.bottom + 4}px`;
  }

  hide(): void {
    this.element.hidePopover();
  }

  destroy(): void {
    this.element.remove();
  }
}
