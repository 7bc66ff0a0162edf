/** The list of choices below an editor, narrowed by the typed text. It is in the top layer, above everything else. */
import { keepBeside } from '../../place';

export interface ListItem {
  readonly value: string;
  readonly element: Node;
  readonly chosen: boolean;
  /** It offers to create its value. */
  readonly creates?: boolean;
}

/** Pixels. */
const LEAST_WIDTH = 180;
const TALLEST = 320;

export class ChoiceList {
  readonly element = document.createElement('ul');
  private items: readonly ListItem[] = [];
  /** The place of the item that Enter would choose; -1 for none. */
  private active = -1;
  private release: () => void = () => undefined;

  constructor(
    private readonly input: HTMLInputElement,
    private readonly choose: (item: ListItem) => void,
    { many }: { readonly many: boolean },
  ) {
    this.element.className = 'choice-list';
    this.element.id = `choices-${crypto.randomUUID()}`;
    this.element.popover = 'manual';
    this.element.setAttribute('role', 'listbox');
    this.element.setAttribute('aria-label', input.getAttribute('aria-label') ?? '');
    if (many) this.element.setAttribute('aria-multiselectable', 'true');
    // The focus stays in the input.
    this.element.addEventListener('mousedown', (event) => event.preventDefault());
    this.element.addEventListener('click', (event) => {
      const line = event.target instanceof Element ? event.target.closest('li') : null;
      const item = line && this.items[[...this.element.children].indexOf(line)];
      if (item) this.choose(item);
    });
    input.setAttribute('role', 'combobox');
    input.setAttribute('aria-expanded', 'true');
    input.setAttribute('aria-controls', this.element.id);
  }

  /** Show beside the cell. */
  open(): void {
    const anchor = this.input.closest('.ag-cell') ?? this.input;
    // Among the content of the page or of the window in front of it, for screen readers.
    (anchor.closest('main, dialog') ?? document.body).append(this.element);
    this.element.showPopover();
    this.element.style.minWidth = `${Math.max(anchor.clientWidth, LEAST_WIDTH)}px`;
    this.release = keepBeside(this.element, anchor, { tallest: TALLEST });
  }

  close(): void {
    this.release();
    this.element.remove();
  }

  set(items: readonly ListItem[], active = 0): void {
    this.items = items;
    this.element.replaceChildren(...items.map((item, place) => this.line(item, place)));
    this.activate(Math.min(active, items.length - 1));
  }

  /** The item that Enter would choose; undefined for none. */
  get activeItem(): ListItem | undefined {
    return this.items[this.active];
  }

  /** Move by an arrow key. Returns whether the key was one. */
  move(key: string): boolean {
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return false;
    const { length } = this.items;
    if (length) this.activate(key === 'ArrowDown' ? (this.active + 1) % length : (Math.max(this.active, 0) + length - 1) % length);
    return true;
  }

  private activate(place: number): void {
    this.active = place;
    for (const [index, line] of [...this.element.children].entries()) line.classList.toggle('active', index === this.active);
    const line = this.element.children[this.active];
    line?.scrollIntoView({ block: 'nearest' });
    if (line) this.input.setAttribute('aria-activedescendant', line.id);
    else this.input.removeAttribute('aria-activedescendant');
  }

  private line(item: ListItem, place: number): HTMLElement {
    const line = document.createElement('li');
    line.id = `${this.element.id}-${place}`;
    if (item.creates) line.className = 'creates';
    line.setAttribute('role', 'option');
    line.setAttribute('aria-selected', String(item.chosen));
    line.append(item.element);
    return line;
  }
}
