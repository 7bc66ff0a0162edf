/** Every text of the page, in one place, ready to translate. Texts with a number in them are functions. */

const numbers = new Intl.NumberFormat();
const plurals = new Intl.PluralRules();

function counted(count: number, one: string, other: string): string {
  return `${numbers.format(count)} ${plurals.select(count) === 'one' ? one : other}`;
}

export const words = {
  product: 'gridview',
  fields: { num: 'No.', name: 'Name', state: 'State', created: 'Created', updated: 'Updated' },
  roles: { viewer: 'Viewer', editor: 'Editor', admin: 'Admin' },
  count: (count: number) => numbers.format(count),
  loading: 'Loading …',
  retry: 'Try again',
  signIn: {
    title: 'Sign in',
    hint: 'This stack runs on your machine. Choose who to be.',
    tenant: 'Tenant',
    user: 'User',
    role: 'Role',
    submit: 'Sign in',
    out: 'Sign out',
    expired: 'Your session has ended. Sign in to go on where you were.',
    locked: 'Open this page with the address that ./dev up prints: it has the key of this stack.',
    failed: 'Signing in did not work.',
  },
  projects: {
    title: 'Projects',
    search: 'Search projects',
    none: 'There is no project yet.',
    noneFound: 'No project has this in its name.',
    failed: 'The projects could not be loaded.',
  },
  project: {
    failed: 'The project could not be loaded.',
    grid: (project: string) => `Issues of ${project}`,
    shown: (matched: number | null, total: number | null) =>
      matched === null || total === null
        ? 'Counting …'
        : matched === total
          ? counted(total, 'issue', 'issues')
          : `${numbers.format(matched)} of ${counted(total, 'issue', 'issues')}`,
  },
  header: {
    menu: (field: string) => `Menu of ${field}`,
    sorted: (direction: 'asc' | 'desc', rank: number | null) =>
      `sorted ${direction === 'asc' ? 'ascending' : 'descending'}${rank === null ? '' : `, key ${rank}`}`,
  },
  cell: {
    loading: 'Loading',
    gone: 'This row has moved.',
    failed: 'This row could not be loaded.',
    yes: 'Yes',
    no: 'No',
    empty: '(empty)',
  },
  unknown: { title: 'There is no such page', back: 'All projects' },
} as const;
