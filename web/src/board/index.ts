/** What the page loads of the board when it shows one. */
export { BoardPanel } from './board-panel';
export { BoardView } from './board-view';
