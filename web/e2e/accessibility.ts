/** Finds accessibility faults of a page with axe. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

export interface Finding {
  readonly id: string;
  readonly impact: string | null | undefined;
  /** The first elements with the fault, and its description. */
  readonly where: readonly string[];
}

/** Elements that a finding names. */
const NAMED = 3;

/** The findings of all rules, or only of the rules that `options` names. */
export async function findings(page: Page, options: RunOptions = {}): Promise<readonly Finding[]> {
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'));
  }
  const { violations } = await page.evaluate(
    (run) => (window as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(run),
    { ...options, resultTypes: ['violations' as const] },
  );
  return violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes.slice(0, NAMED).map(({ html, failureSummary = '' }) => `${html}\n${failureSummary}`) }));
}
