/** What the entries of menus act on. */
import type { CellEdit } from '../edits/change';
import type { Actions } from '../project/actions';
import type { ProjectModel } from '../project/model';

export interface MenuSources {
  readonly model: ProjectModel;
  readonly actions: Actions;
  /** Create an issue with some values, and edit its name. */
  readonly onAdd: (values?: readonly Pick<CellEdit, 'field' | 'after'>[]) => void;
}
