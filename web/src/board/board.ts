/**
 * The board of an open project: its columns with their cards, the card in focus, and the cards that are being moved.
 *
 * The rows are those of the model: a board is groups by one field, whose runs are the columns. A move is an edit of the
 * field, so that conflicts, refusals, undo and live changes are the same as in the grid.
 */
import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { versionsOf } from '../edits/rows';
import { BATCH } from '../edits/writes';
import { keyOf } from '../edits/marks';
import type { Field } from '../fields/fields';
import type { Anchor } from '../edits/placing';
import { valueOf, type Row } from '../fields/values';
import { labelOf } from '../grid/group-label';
import type { Mover } from '../grid/move-entries';
import { placeRows } from '../manual/place';
import type { Actions, FieldText } from '../project/actions';
import type { ProjectModel } from '../project/model';
import { ADDED } from '../rows/layout';
import type { Held, Slot, Window } from '../rows/store';
import { compareKeys, compareRows } from '../view/order';
import { boardOf, MAX_BOARD_COLUMNS, type Board as Settings, type BoardColumn } from '../view/board';
import { Cards } from './arrange';
import { columnsOf, movedColumn, runOf, withColumn, type Column } from './columns';
import type { Lane } from './lane';
import { anchorBeyond, carriedTo, gapBeyond, stepped, type Extent } from './steps';
import { boardWords as texts } from './words';

/** Cards of a column that are requested before its height is known, and beyond the drawn ones. */
const AHEAD = 20;

/** Milliseconds in which a card that is in no column may return to the focus: columns are read one by one, and the index lags. */
const RETURNS_WITHIN = 10_000;

/** A column that is shown, with its cards. */
export interface ShownColumn extends Column {
  readonly lane: Lane;
}

export interface Focus {
  /** The key of the column. */
  readonly column: string;
  readonly num: number;
}

/** Cards that are being moved. */
export interface Carried {
  readonly nums: readonly number[];
  /** As the user saw them when they were picked up: others may change them until they are dropped. */
  readonly seen: readonly Row[];
  /** The name of the first. */
  readonly name: string;
  /** The key of the column over which they are; null for none. */
  readonly over: string | null;
  /** In a manual order, the place in the column before which they go; null for any. */
  readonly place: number | null;
}

/** What the element of a column does for the board. */
export interface ColumnView {
  /** Bring a card into view. */
  reveal(place: number): void;
  focus(): void;
  /** Whether it has the focus of the keyboard. */
  isFocused(): boolean;
  extent(): { readonly top: number; readonly page: number };
  /** The place before which a card goes that is dropped at a height of the screen. */
  placeAt(y: number): number;
}

interface MoveOptions {
  /** Bring the moved card into view. */
  readonly reveals?: boolean;
  /** The place in the column before which they go. */
  readonly place?: number | null;
  /** Rows as the user saw them, if they may have changed since. */
  readonly seen?: readonly Row[];
}

export class Board {
  /** The settings of the open board. */
  readonly settings: ReadonlySignal<Settings | null>;
  readonly all: ReadonlySignal<readonly Column[]>;
  readonly shown: ReadonlySignal<readonly ShownColumn[]>;
  readonly hidden: ReadonlySignal<readonly Column[]>;
  readonly cards: ReadonlySignal<Cards>;
  /** The fields that cards show below their names. */
  readonly fields: ReadonlySignal<readonly Field[]>;
  readonly focus = signal<Focus | null>(null);
  readonly carried = signal<Carried | null>(null);
  /** For screen readers. */
  readonly announcement = signal('');
  /** The most columns that are shown. */
  readonly most = signal(MAX_BOARD_COLUMNS);
  /** How often the user has asked for a new card: its form takes the focus each time. */
  readonly asked = signal(0);
  readonly views = new Map<string, ColumnView>();
  /** Returns the rows that are held; another function after each change of them. */
  private readonly held: Signal<() => Iterable<Held>>;
  private readonly windows = new Map<string, Window>();
  private isAsking = false;
  /** A row of the screen that gets the focus when it is loaded. */
  private awaited: number | null = null;
  /** The key of the column that had the focus of the keyboard last. */
  private home = '';
  /** The place of the card in focus: the next card takes the focus if it goes. */
  private place = 0;
  /** The card that had the focus until it was in no column, while another one has it instead and the user has not acted. */
  private missing: { readonly num: number; readonly since: number } | null = null;

  constructor(
    readonly model: ProjectModel,
    readonly actions: Actions,
  ) {
    this.held = signal(() => model.rows.entries());
    this.settings = computed(() => boardOf(model.view.value));
    this.fields = computed(() => (this.settings.value?.card ?? []).flatMap((id) => (id === 'name' ? [] : (model.field(id) ?? []))));
    this.cards = computed(() => {
      const by = this.settings.value?.by ?? '';
      const { sort, manual } = model.view.value;
      const compare = manual === null ? (a: Row, b: Row) => compareRows(a, b, sort, model.fields) : compareKeys;
      return new Cards(this.held.value(), { by, compare, added: ADDED });
    });
    this.all = computed(() => {
      const settings = this.settings.value;
      const field = this.field;
      return settings && field ? columnsOf(settings, field, model.groups.levels.value[0] ?? [], this.cards.value.moved) : [];
    });
    this.hidden = computed(() => this.all.value.filter(({ hidden }) => hidden));
    this.shown = computed(() =>
      this.all.value
        .filter(({ hidden }) => !hidden)
        .slice(0, this.most.value)
        .map((column) => ({ ...column, lane: this.cards.value.lane(column) })),
    );
  }

  /** The field whose values are the columns. */
  get field(): Field | undefined {
    return this.model.field(this.settings.value?.by ?? '');
  }

  /** Whether the user may move cards. */
  get canMove(): boolean {
    return this.model.canEdit && this.field?.editable === true;
  }

  /** Draw each change of the rows, but none by others while cards are carried. Returns how to stop that. */
  connect(): () => void {
    let release: (() => void) | null = null;
    const end = () => {
      release?.();
      release = null;
    };
    const stopping = [
      this.carried.subscribe((carried) => {
        if (carried) release ??= this.model.hold();
        else end();
      }),
      end,
      this.model.rows.onChange(() => this.changed()),
      this.model.panels.drawer.subscribe(() => this.followFocus()),
      this.model.finding.reached.subscribe((cell) => {
        if (cell) this.goTo(cell.row, { takesFocus: false });
      }),
    ];
    this.model.cardBeside = (num, by) => this.rowBeside(num, by);
    return () => {
      this.model.cardBeside = null;
      for (const stop of stopping) stop();
    };
  }

  nameOf({ value }: Pick<Column, 'value'>): string {
    return this.field ? labelOf(value, this.field, null) : '';
  }

  /** The content of a card. */
  at(column: ShownColumn, place: number): Slot {
    const card = column.lane.at(place);
    if (!card) return { kind: 'gone' };
    if (card.kind === 'offset') return this.model.rows.inRun(runOf(column.key), card.offset);
    const row = this.cards.peek().arrived(card.num);
    return row ? { kind: 'issue', row } : { kind: 'gone' };
  }

  /** The place of a card in its column; undefined if it is not loaded. */
  placeOf(num: number | undefined): { readonly column: ShownColumn; readonly place: number } | undefined {
    const found = num === undefined ? undefined : this.cards.peek().find(num);
    const column = this.shown.peek().find(({ key }) => key === found?.key);
    const place = found && column?.lane.placeOf(found.card);
    return column && place !== undefined ? { column, place } : undefined;
  }

  /** The row of the screen of the card before or after one in its column, where a card that has just moved is by now. */
  private rowBeside(num: number, by: -1 | 1): number | undefined {
    const found = this.placeOf(num);
    const slot = found && this.at(found.column, found.place + by);
    return slot?.kind === 'issue' ? this.model.rows.indexOf(slot.row.num) : undefined;
  }

  // Rows in view

  /** These places of a column are drawn; null: the column is out of view. */
  look(column: ShownColumn, drawn: { readonly first: number; readonly last: number } | null): void {
    const run = runOf(column.key);
    if (drawn) {
      const first = Math.max(0, column.lane.offsetFrom(drawn.first) - AHEAD);
      this.windows.set(column.key, { run, first, last: Math.max(first, column.lane.offsetFrom(drawn.last)) + AHEAD });
    } else if (!this.windows.delete(column.key)) return;
    if (this.isAsking) return;
    this.isAsking = true;
    // The columns that are drawn together are requested together.
    queueMicrotask(() => {
      this.isAsking = false;
      this.model.show([...this.windows.values()]);
    });
  }

  // The focus

  /** Give the focus to a card. */
  choose(column: string, num: number, { reveals = true, takesFocus = true } = {}): void {
    this.awaited = null;
    this.missing = null;
    this.focus.value = { column, num };
    const row = this.model.rows.indexOf(num);
    if (row !== undefined) this.model.moveTo({ row, column: 0 });
    const found = this.placeOf(num);
    if (found) this.place = found.place;
    if (found && reveals) this.views.get(column)?.reveal(found.place);
    if (takesFocus) this.views.get(column)?.focus();
  }

  /** Go to the card in a row of the screen, when it is loaded. */
  goTo(row: number, { takesFocus = true } = {}): void {
    const slot = this.model.rows.at(row);
    const place = this.model.rows.layout.at(row);
    if (slot.kind === 'issue') {
      const found = this.placeOf(slot.row.num);
      if (found) this.choose(found.column.key, slot.row.num, { takesFocus });
    } else if (slot.kind === 'loading' && place?.kind === 'issue') {
      const column = this.shown.peek().find(({ key }) => runOf(key) === place.run.key);
      const at = column?.lane.placeOf({ kind: 'offset', offset: place.offset });
      this.awaited = row;
      if (column && at !== undefined) this.views.get(column.key)?.reveal(at);
    }
  }

  /**
   * The focus returns to the column that had it last: it goes to the card in focus, which may be in another column by now.
   * Returns whether it is.
   */
  returned({ key }: ShownColumn, isFromElsewhere: boolean): boolean {
    const found = this.placeOf(this.focus.peek()?.num);
    const isLeft = isFromElsewhere && this.home === key && found !== undefined && found.column.key !== key;
    this.home = key;
    if (isLeft) this.views.get(found.column.key)?.focus();
    return isLeft;
  }

  /** The focus comes to a column. */
  entered(column: ShownColumn): void {
    this.awaited = null;
    if (this.focus.peek()?.column === column.key && this.placeOf(this.focus.peek()?.num)) return;
    const top = this.views.get(column.key)?.extent().top ?? 0;
    const slot = this.at(column, Math.min(top, column.lane.length - 1));
    if (slot.kind === 'issue') this.choose(column.key, slot.row.num, { reveals: false, takesFocus: false });
    else this.focus.value = null;
  }

  /** A key at the cards of a column. Returns whether it was taken. */
  step(key: string, column: ShownColumn, { extends: isExtending = false } = {}): boolean {
    const shown = this.shown.peek();
    const at = shown.findIndex(({ key: one }) => one === column.key);
    const extents = shown.map(({ key: one, lane }): Extent => ({ count: lane.length, top: this.views.get(one)?.extent().top ?? 0 }));
    const num = this.focus.peek()?.num;
    const found = num === undefined ? undefined : this.placeOf(num);
    const page = this.views.get(column.key)?.extent().page ?? 1;
    const spot = stepped(key, { column: at, place: found?.column.key === column.key ? found.place : 0 }, extents, page);
    const next = spot && shown[spot.column];
    if (!next) return false;
    if (isExtending && num !== undefined) this.model.checked.set([num], true);
    const slot = this.at(next, spot.place);
    this.views.get(next.key)?.reveal(spot.place);
    if (slot.kind === 'issue') {
      this.choose(next.key, slot.row.num);
      if (isExtending) this.model.checked.set([slot.row.num], true);
    } else {
      if (slot.kind !== 'loading') this.focus.value = null;
      if (next !== column) this.views.get(next.key)?.focus();
      const card = next.lane.at(spot.place);
      this.awaited = (card?.kind === 'offset' ? this.model.rows.layout.indexOf(runOf(next.key), card.offset) : null) ?? null;
    }
    return true;
  }

  /** A card was clicked with Ctrl (`toggles`) or Shift (`extends`). */
  check(column: ShownColumn, num: number, how: 'toggles' | 'extends'): void {
    const { checked } = this.model;
    const from = this.placeOf(this.focus.peek()?.num);
    const to = this.placeOf(num);
    if (how === 'toggles' || !from || !to || from.column.key !== column.key) {
      checked.toggle(num);
      return;
    }
    const [first, last] = [Math.min(from.place, to.place), Math.max(from.place, to.place)];
    const nums = Array.from({ length: last - first + 1 }, (_, at) => this.at(column, first + at));
    checked.set(nums.flatMap((slot) => (slot.kind === 'issue' ? [slot.row.num] : [])), true);
  }

  // Moves

  /** Pick up a card, with all checked ones if it is checked. Returns whether they can be moved. */
  pickUp(num: number, over: string | null): boolean {
    const row = this.model.rows.held(num);
    if (!row || !this.canMove) {
      this.refuseComputed();
      return false;
    }
    const nums = this.model.checked.has(num) ? this.model.checkedNums : [num];
    if (nums.length > BATCH) {
      this.actions.outcome.value = texts.tooMany(BATCH);
      return false;
    }
    const seen = nums.flatMap((one) => this.model.rows.held(one) ?? []);
    this.carried.value = { nums, seen, name: String(valueOf(row, 'name') ?? num), over, place: null };
    return true;
  }

  /** If a formula computes the values of the columns, report that cards do not change them. */
  private refuseComputed(): void {
    if (this.model.canEdit && this.field) this.actions.outcome.value = this.actions.readOnly.skipped([this.field]);
  }

  /** Announce that cards are picked up by a key. */
  announce(): void {
    const carried = this.carried.peek();
    const column = this.all.peek().find(({ key }) => key === carried?.over);
    if (carried && column) this.announcement.value = texts.pickedUp(carried.name, carried.nums.length, this.nameOf(column));
  }

  /** The carried cards come over a column. */
  carryOver(over: string | null, at: number | null = null): void {
    const carried = this.carried.peek();
    const place = this.model.canPlace ? at : null;
    if (carried && (carried.over !== over || carried.place !== place)) this.carried.value = { ...carried, over, place };
  }

  /** The carried cards are over a column, at a height of the screen. */
  carryTo(over: string | null, y: number): void {
    this.carryOver(over, over === null ? null : (this.views.get(over)?.placeAt(y) ?? null));
  }

  /** The carried cards go to another column by a key, or in a manual order to another place. Returns whether it was taken. */
  carryBy(key: string): boolean {
    const carried = this.carried.peek();
    if (this.model.canPlace && (key === 'ArrowUp' || key === 'ArrowDown')) return this.carryAlong(key === 'ArrowUp' ? -1 : 1);
    const columns = this.shown.peek().filter((column) => this.takes(column));
    const next = carriedTo(key, columns.findIndex((column) => column.key === carried?.over), columns.length);
    const column = next === null ? undefined : columns[next];
    if (!column || next === null) return false;
    this.carryOver(column.key);
    this.announcement.value = texts.comesOver(this.nameOf(column), next + 1, columns.length);
    return true;
  }

  private carryAlong(by: -1 | 1): boolean {
    const carried = this.carried.peek();
    const column = this.shown.peek().find(({ key }) => key === carried?.over);
    if (!carried || !column) return false;
    const own = this.placeOf(carried.nums[0]);
    const from = carried.place ?? (own?.column.key === column.key ? own.place : by > 0 ? -1 : column.lane.length + 1);
    const next = gapBeyond(from, by, own?.column.key === column.key ? own.place : null, column.lane.length);
    if (next === null) return true;
    this.carryOver(column.key, next);
    this.views.get(column.key)?.reveal(Math.min(next, column.lane.length - 1));
    const slot = this.at(column, next);
    this.announcement.value = slot.kind === 'issue' ? texts.comesBefore(String(valueOf(slot.row, 'name') ?? slot.row.num)) : texts.comesLast;
    return true;
  }

  /** Put the carried cards down where they were. */
  cancel(): void {
    const carried = this.carried.peek();
    this.carried.value = null;
    this.announcement.value = '';
    if (carried) this.actions.outcome.value = texts.stays(carried.name, carried.nums.length);
  }

  /** Put the carried cards into the column over which they are. `reveals`: bring the moved card into view. */
  drop({ reveals }: { readonly reveals: boolean }): void {
    const carried = this.carried.peek();
    const column = this.all.peek().find(({ key }) => key === carried?.over);
    this.announcement.value = '';
    if (!carried || !column || !this.takes(column)) {
      this.cancel();
      return;
    }
    this.carried.value = null;
    void this.actions.reporting(() => this.move(carried.nums, column, carried.name, { reveals, place: carried.place, seen: carried.seen }));
  }

  /** Whether cards can be put into a column. */
  takes({ value, filter, count }: Column): boolean {
    return this.field?.editable === true && !(value === null && this.field.required) && (filter !== null || count === 0);
  }

  /** Give cards the value of a column, as one step of undo. They are there at once, and the API follows. */
  async move(nums: readonly number[], column: Column, name: string, { reveals = true, place = null, seen = [] }: MoveOptions = {}): Promise<void> {
    const { model, field } = this;
    if (!field) return;
    const known = new Map(seen.map((row) => [row.num, row]));
    const held = nums.flatMap((num) => known.get(num) ?? model.rows.held(num) ?? []);
    const others = nums.filter((num) => !known.has(num) && !model.rows.held(num));
    const rows = others.length ? [...held, ...(await model.issuesOf(others))] : held;
    const edits = rows.map((row) => ({ num: row.num, field: field.id, before: valueOf(row, field.id), after: column.value })).filter(({ before, after }) => before !== after);
    const [first] = nums;
    const anchor = place === null ? null : this.anchorAt(column, place, new Set(nums));
    if ((!edits.length && !anchor) || first === undefined) return;
    const versions = versionsOf(rows);
    const written = anchor
      ? placeRows(model, { nums: rows.map(({ num }) => num), anchor, edits, seen: versions })
      : model.editor.apply({ edits }, versions).then(() => null);
    batch(() => {
      this.actions.outcome.value = texts.moved(name, anchor ? rows.length : edits.length, this.nameOf(column));
      if (!column.hidden) this.choose(column.key, first, { reveals });
    });
    const reason = await written;
    if (reason !== null) this.actions.outcome.value = reason;
    const refused = edits.filter(({ num }) => model.editor.marks.peek().get(keyOf(num, field.id))?.kind === 'refused').length;
    if (refused) this.actions.outcome.value = texts.notMoved(refused);
  }

  /** Move a card by one in its column, with the other checked ones there. */
  async stepPlace(num: number, by: -1 | 1): Promise<void> {
    const { model, actions } = this;
    const found = this.placeOf(num);
    if (!model.canPlace || !found) return;
    const { column } = found;
    const nums = this.togetherIn(column, num);
    if (nums.length > BATCH) {
      actions.outcome.value = texts.tooMany(BATCH);
      return;
    }
    const anchor = this.beyond(column, nums, by);
    if (!anchor) {
      actions.outcome.value = by < 0 ? texts.atTop : texts.atBottom;
      return;
    }
    const written = placeRows(model, { nums, anchor, edits: [] });
    this.choose(column.key, num);
    const row = model.rows.held(num);
    const place = this.placeOf(nums[0] ?? num)?.place;
    if (row && place !== undefined) actions.outcome.value = texts.placed(String(valueOf(row, 'name') ?? num), nums.length, place + 1, this.nameOf(column));
    const reason = await written;
    if (reason !== null) actions.outcome.value = reason;
  }

  /** Moves a card by one in its column, for a menu; null if there is no manual order. */
  mover(num: number): Mover | null {
    const found = this.placeOf(num);
    if (!this.model.canPlace || !found) return null;
    const nums = this.togetherIn(found.column, num);
    return {
      what: nums.length === 1 ? '' : texts.cards(nums.length),
      can: (by) => this.beyond(found.column, nums, by) !== null,
      step: (by) => void this.stepPlace(num, by),
    };
  }

  /** A card, and the other checked ones of its column if it is checked, from the top. */
  private togetherIn({ key }: ShownColumn, num: number): readonly number[] {
    if (!this.model.checked.has(num)) return [num];
    const places = this.model.checkedNums.flatMap((one) => {
      const found = this.placeOf(one);
      return found?.column.key === key ? [{ num: one, place: found.place }] : [];
    });
    return places.sort((a, b) => a.place - b.place).map((one) => one.num);
  }

  private beyond(column: ShownColumn, nums: readonly number[], by: -1 | 1): Anchor | null {
    return anchorBeyond(
      nums.flatMap((num) => this.placeOf(num)?.place ?? []),
      by,
      (place) => {
        const slot = this.at(column, place);
        return slot.kind === 'issue' ? slot.row.num : null;
      },
    );
  }

  /** The card beside which others go that are dropped before a place; null in a column without another card. */
  private anchorAt({ key }: Column, place: number, moving: ReadonlySet<number>): Anchor | null {
    const column = this.shown.peek().find((one) => one.key === key);
    if (!column) return null;
    const numAt = (at: number) => {
      const slot = this.at(column, at);
      return slot.kind === 'issue' && !moving.has(slot.row.num) ? slot.row.num : null;
    };
    for (let at = place; at < column.lane.length; at += 1) {
      const before = numAt(at);
      if (before !== null) return { before };
    }
    for (let at = place - 1; at >= 0; at -= 1) {
      const after = numAt(at);
      if (after !== null) return { after };
    }
    return null;
  }

  // New cards

  /** Show the form of a new card in a column: by default in that of the focus. */
  add(column: Column | undefined = this.columnForNew()): void {
    if (!column) this.refuseComputed();
    if (!column || !this.field || !this.model.canEdit) return;
    const values = [{ field: this.field.id, after: column.value }];
    // A new card that was refused may be in another column, or in none that is shown.
    this.actions.putInDraft(this.actions.draft(values), values);
    this.asked.value += 1;
  }

  private columnForNew(): Column | undefined {
    const shown = this.shown.peek().filter((column) => this.takes(column));
    return shown.find(({ key }) => key === this.focus.peek()?.column) ?? shown[0];
  }

  /** The fields that the form of a new card has: its name, and each that needs a value and has none by default. */
  get fieldsOfNew(): readonly Field[] {
    return this.model.fields.filter(
      ({ id, custom, required, editable, default: value }) =>
        id === 'name' || (custom && required && editable && value === null && id !== this.field?.id),
    );
  }

  /** The form of the new card in this row was left with these texts. One that is empty is cancelled. */
  enteredNew(row: Row, texts: readonly FieldText[]): void {
    if (texts.some(({ text }) => text.trim())) this.actions.enterTexts(row, texts);
    else this.actions.drop(row.num);
  }

  // Settings

  set(change: Partial<Settings>): void {
    const settings = this.settings.peek();
    if (settings) this.model.change({ board: { ...settings, ...change } }, { replace: true });
  }

  setColumn(column: Column, change: Partial<BoardColumn>): void {
    this.set({ columns: withColumn(this.all.peek(), column.value, change) });
  }

  moveColumn(key: string, before: string | null): void {
    this.set({ columns: movedColumn(this.all.peek(), key, before) });
  }

  /** Show the next columns. */
  showMore(): void {
    this.most.value += MAX_BOARD_COLUMNS;
    if (this.all.peek().length < this.most.peek() && this.model.groups.more.peek()) this.model.groups.next();
  }

  /** The rows have changed: the card in focus may be in another row of the screen, or gone. */
  private changed(): void {
    const before = this.cards.peek();
    this.held.value = () => this.model.rows.entries();
    const { awaited } = this;
    if (awaited !== null && this.model.rows.at(awaited).kind === 'issue') this.goTo(awaited, { takesFocus: mayTakeFocus() });
    if (before.draft && !this.cards.peek().draft) this.tookDraft(before.draft, before.added);
    // The focus may have come to a column before its cards.
    const entered = this.awaited === null && this.focus.peek() === null ? this.shown.peek().find(({ key }) => this.views.get(key)?.isFocused()) : undefined;
    if (entered) this.entered(entered);
    this.followFocus();
  }

  /** The new card has become an issue: it gets the focus. `known`: the new issues before it. */
  private tookDraft(draft: Row, known: readonly number[]): void {
    const added = this.cards.peek().added.find((num) => !known.includes(num));
    if (added !== undefined && mayTakeFocus()) this.choose(this.cards.peek().columnOf(draft), added);
  }

  private followFocus(): void {
    this.findAgain();
    const focus = this.focus.peek();
    if (!focus) return;
    const row = this.model.rows.indexOf(focus.num);
    const found = this.placeOf(focus.num);
    if (row === undefined || !found) {
      this.replaceMissing(focus);
      return;
    }
    this.place = found.place;
    const hadFocus = found.column.key !== focus.column && document.activeElement?.closest('[data-column]')?.getAttribute('data-column') === focus.column;
    if (found.column.key !== focus.column) this.focus.value = { column: found.column.key, num: focus.num };
    if (hadFocus) this.views.get(found.column.key)?.focus();
    const selection = this.model.selection.peek();
    if (selection?.anchor.row !== row) {
      const cell = { row, column: 0 };
      this.model.selection.value = { anchor: cell, reach: cell };
    }
  }

  /** Give the focus to the card beside one that is in no column. A panel that shows the missing one keeps it. */
  private replaceMissing(focus: Focus): void {
    const drawer = this.model.panels.drawer.peek();
    if (drawer?.kind === 'issue' && drawer.num === focus.num) return;
    const column = this.shown.peek().find(({ key }) => key === focus.column);
    const slot = column && this.at(column, Math.max(0, Math.min(this.place, column.lane.length - 1)));
    if (!column || slot?.kind !== 'issue') return;
    this.choose(column.key, slot.row.num, { reveals: false, takesFocus: false });
    this.missing = { num: focus.num, since: Date.now() };
  }

  /** The user acts on the card in focus, so no other one takes the focus from it. */
  keepFocus(): void {
    this.missing = null;
  }

  /** A card that was in no column is in one again: it has the focus, unless the user has moved that meanwhile. */
  private findAgain(): void {
    const { missing } = this;
    if (!missing || !this.placeOf(missing.num)) return;
    this.missing = null;
    const focus = this.focus.peek();
    if (focus && Date.now() - missing.since <= RETURNS_WITHIN) this.focus.value = { column: focus.column, num: missing.num };
  }
}

/** Whether the focus is on the board or on nothing. */
function mayTakeFocus(): boolean {
  return document.activeElement === document.body || Boolean(document.activeElement?.closest('.board'));
}
