/** Others who have the project open, by their initials, and the issues at which they look. */
import { initialsOf } from '../auth/session';
import type { Looker } from '../live/socket';
import { words } from '../words';

/** The number of users shown by their initials; the others are counted. */
const SHOWN = 5;

export function Lookers({ lookers }: { readonly lookers: readonly Looker[] }) {
  if (!lookers.length) return null;
  const more = lookers.slice(SHOWN);
  return (
    <ul class="lookers" aria-label={words.lookers.title}>
      {lookers.slice(0, SHOWN).map(({ user, name, num }) => (
        <li key={user} title={words.lookers.at(name, num)}>
          <span class="initials" aria-hidden="true">
            {initialsOf(name)}
          </span>
          <span class="visually-hidden">{words.lookers.at(name, num)}</span>
        </li>
      ))}
      {more.length > 0 && <li title={more.map(({ name, num }) => words.lookers.at(name, num)).join(', ')}>+{more.length}</li>}
    </ul>
  );
}
