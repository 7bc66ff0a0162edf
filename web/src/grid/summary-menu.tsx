/** Which summary a column has below it. */
import { memberOf } from '../fields/values';
import type { ProjectModel } from '../project/model';
import { Menu } from '../ui/menu';
import { functionsOf, withFooter } from '../view/footers';
import { words } from '../words';

interface SummaryMenuProps {
  readonly model: ProjectModel;
  readonly field: string;
  readonly anchor: HTMLElement;
  readonly onClose: () => void;
}

export function SummaryMenu({ model, field: id, anchor, onClose }: SummaryMenuProps) {
  const field = model.field(id);
  if (!field) return null;
  const { footers } = model.view.value;
  const entries = [null, ...functionsOf(field.type)].map((fn) => ({
    text: words.summary.functions[fn ?? 'none'],
    chosen: (memberOf(footers, id) ?? null) === fn,
    act: () => model.change({ footers: withFooter(footers, id, fn) }, { replace: true }),
  }));
  return <Menu anchor={anchor} label={words.summary.of(field.name)} groups={[entries]} onClose={onClose} />;
}
