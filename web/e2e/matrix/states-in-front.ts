/** The windows in front of the page. */
import type { Locator } from 'playwright-core';
import { ProjectPage } from '../project-page';
import { dropCsv, saved } from '../transfer';
import { RECEIVER } from './places';
import { onGrid, type Opening, type State } from './state';

const FILE = ['Title,Weight,Found on,Kind', '"Girder, north",12.5,2024-02-28,beam', ',4,2024-03-02,beam', 'A title that is too long for the column of a preview,5,2024-03-03,bolt'].join('\r\n');

/** A window that the menu “More” opens. */
const ofMore = (name: string, entry: string, title: string | RegExp, fill: (window: Locator, project: ProjectPage) => Promise<unknown>) =>
  onGrid(name, '', async (project) => {
    await project.more(entry);
    const window = project.page.getByRole('dialog', { name: title });
    await window.waitFor();
    await fill(window, project);
  });

const settings = (name: string, fill: (window: Locator) => Promise<unknown>) => ofMore(`settings: ${name}`, 'Project settings', /^Settings of/, fill);
const webhooks = (name: string, fill: (window: Locator) => Promise<unknown>) =>
  ofMore(`webhooks: ${name}`, 'Webhooks', 'Webhooks', async (window) => {
    await window.getByRole('listitem', { name: RECEIVER, exact: true }).waitFor();
    await fill(window);
  });

/** Open a field in the settings. */
const field = (name: string) =>
  settings(`the field ${name}`, async (window) => {
    await window.locator('.attribute-name').getByText(name, { exact: true }).click();
    await window.getByLabel('Description').filter({ visible: true }).waitFor();
  });

/** Type the formula of a new field. */
async function newFormula(window: Locator, formula: string): Promise<void> {
  await window.getByLabel('Name of a new field').fill('Sum');
  await window.getByLabel('Type', { exact: true }).selectOption('Formula');
  await window.locator('.new-field').getByRole('textbox', { name: 'Formula' }).pressSequentially(formula);
}

/** The dropped file, before it is imported. */
async function dropped({ page, places }: Opening): Promise<Locator> {
  await page.goto(`/projects/${places.empty}`);
  await page.getByText('This project has no issues yet').waitFor();
  await dropCsv(page, 'parts.csv', FILE);
  const window = page.getByRole('dialog', { name: /^Import into/ });
  await window.getByText('Nothing is imported yet.').waitFor();
  return window;
}

async function jobs({ page, places }: Opening): Promise<Locator> {
  const project = await ProjectPage.open({ page }, places.few);
  await project.more('Background jobs');
  const window = project.panel('Background jobs');
  await window.getByText('2 refused.').first().waitFor();
  return window;
}

const commands = (name: string, text: string, seen: string | RegExp) =>
  onGrid(name, '', async (project) => {
    await (await project.cell(1, 'Name')).click();
    await project.page.keyboard.press('Control+k');
    const window = project.page.getByRole('dialog', { name: 'Commands' });
    await window.getByRole('combobox').fill(text);
    await window.getByText(seen).first().waitFor({ state: 'attached' });
  });

export const IN_FRONT: readonly State[] = [
  commands('the commands', '', /Keyboard shortcuts/),
  commands('found commands', 'view', /View 2/),
  commands('no command', 'nothing like it', 'Nothing found.'),
  onGrid('the keyboard shortcuts', '', async ({ page }) => {
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  }),
  onGrid('a question before a deletion', '', async (project) => {
    await project.gutter(1).click({ button: 'right' });
    await project.page.getByRole('menuitem', { name: 'Delete…' }).click();
    await project.page.getByRole('dialog', { name: /^Delete/ }).waitFor();
  }),
  onGrid('a question before new rows', '', async (project) => {
    await (await project.cell(1, 'Name')).click();
    await project.page.keyboard.press('Control+End');
    await project.page.evaluate(() => navigator.clipboard.writeText('First\nSecond\nThird'));
    await project.page.keyboard.press('Control+v');
    await project.page.getByRole('dialog', { name: /^Add \d new rows?\?/ }).waitFor();
  }),
  settings('all', (window) => window.getByText('Composite indexes').waitFor()),
  settings('name, states, deletion', async (window) => {
    await window.getByText('Name, states, deletion').click();
    await window.getByRole('button', { name: 'Delete project' }).click();
  }),
  field('Kind'),
  field('Price'),
  field('Note'),
  field('Due'),
  settings('a deletion of a field', async (window) => {
    await window.locator('.attribute-name').getByText('Shape', { exact: true }).click();
    await window.getByRole('button', { name: 'Delete field' }).filter({ visible: true }).click();
    await window.getByRole('alert').scrollIntoViewIfNeeded();
  }),
  settings('a new field with options', async (window) => {
    await window.getByLabel('Name of a new field').fill('Supplier');
    await window.getByLabel('Type', { exact: true }).selectOption('One option');
    await window.getByLabel('Options, one per line').scrollIntoViewIfNeeded();
  }),
  settings('a formula with a list of fields', async (window) => {
    await newFormula(window, 'ROUND({pri');
    await window.getByRole('listbox', { name: 'Fields and functions' }).waitFor();
  }),
  settings('a formula with its first values', async (window) => {
    await newFormula(window, '{price} / ({long} - 3)');
    await window.getByText('No value: division by zero').scrollIntoViewIfNeeded();
  }),
  settings('a formula with an error', async (window) => {
    await newFormula(window, '{price} * {nothing like it} + 2');
    await window.getByText('At {nothing like it}:').scrollIntoViewIfNeeded();
  }),
  field('Ratio'),
  settings('deleted fields', async (window) => {
    await window.getByText('Deleted fields…').click();
    await window.getByText('Gone', { exact: true }).scrollIntoViewIfNeeded();
    await window.getByRole('button', { name: 'Delete permanently: Gone' }).click();
  }),
  settings('indexes', async (window) => {
    await window.getByText('Composite indexes').scrollIntoViewIfNeeded();
    await window.getByRole('button', { name: 'Add a field' }).last().click();
  }),
  webhooks('the list', (window) => window.getByRole('button', { name: 'Add webhook' }).waitFor()),
  webhooks('a new one', (window) => window.getByRole('button', { name: 'Add webhook' }).scrollIntoViewIfNeeded()),
  webhooks('the log', async (window) => {
    const item = window.getByRole('listitem', { name: RECEIVER, exact: true });
    await item.getByText('Messages of the last 7 days').click();
    await item.getByRole('button', { name: 'Send again' }).first().waitFor();
  }),
  webhooks('an edited one', async (window) => {
    const item = window.getByRole('listitem', { name: `${RECEIVER}/of` });
    await item.getByText('URL, issues, fields and events').click();
    await item.getByRole('button', { name: 'Save' }).scrollIntoViewIfNeeded();
  }),
  webhooks('a deletion', async (window) => {
    await window.getByRole('listitem', { name: RECEIVER, exact: true }).getByRole('button', { name: 'Delete webhook' }).click();
    await window.getByRole('alert').waitFor();
  }),
  ofMore('webhooks: a secret', 'Webhooks', 'Webhooks', async (window, { page }) => {
    // The answer of the API is held, so no webhook is made.
    await page.route('**/webhooks', (route) => {
      const { url } = (route.request().postDataJSON() ?? {}) as { readonly url?: string };
      if (route.request().method() !== 'POST') return route.continue();
      const made = { id: 'w99', url, view: null, frozen: null, columns: null, events: ['create'], enabled: true, version: 1, warning: null, rotating_until: null, secret: `whsec_${'a1b2c3d4'.repeat(6)}` };
      return route.fulfill({ status: 201, json: made });
    });
    const form = window.getByRole('region', { name: 'New webhook' });
    await form.getByLabel('URL', { exact: true }).fill(RECEIVER);
    await form.getByRole('button', { name: 'Add webhook' }).click();
    await window.getByRole('region', { name: 'Secret' }).locator(':focus').waitFor();
  }),
  ofMore('the trash', 'Trash', 'Trash', (window) => window.getByRole('button', { name: /^Delete permanently/ }).waitFor()),
  ofMore('the trash: a deletion', 'Trash', 'Trash', async (window) => {
    await window.getByRole('button', { name: /^Delete permanently/ }).click();
    await window.getByRole('alert').waitFor();
  }),
  {
    name: 'an empty trash',
    open: async ({ page, places }) => {
      const project = await ProjectPage.open({ page }, places.few);
      await project.more('Trash');
      await page.getByText('The trash is empty.').waitFor();
    },
  },
  { name: 'jobs', open: jobs },
  {
    name: 'jobs: refused issues',
    open: async (opening) => {
      const window = await jobs(opening);
      await window.getByText('2 issues were refused').first().click();
      await window.getByRole('button', { name: 'Show all fields of issue 3' }).waitFor();
    },
  },
  ofMore('no jobs', 'Background jobs', 'Background jobs', (window) => window.getByText(/^(No jobs\.|Jobs continue)/).first().waitFor()),
  ofMore('an import', 'Import CSV', /^Import into/, (window) => window.getByText('Choose a CSV file, or drop one onto the page.').waitFor()),
  { name: 'a file before its import', open: dropped },
  {
    name: 'a file after its import',
    open: async (opening) => {
      const window = await dropped(opening);
      // The API refuses each row, so the project stays empty.
      await opening.page.route('**/issues/batch', (route) => {
        const { operations } = route.request().postDataJSON() as { readonly operations: readonly unknown[] };
        const problem = { type: 'about:blank', title: 'Bad request', status: 400, detail: 'Name is required', errors: [{ field: 'name', message: 'is required' }] };
        return route.fulfill({ json: { results: operations.map(() => ({ status: 400, problem })) } });
      });
      await window.getByLabel('Field for Title').selectOption('Name');
      for (const column of ['Weight', 'Found on', 'Kind']) await window.getByLabel(`Field for ${column}`).selectOption('Do not import');
      await window.getByRole('button', { name: 'Import 3 rows' }).click();
      await window.getByText('3 rows refused.').waitFor();
    },
  },
  ofMore('an export', 'Export as CSV', 'Export as CSV', (window) => window.getByText('Raw values', { exact: true }).waitFor()),
  ofMore('a written export', 'Export as CSV', 'Export as CSV', async (window, { page }) => {
    await saved(page, () => window.getByRole('button', { name: 'Export', exact: true }).click());
    await window.getByText(/^Done: \d+ rows\.$/).waitFor();
  }),
];
