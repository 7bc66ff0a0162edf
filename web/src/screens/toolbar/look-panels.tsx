/** The colours and the height of rows. */
import type { ProjectModel } from '../../project/model';
import { ROW_HEIGHTS } from '../../view/view';
import { words } from '../../words';
import { ColorRules } from './color-rules';

export function ColorPanel({ model }: { readonly model: ProjectModel }) {
  const chosen = model.view.value.color;
  const fields = model.fields.filter(({ type }) => type === 'enum');
  return (
    <>
      <fieldset class="radios">
        <legend>{words.toolbar.colorBy}</legend>
        {[{ id: null, name: words.toolbar.noColor }, ...fields].map(({ id, name }) => (
          <label key={id}>
            <input type="radio" name="color" checked={chosen === id} onChange={() => model.change({ color: id })} />
            {name}
          </label>
        ))}
      </fieldset>
      <ColorRules model={model} />
    </>
  );
}

export function HeightPanel({ model }: { readonly model: ProjectModel }) {
  return (
    <fieldset class="radios">
      <legend>{words.toolbar.height}</legend>
      {ROW_HEIGHTS.map((height) => (
        <label key={height}>
          <input
            type="radio"
            name="height"
            checked={model.view.value.height === height}
            onChange={() => model.change({ height }, { replace: true })}
          />
          {words.toolbar.heights[height]}
        </label>
      ))}
    </fieldset>
  );
}
