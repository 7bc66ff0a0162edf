/** Milliseconds that anything is waited for: longer than it takes, for machines that are slow or busy. */
export const PATIENCE = 60_000;
