/** The refused texts of cells, beside the grid, with the reasons. */
import { refusedIn, type RefusedCell } from '../edits/marks';
import type { ProjectModel } from '../project/model';
import { Drawer } from '../ui/drawer';
import { words } from '../words';

/** The number of listed texts; the others are counted. */
const SHOWN = 200;

interface RefusedDrawerProps {
  readonly model: ProjectModel;
  /** Go to a cell. */
  readonly onShow: (num: number, field: string) => void;
}

export function RefusedDrawer({ model, onShow }: RefusedDrawerProps) {
  const place = new Map(model.columns.value.map(({ field }, at) => [field, at]));
  const placeOf = ({ field }: RefusedCell) => place.get(field) ?? place.size;
  const cells = refusedIn(model.editor.marks.value).sort((one, other) => one.num - other.num || placeOf(one) - placeOf(other));
  const more = cells.length - SHOWN;
  return (
    <Drawer title={words.refused.title} onClose={() => model.panels.close()}>
      <p class="soft" role="status">
        {cells.length ? words.refused.what : words.refused.none}
      </p>
      <ul class="refused">
        {cells.slice(0, SHOWN).map(({ num, field, note }) => (
          <li key={`${num} ${field}`}>
            <button class="link-inline" type="button" onClick={() => onShow(num, field)}>
              {words.refused.cell(num, model.field(field)?.name ?? field)}
            </button>
            <p class="bad">{note}</p>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="soft">{words.refused.more(more)}</p>}
    </Drawer>
  );
}
