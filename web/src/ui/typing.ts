/** Decides whether a key press belongs to an input. */

/** Types of inputs without text. */
const NOT_TYPED = new Set(['button', 'checkbox', 'color', 'file', 'radio', 'range', 'reset', 'submit']);

/** Whether the user types into an element, to which the keys then belong. */
export function isTyping(element: Element | null): boolean {
  if (element instanceof HTMLTextAreaElement) return true;
  return element instanceof HTMLInputElement && !NOT_TYPED.has(element.type);
}
