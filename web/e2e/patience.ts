/** Milliseconds that anything is waited for: longer than it takes, for machines that are slow or busy. */
export const PATIENCE = 120_000;
