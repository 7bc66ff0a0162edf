import { describe, expect, it } from 'vitest';
import { Api } from '../src/api/client';
import type { Row } from '../src/fields/values';
import { OpenIssue } from '../src/project/open-issue';

const issueOf = (version: number, name: string) => ({ num: 1, version, name, fields: {} });

/** The issue of a panel, whose reads are answered one by one. */
function panel(upToDate: (row: Row) => Row = (row) => row) {
  const answers: ((issue: unknown) => void)[] = [];
  const api = new Api({ sign: () => Promise.resolve(), expired: () => undefined }, () => new Promise((resolve) => answers.push((issue) => resolve(Response.json(issue)))));
  const issue = new OpenIssue(api, 'p', upToDate);
  const read = async (answer: unknown, meanwhile: () => void = () => undefined) => {
    const shown = issue.show(1);
    while (!answers.length) await Promise.resolve();
    meanwhile();
    answers.shift()?.(answer);
    await shown;
  };
  return { issue, answers, read, name: () => issue.row.value?.values['name'] };
}

describe('the issue in the panel', () => {
  it('is shown with the edits and changes that its answer lacks', async () => {
    const { read, name } = panel((row) => ({ ...row, values: { ...row.values, name: 'typed' } }));
    await read(issueOf(1, 'stored'));
    expect(name()).toBe('typed');
  });

  it('keeps a later version than the one that is read', async () => {
    const { issue, read, name } = panel();
    await read(issueOf(1, 'stored'));
    await read(issueOf(1, 'stored'), () => issue.replace(1, (row) => ({ ...row, version: 2, values: { ...row.values, name: 'written' } })));
    expect(name()).toBe('written');
    await read(issueOf(3, 'latest'));
    expect([name(), issue.trail.value?.version]).toEqual(['latest', 3]);
  });

  it('is read again when the user comes back before the next one has come', async () => {
    const { issue, answers, read, name } = panel();
    await read(issueOf(1, 'first'));
    const shown = [issue.show(2, 1), issue.show(1, 1)];
    expect(name()).toBeUndefined();
    await expect.poll(() => answers.length).toBe(2);
    answers[0]?.({ ...issueOf(1, 'next'), num: 2 });
    answers[1]?.(issueOf(1, 'again'));
    await Promise.all(shown);
    expect([name(), issue.trail.value?.num, issue.error.value]).toEqual(['again', 1, null]);
  });
});
