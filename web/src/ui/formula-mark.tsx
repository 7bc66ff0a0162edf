/** The mark of a field that a formula computes. */
import { words } from '../words';

export function FormulaMark({ formula }: { readonly formula: string | null }) {
  if (formula === null) return null;
  return (
    <span class="formula-mark" role="img" aria-label={words.computed.title} title={words.computed.is(formula)}>
      {words.computed.mark}
    </span>
  );
}

/** The same mark without Preact. */
export function formulaMark(formula: string): HTMLElement {
  const element = document.createElement('span');
  element.className = 'formula-mark';
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', words.computed.title);
  element.title = words.computed.is(formula);
  element.textContent = words.computed.mark;
  return element;
}
