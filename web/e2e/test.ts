/**
 * `test` with a browser, the stack, and visits of users to the page. A visit with an unexpected fault fails its test.
 */
import { expect, inject, test as plain } from 'vitest';
import type { User } from '../src/auth/session';
import { openBrowser, Visit, type Look } from './browser';
import { makePlaces } from './matrix/places';
import { ADMIN, Stack } from './stack';

export const test = plain
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await openBrowser(inject('chromium'));
    onCleanup(() => browser.close());
    return browser;
  })
  /** An address that `./dev up` has printed. Its key is spent when the stack is entered. */
  .extend('address', { scope: 'worker' }, () => inject('pages')[Number(process.env['VITEST_POOL_ID']) - 1] ?? '')
  .extend('stack', { scope: 'worker' }, ({ browser, address }) => Stack.enter(browser, address))
  /** Here, because a test that extends this one would enter the stack again. */
  .extend('places', { scope: 'worker' }, ({ stack }) => makePlaces(stack))
  /** Opens the page for a signed-in user, or without one. */
  .extend('visit', ({ browser, stack, task }, { onCleanup }) => {
    const visits: Visit[] = [];
    onCleanup(async () => {
      // A lost focus cannot be seen in the error of a test that waits for its effect.
      if (task.result?.state === 'fail') for (const visit of visits) console.error(await visit.recent());
      for (const visit of visits) await visit.end();
      expect(visits.flatMap(({ faults }) => faults)).toEqual([]);
    });
    const begin = async (user: User | null = ADMIN, look: Look = {}) => {
      const cookies = user ? await stack.cookiesOf(user) : stack.entrance;
      const visit = await Visit.begin(browser, stack.origin, cookies, { late: inject('late'), ...look });
      visits.push(visit);
      return visit;
    };
    return begin;
  })
  .extend('api', ({ stack }) => stack.api(ADMIN));
