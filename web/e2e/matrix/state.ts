/** A state of the page, and the helpers by which users open it. */
import type { Locator, Page } from 'playwright-core';
import type { Api } from '../../src/api/client';
import type { User } from '../../src/auth/session';
import { ProjectPage } from '../project-page';
import type { Places } from './places';

/** A window that shows the state, and what the state needs. */
export interface Opening {
  readonly page: Page;
  readonly api: Api;
  readonly places: Places;
}

export interface State {
  readonly name: string;
  /** The user; null before sign-in. An admin, if absent. */
  readonly user?: User | null;
  /** Opens the state, and waits until all of it is there. */
  readonly open: (opening: Opening) => Promise<unknown>;
}

/** Columns that all fit a wide window. The first ones are in view in a narrow one. */
export const COLUMNS = 'columns=num:56!,name:150,weight:90,kind:100,due:120,note:110,safe:70,price:110,done:110,stars:110,owner:100';

/** The full project with these columns and a view, and its rows. */
export function grid({ page, places }: Opening, view = ''): Promise<ProjectPage> {
  return ProjectPage.open({ page }, places.full, view.includes('columns=') ? view : `${COLUMNS}${view && `&${view}`}`);
}

/** A state of the full project. */
export function onGrid(name: string, view: string, open: (project: ProjectPage, opening: Opening) => Promise<unknown>): State {
  return { name, open: async (opening) => open(await grid(opening, view), opening) };
}

/** The rail, which is in front of the grid in a narrow window. */
export async function rail({ page }: Pick<Opening, 'page'>): Promise<Locator> {
  const button = page.getByRole('button', { name: 'Views and projects' });
  if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click();
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('button', { name: 'Actions for the view View 2' }).waitFor();
  return views;
}

/** The panel of the issue in a row. */
export async function issue(project: ProjectPage, row = 1): Promise<Locator> {
  await (await project.cell(row, 'Name')).click();
  await project.page.keyboard.press('Space');
  const panel = project.page.getByRole('complementary');
  await panel.getByLabel('New comment').waitFor();
  return panel;
}

/** Type a value into a cell, and take it. */
export async function type(project: ProjectPage, row: number, column: string, text: string): Promise<void> {
  await (await project.cell(row, column)).click();
  await project.page.keyboard.type(text);
  await project.page.keyboard.press('Enter');
}
