/** The texts of the board, which load with it. */
import { words } from '../words';

const cardsOf = (cards: number) => `${words.count(cards)} ${cards === 1 ? 'card' : 'cards'}`;
/** One card by its name, several by their number. */
const what = (name: string, cards: number) => (cards === 1 ? `“${name}”` : cardsOf(cards));

export const boardWords = {
  label: (project: string) => `Board of ${project}`,
  column: (name: string, cards: number) => `${name}, ${cardsOf(cards)}`,
  number: (num: number) => `No. ${num}`,
  cards: cardsOf,
  count: (cards: number, limit: number | null) => (limit === null ? words.count(cards) : `${words.count(cards)} / ${words.count(limit)}`),
  over: (by: number) => `${cardsOf(by)} over the limit`,
  add: (column: string) => `New card in ${column}`,
  menu: (column: string) => `${column} column menu`,
  keys: 'Space picks up a card, arrow keys choose a column, Space drops it, Escape cancels. Enter opens the issue.',
  viewKeys: 'Enter opens the issue.',
  open: 'Open the issue',
  loading: 'Loading …',
  draft: 'Name of the new card',
  none: 'No cards',
  hidden: 'Hidden columns',
  show: (column: string) => `Show the column ${column}`,
  showing: 'Show',
  more: (columns: number) => `${words.count(columns)} more ${columns === 1 ? 'column' : 'columns'}`,
  moreUnknown: 'More columns',
  pickedUp: (name: string, cards: number, column: string) =>
    `Picked up ${what(name, cards)} from ${column}. Arrow keys choose a column, Space drops, Escape cancels.`,
  comesOver: (column: string, place: number, columns: number) => `${column}, column ${place} of ${columns}.`,
  comesBefore: (card: string) => `Before “${card}”.`,
  comesLast: 'At the end of the column.',
  keysManual: 'Space picks up a card, arrow keys choose a column and a place, Space drops it, Escape cancels. Enter opens the issue.',
  moved: (name: string, cards: number, column: string) => `Moved ${what(name, cards)} to ${column}.`,
  stays: (name: string, cards: number) => `Cancelled. ${what(name, cards)} ${cards === 1 ? 'stays' : 'stay'} in place.`,
  notMoved: (cards: number) => `${cardsOf(cards)} could not be moved.`,
  tooMany: (most: number) => `At most ${cardsOf(most)} move at once. Uncheck some, or use “Change” below the board.`,
  moveTo: (column: string) => `Move to ${column}`,
  card: (num: number) => `Card of issue ${num}`,
  left: 'Move column left',
  right: 'Move column right',
  hide: 'Hide column',
  panel: {
    by: 'Columns by',
    columns: 'Columns',
    limit: (column: string) => `Limit of ${column}`,
    limitShort: 'Limit',
    card: 'On the cards',
    find: 'Find a field',
    aggregate: 'Beside the counts',
    noAggregate: 'Nothing',
    function: 'Function',
    up: (field: string) => `Move ${field} up`,
    down: (field: string) => `Move ${field} down`,
    full: (most: number) => `A card shows at most ${most} fields.`,
  },
} as const;
