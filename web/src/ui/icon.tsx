/** Icons in the elements of screens; the grid draws the same ones (icons.ts). */
import { ICONS, type Icon as Name } from './icons';

export function Icon({ name }: { readonly name: Name }) {
  return (
    <svg viewBox="0 0 16 16" class="icon" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}
