/** The screens around a project, and a project that cannot be shown or has nothing to show. */
import { ProjectPage } from '../project-page';
import { EDITOR, VIEWER } from './places';
import { COLUMNS, grid, onGrid, rail, type Opening, type State } from './state';

const projects = async ({ page }: Opening) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'Demo' }).waitFor();
};

const failing = (name: string, address: string, seen: string, prepare: (opening: Opening) => Promise<unknown> = () => Promise.resolve()): State => ({
  name,
  open: async (opening) => {
    await prepare(opening);
    await opening.page.goto(address);
    await opening.page.getByText(seen).first().waitFor();
  },
});

const refusal = { type: 'about:blank', title: 'Internal server error', status: 500, detail: 'The request failed; its id is 4711.' };

export const AROUND: readonly State[] = [
  {
    name: 'sign-in',
    user: null,
    open: async ({ page }) => {
      await page.goto('/');
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
    },
  },
  {
    name: 'an ended session',
    open: async (opening) => {
      const { page } = opening;
      await grid(opening);
      await page.context().clearCookies();
      await page.reload();
      await page.getByText(/^(Your session has ended|This address has no valid key)/).or(page.getByRole('button', { name: 'Sign in' })).first().waitFor();
    },
  },
  { name: 'projects', open: projects },
  {
    name: 'deleted projects',
    open: async (opening) => {
      await projects(opening);
      await opening.page.getByText('Deleted projects…').click();
      await opening.page.getByText(/No deleted projects\.|\d+ projects?/).first().waitFor();
    },
  },
  {
    name: 'a new project',
    open: async (opening) => {
      await projects(opening);
      await opening.page.getByRole('button', { name: 'New project' }).click();
      await opening.page.getByRole('dialog', { name: 'New project' }).waitFor();
    },
  },
  failing('a page that does not exist', '/projects/demo/nowhere', 'Page not found'),
  failing('a project that does not exist', '/projects/absent', 'Project not found'),
  failing('offline', '/projects/demo', 'You are offline', ({ page }) => page.route('**/grid', (route) => route.abort('internetdisconnected'))),
  failing('an API that fails', '/projects/demo', 'Internal server error', ({ page }) =>
    page.route('**/grid', (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', json: refusal })),
  ),
  failing('no match', '/projects/demo?search=unheard', 'No issues match the filter'),
  {
    name: 'loading rows',
    open: async ({ page, places }) => {
      await page.route('**/grid', () => undefined);
      await page.goto(`/projects/${places.full}?${COLUMNS}`);
      await page.locator('.cell-loading').first().waitFor();
    },
  },
  {
    name: 'a project without issues',
    open: async ({ page, places }) => {
      await page.goto(`/projects/${places.empty}`);
      await page.getByText('This project has no issues yet').waitFor();
    },
  },
  {
    name: 'an order without an index, for an admin',
    open: async ({ page, places }) => {
      await page.goto(`/projects/${places.full}?sort=plain`);
      await page.getByRole('button', { name: 'Index Plain' }).waitFor();
    },
  },
  {
    name: 'an order without an index, for an editor',
    user: EDITOR,
    open: async ({ page, places }) => {
      await page.goto(`/projects/${places.full}?sort=plain`);
      await page.getByText('Ask an admin to do this: Index Plain.').waitFor();
    },
  },
  {
    name: 'a view that lost a field',
    open: async ({ page, places }) => {
      await page.goto(`/projects/${places.full}?view=v13`);
      await page.getByText('Parts of this view no longer exist').waitFor();
      await new ProjectPage(page, places.full).rows();
    },
  },
  { name: 'a viewer’s grid', user: VIEWER, open: (opening) => grid(opening) },
  onGrid('views', '', rail),
  onGrid('an edited view', 'view=v1&edited=1&sort=-weight', async (_, opening) => (await rail(opening)).getByRole('button', { name: 'Discard changes' }).waitFor()),
  onGrid('the menu of a view', '', async (_, opening) => {
    await (await rail(opening)).getByRole('button', { name: 'Actions for the view View 2', exact: true }).click();
    await opening.page.getByRole('menu').waitFor();
  }),
  ...['Rename', 'Delete view'].map((entry) =>
    onGrid(`a view: ${entry}`, '', async (_, opening) => {
      await (await rail(opening)).getByRole('button', { name: 'Actions for the view View 2', exact: true }).click();
      await opening.page.getByRole('menuitem', { name: entry, exact: true }).click();
      await opening.page.getByRole('dialog', { name: entry }).waitFor();
    }),
  ),
  onGrid('a new view', 'sort=-weight', async (project) => {
    await project.more('Save as view');
    await project.panel('Save as view').waitFor();
  }),
  onGrid('the switch of projects', '', async (project, opening) => {
    await rail(opening);
    await project.page.getByRole('button', { name: /, switch project$/ }).click();
    await project.panel('Projects').getByRole('link', { name: 'Demo' }).waitFor();
  }),
  onGrid('the account menu', '', async ({ page }) => {
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Dark theme' }).waitFor();
  }),
];
