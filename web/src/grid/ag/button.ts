/** A button in a cell or a head of the grid, whose own keys reach it: Tab passes it by. */
export function buttonOf(name: string): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = name;
  button.tabIndex = -1;
  return button;
}
