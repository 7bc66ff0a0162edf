/** Every state of the page, and how a user opens it. */
import { AROUND } from './states-around';
import { BESIDE } from './states-beside';
import { IN_FRONT } from './states-in-front';
import { ON_GRID } from './states-on-grid';
import type { State } from './state';

export const STATES: readonly State[] = [...AROUND, ...ON_GRID, ...BESIDE, ...IN_FRONT];
