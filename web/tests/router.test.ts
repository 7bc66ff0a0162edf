import { beforeEach, expect, it, vi } from 'vitest';

const HERE = '/projects/demo';

/** A browser's window with the addresses that the user has visited. The module listens to it, so each test loads its own. */
async function begun() {
  const steps = [HERE];
  const location = { pathname: HERE, search: '' };
  const show = (target: string) => {
    const { pathname, search } = new URL(target, 'http://x');
    Object.assign(location, { pathname, search });
  };
  let popped = () => undefined as unknown;
  vi.stubGlobal('window', {
    location,
    history: {
      pushState: (_: unknown, __: string, target: string) => {
        steps.push(target);
        show(target);
      },
    },
    addEventListener: (_: string, listener: () => unknown) => (popped = listener),
  });
  vi.resetModules();
  const router = await import('../src/router');
  return {
    ...router, steps, location,
    /** The browser's back button. */
    back: (to: string) => {
      steps.pop();
      show(to);
      popped();
    },
  };
}

const ask = vi.fn<() => boolean>();
beforeEach(() => ask.mockReset());

it('leaving a screen by a link or the back button is asked about first', async () => {
  const { askBeforeLeaving, back, location, route, search, steps, visit } = await begun();
  askBeforeLeaving(ask);
  visit(`${HERE}?view=v1`);
  expect(ask).not.toHaveBeenCalled();

  ask.mockReturnValue(false);
  visit('/projects/other');
  expect([ask.mock.calls.length, location.pathname]).toEqual([1, HERE]);
  back('/projects/other');
  expect(ask).toHaveBeenCalledTimes(2);
  expect(route.value).toEqual({ screen: 'project', project: 'demo' });
  expect([location.pathname, location.search, search.value]).toEqual([HERE, '?view=v1', 'view=v1']);
  expect(steps.at(-1)).toBe(`${HERE}?view=v1`);

  ask.mockReturnValue(true);
  back('/projects/other');
  expect(route.value).toEqual({ screen: 'project', project: 'other' });
  visit('/');
  expect(route.value).toEqual({ screen: 'projects' });
});

it('the back button within a screen, and a step of the page itself, ask nothing', async () => {
  const { askBeforeLeaving, back, go, route, search } = await begun();
  askBeforeLeaving(ask.mockReturnValue(false));
  go(`${HERE}?view=v1`);
  back(HERE);
  expect(search.value).toBe('');
  go('/');
  expect([route.value.screen, ask.mock.calls.length]).toEqual(['projects', 0]);
});
