/** Milliseconds to wait for anything: longer than it takes, for slow or busy machines. */
export const TIMEOUT = 120_000;
