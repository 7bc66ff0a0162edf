/** Addresses of the page. The back button, a link and a reload lead to the same screen in the same state. */
import { computed, signal } from '@preact/signals';

export type Route =
  | { readonly screen: 'projects' }
  | { readonly screen: 'project'; readonly project: string }
  | { readonly screen: 'unknown' };

const address = signal(here());

/** Whether the user may leave the screen: asks if something on it is not saved. */
let mayLeave: () => boolean = () => true;

/** Ask this before the user leaves a screen, by a link or by the back button. */
export function askBeforeLeaving(ask: () => boolean): void {
  mayLeave = ask;
}

window.addEventListener('popstate', () => {
  // The browser shows the other address already, and cannot be stopped: the user's own becomes a step after it.
  if (here().pathname !== address.peek().pathname && !mayLeave()) go(present());
  else address.value = here();
});

export const route = computed(() => routeOf(address.value.pathname));

/** The query part of the address, without its question mark. */
export const search = computed(() => address.value.search);

function routeOf(pathname: string): Route {
  if (pathname === '/') return { screen: 'projects' };
  const project = /^\/projects\/([a-z0-9]{2,32})\/?$/.exec(pathname)?.[1];
  return project === undefined ? { screen: 'unknown' } : { screen: 'project', project };
}

/** The present address, as `go` takes it. */
export function present(): string {
  const { pathname, search: query } = address.peek();
  return pathname + (query && `?${query}`);
}

export function addressOfProject(project: string): string {
  return `/projects/${project}`;
}

/** Go to an address of the page, without asking; `replace` leaves no step for the back button. */
export function go(target: string, { replace = false } = {}): void {
  if (replace) window.history.replaceState(null, '', target);
  else window.history.pushState(null, '', target);
  address.value = here();
}

/** The user goes to an address of the page. Another screen discards what is not saved on this one, so that is asked first. */
export function visit(target: string): void {
  const [pathname] = target.split('?');
  if (pathname === address.peek().pathname || mayLeave()) go(target);
}

/** The click handler of links within the page. The browser handles a click that asks for a new tab. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.currentTarget;
  if (!(link instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  visit(link.pathname + link.search);
}

function here(): { readonly pathname: string; readonly search: string } {
  return { pathname: window.location.pathname, search: window.location.search.slice(1) };
}
