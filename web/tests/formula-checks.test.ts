import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Api } from '../src/api/client';
import { FormulaChecks } from '../src/project/formula-checks';

/** Checks by an API whose answer about a text comes after so many milliseconds as the text says. */
function checksOf(attribute: string | null = null) {
  const asked: unknown[] = [];
  const fetch = async (_: unknown, { body: sent, signal }: RequestInit = {}) => {
    const body = JSON.parse(sent as string) as { readonly formula: string };
    asked.push(body);
    await new Promise((resolve, reject) => {
      setTimeout(resolve, Number(body.formula.replace(/\D/g, '')));
      signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    });
    const answer = (status: number, content: object) => new Response(JSON.stringify(content), { status, headers: { 'Content-Type': 'application/json' } });
    if (body.formula.startsWith('bad')) {
      return answer(400, { type: 'invalid-request', title: 'Invalid request', status: 400, position: 3, errors: [{ field: 'formula', message: 'No such field.' }] });
    }
    return answer(200, { type: 'number', formula: body.formula, uses: [], values: [] });
  };
  const api = new Api({ sign: () => Promise.resolve(), expired: vi.fn() }, fetch);
  return { asked, checks: new FormulaChecks(api, 'p', [1, 2], attribute) };
}

describe('a formula that is typed', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is checked after a pause, and only the answer about the last text counts', async () => {
    const { asked, checks } = checksOf('total');
    checks.typed('1');
    await vi.advanceTimersByTimeAsync(100);
    checks.typed('900');
    await vi.advanceTimersByTimeAsync(400);
    expect(checks.state.value.kind).toBe('checking');
    checks.typed('10');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual([{ formula: '900', nums: [1, 2], attribute: 'total' }, { formula: '10', nums: [1, 2], attribute: 'total' }]);
    expect(checks.state.value).toMatchObject({ kind: 'valid', checked: { formula: '10' } });
    checks.typed(' ');
    expect(checks.state.value.kind).toBe('empty');
  });

  it('has an error with its place', async () => {
    const { checks } = checksOf();
    checks.typed('bad');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(checks.state.value).toEqual({ kind: 'refused', message: 'No such field.', position: 3 });
  });

  it('is checked at once when it is saved', async () => {
    const { asked, checks } = checksOf();
    checks.typed('20');
    const checked = checks.check('20');
    await vi.advanceTimersByTimeAsync(50);
    expect(await checked).toMatchObject({ type: 'number' });
    expect(await checks.check('20')).toMatchObject({ type: 'number' });
    expect(asked).toHaveLength(1);
    const refused = checks.check('bad 5');
    await vi.advanceTimersByTimeAsync(50);
    expect(await refused).toBeNull();
  });
});
