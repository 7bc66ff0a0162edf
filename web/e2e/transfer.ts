/** Moves files into the page and out of it. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** Drop a CSV file onto the page, as from the desktop. */
export async function dropCsv(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ({ name, text }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name, { type: 'text/csv' }));
      return transfer;
    },
    { name, text },
  );
  const target = page.getByRole('grid');
  await target.dispatchEvent('dragover', { dataTransfer });
  await target.dispatchEvent('drop', { dataTransfer });
}

/** The file that `act` makes the page save. */
export async function saved(page: Page, act: () => Promise<void>): Promise<{ readonly name: string; readonly text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}
