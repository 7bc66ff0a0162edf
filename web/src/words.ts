/** Every text of the page, in one place, ready to translate. Texts with a number in them are functions. */
import type { SummaryFunction } from './view/footers';

const numbers = new Intl.NumberFormat();
const amounts = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const money = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });
const plurals = new Intl.PluralRules();

function counted(count: number, one: string, other: string): string {
  return `${numbers.format(count)} ${plurals.select(count) === 'one' ? one : other}`;
}

/** A length of time, rounded. */
function lasting(seconds: number): string {
  const [unit, length] = seconds < 60 ? ['second', 1] : seconds < 3600 ? ['minute', 60] : ['hour', 3600];
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, maximumFractionDigits: 1 }).format(seconds / length);
}

/** The nouns of units of days, for one and for several. */
const DAY_UNITS = {
  day: ['day', 'days'],
  week: ['week', 'weeks'],
  month: ['month', 'months'],
  quarter: ['quarter', 'quarters'],
  year: ['year', 'years'],
} as const;

function away(count: number, unit: keyof typeof DAY_UNITS): string {
  const [one, other] = DAY_UNITS[unit];
  return count < 0 ? `${counted(-count, one, other)} ago` : `in ${counted(count, one, other)}`;
}

/** The first day of this week, of last week, or of another one. */
function startOf(unit: 'week' | 'month' | 'quarter' | 'year'): (count: number) => string {
  return (count) => {
    if (count === 0) return `the start of this ${unit}`;
    if (count === -1) return `the start of last ${unit}`;
    return count === 1 ? `the start of next ${unit}` : `the start of the ${unit} ${away(count, unit)}`;
  };
}

/** The progress of a job of the API. */
interface JobFigures {
  readonly kind: 'update' | 'delete' | 'undo' | 'export';
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly done: number;
  readonly total: number | null;
  readonly refused: number;
}

/** The number of issues of an undo; null if it is more than the API takes back at once. */
function issuesOf(issues: number | null): string {
  return issues === null ? 'more than 500 issues' : counted(issues, 'issue', 'issues');
}

/** A summary of a field, as a name. */
function functionOf(fn: SummaryFunction, field: string): string {
  switch (fn) {
    case 'count':
      return `Filled ${field}`;
    case 'empty':
      return `Empty ${field}`;
    case 'distinct':
      return `Distinct ${field}`;
    case 'sum':
      return `Sum of ${field}`;
    case 'avg':
      return `Average of ${field}`;
    case 'median':
      return `Median of ${field}`;
    case 'min':
      return `Min of ${field}`;
    case 'max':
      return `Max of ${field}`;
  }
}

export const words = {
  product: 'gridview',
  fields: {
    num: 'No.',
    name: 'Name',
    state: 'State',
    created: 'Created',
    updated: 'Updated',
    created_by: 'Created by',
    updated_by: 'Updated by',
  },
  roles: { viewer: 'Viewer', editor: 'Editor', admin: 'Admin' },
  count: (count: number) => numbers.format(count),
  loading: 'Loading …',
  retry: 'Try again',
  signIn: {
    title: 'Sign in',
    hint: 'This stack runs on your machine. Choose a user.',
    tenant: 'Tenant',
    user: 'User',
    role: 'Role',
    submit: 'Sign in',
    out: 'Sign out',
    who: (name: string, user: string, tenant: string) => `Signed in as ${name === user ? name : `${name} (${user})`} of ${tenant}`,
    expired: 'Your session has ended. Sign in to continue.',
    locked: 'This address has no valid key. Open the address that ./dev up prints.',
    failed: 'Sign-in failed.',
    incomplete: 'The login page sent an incomplete answer. Sign in again.',
    notExchanged: 'The login service rejected the sign-in code. Sign in again.',
    noRole: 'This account has no tenant or no role. Ask your administrator to add both.',
    /** By the error codes of OAuth 2.0 (RFC 6749, 4.1.2.1). */
    refusals: new Map([
      ['access_denied', 'The login page denied access. Sign in again, or ask your administrator.'],
      ['invalid_request', 'The login page rejected the request. Reload this page and sign in again.'],
      ['unauthorized_client', 'The login page does not know this app. Ask your administrator to check the app client.'],
      ['unsupported_response_type', 'The login page does not support this kind of sign-in. Ask your administrator to check the app client.'],
      ['invalid_scope', 'The login page rejected a scope. Ask your administrator to check the app client.'],
      ['server_error', 'The login page failed. Sign in again in a minute.'],
      ['temporarily_unavailable', 'The login page is overloaded. Sign in again in a minute.'],
    ]),
  },
  account: {
    menu: 'Account menu',
    theme: { system: 'System theme', light: 'Light theme', dark: 'Dark theme' },
  },
  projects: {
    title: 'Projects',
    search: 'Search projects',
    none: 'No projects yet.',
    noneFound: 'No projects match.',
    failed: 'Could not load the projects',
    create: 'New project',
    name: 'Name',
    states: 'Issue states, one per line',
    usualStates: ['open', 'closed'],
  },
  project: {
    failed: 'Could not load the project',
    absent: 'Project not found',
    absentWhy: 'It does not exist, or you have no access to it.',
    grid: (project: string) => `Issues of ${project}`,
    shown: (matched: number | null, total: number | null) =>
      matched === null || total === null
        ? 'Counting …'
        : matched === total
          ? counted(total, 'issue', 'issues')
          : `${numbers.format(matched)} of ${counted(total, 'issue', 'issues')}`,
  },
  header: {
    menu: (field: string) => `${field} menu`,
    sorted: (direction: 'asc' | 'desc', rank: number | null) =>
      `sorted ${direction === 'asc' ? 'ascending' : 'descending'}${rank === null ? '' : `, key ${rank}`}`,
  },
  cell: {
    gone: 'This row has moved.',
    yes: 'Yes',
    no: 'No',
    empty: '(empty)',
    stars: (on: number, of: number) => `${on} of ${of} stars`,
    choose: 'Choose',
    search: 'Search options',
    pick: (field: string) => `Choose ${field} from a calendar`,
  },
  parse: {
    required: (field: string) => `${field} needs a value.`,
    number: 'Not a number. Enter digits, such as 1200.5.',
    date: 'Not a date. Enter it as 2024-05-31.',
    datetime: 'Not a time. Enter it as 2024-05-31 13:30.',
    bool: 'Not a yes or no. Enter yes or no.',
    option: (text: string) => `“${text}” is not an option. Choose one from the list.`,
  },
  edit: {
    busy: 'Others keep changing this issue. Try again.',
    undoWaits: 'Undo starts after your changes are sent.',
  },
  actions: {
    copied: (rows: number) => `Copied ${counted(rows, 'row', 'rows')}.`,
    cut: (rows: number) => `Cut ${counted(rows, 'row', 'rows')}.`,
    notCopied: 'Could not copy the cells. Allow this page to use the clipboard.',
    addRows: (rows: number) => `Add ${counted(rows, 'new row', 'new rows')}?`,
    addRowsWhy: 'The pasted rows do not fit into the grid. The rest become new issues.',
    add: 'Add',
    newName: 'New issue',
    created: (issues: number) => `Added ${counted(issues, 'issue', 'issues')}.`,
    undone: (issues: number | null) => (issues === null ? 'The change is undone.' : `Undone in ${counted(issues, 'issue', 'issues')}.`),
    restored: (issues: number) => `Restored ${counted(issues, 'issue', 'issues')}.`,
    deleted: (issues: number) => `Deleted ${counted(issues, 'issue', 'issues')}.`,
    refused: (issues: number, why: string) => `${counted(issues, 'was', 'were')} refused: ${why}`,
    deleteOne: (name: string) => `Delete “${name}”?`,
    deleteMany: (rows: number) => `Delete ${counted(rows, 'issue', 'issues')}?`,
    deleteWhy: 'This deletes them for everyone. You can undo it, or restore them from the trash for 30 days.',
    delete: 'Delete',
    cancel: 'Cancel',
  },
  menu: {
    ascending: 'Sort ascending',
    descending: 'Sort descending',
    unsorted: 'Stop sorting by this',
    addKey: 'Also sort by this',
    nullsFirst: 'Empty values first',
    nullsLast: 'Empty values last',
    freeze: 'Freeze',
    unfreeze: 'Unfreeze',
    left: 'Move left',
    right: 'Move right',
    hide: 'Hide',
    filter: 'Filter by this',
    group: 'Group by this',
  },
  tools: {
    add: 'New row',
    undo: 'Undo',
    redo: 'Redo',
    delete: 'Delete rows',
    help: 'Keyboard shortcuts',
  },
  live: {
    changed: (rows: number) => `${counted(rows, 'row', 'rows')} changed.`,
    editing: (by: string | null) => (by === null ? 'Someone changed this.' : `${by} changed this.`),
    redefined: 'The fields of this project have changed.',
    reload: 'Reload',
  },
  presence: {
    title: 'Others here',
    at: (name: string, num: number | null) => (num === null ? name : `${name} is at issue ${num}`),
  },
  conflict: {
    title: 'Someone else changed this',
    detail: (field: string, by: string) => `${by} changed “${field}” after you opened it. Choose the value to keep.`,
    yours: 'Yours',
    theirs: 'Theirs',
    of: (what: string, side: string) => `${what}: ${side}`,
    take: (side: string) => `Keep ${side}`,
  },
  help: {
    title: 'Keyboard shortcuts',
    close: 'Close',
    keys: [
      ['Arrow keys', 'Go to the next cell'],
      ['Shift + arrow keys', 'Extend the selection; with Ctrl, to the edge'],
      ['Ctrl + A', 'Select all cells'],
      ['Shift + Space', 'Select the row'],
      ['Enter, F2 or typing', 'Edit the cell'],
      ['Enter, Tab', 'Accept the value, and go down or to the right'],
      ['Alt + Enter, Shift + Enter', 'Start a new line in a text'],
      ['Escape', 'Cancel the edit'],
      ['Space, or a click on the box', 'Toggle a check box'],
      ['Space', 'In other cells: show all fields of the issue'],
      ['K, J', 'In the panel of an issue: show the previous or next one'],
      ['Delete', 'Clear the cells'],
      ['Ctrl + C, Ctrl + X, Ctrl + V', 'Copy, cut and paste, also with a spreadsheet'],
      ['Ctrl + D', 'Fill down'],
      ['Ctrl + Z, Ctrl + Shift + Z', 'Undo and redo'],
      ['Home, End', 'Go to the first or last cell of the row'],
      ['Ctrl + Home, Ctrl + End', 'Go to the first or last cell'],
      ['Alt + Arrow down', 'Open the menu of the column'],
      ['Shift + click on a header', 'Sort by one more column'],
      ['Alt + Arrow up, Alt + Arrow down', 'In lists of views, fields and options: move the item'],
      ['Ctrl + /', 'Show these shortcuts'],
    ],
  },
  sorting: {
    moved: (name: string, place: number, of: number) => `Moved ${name} to place ${numbers.format(place)} of ${numbers.format(of)}.`,
  },
  shell: { close: 'Close', rail: 'Project list' },
  refusal: {
    failed: 'The request failed',
    forbidden: 'You do not have permission',
    offline: 'You are offline',
    offlineWhy: 'The server does not answer. The page sends your edits in the grid when it does. Retry anything else then.',
    askAdmin: (titles: readonly string[]) => `Ask an admin to do this: ${titles.join(', ')}.`,
    changedWhy: 'Your change was not saved. You now see the latest version. Try again.',
    tooManyJobs: (kinds: readonly string[]) => {
      const exports = kinds.length > 0 && kinds.every((kind) => kind === 'export');
      const yours = `You have ${counted(kinds.length, exports ? 'open export' : 'open job', exports ? 'open exports' : 'open jobs')}, the most that you can have.`;
      const limit = kinds.length ? yours : 'This project or tenant has the most open jobs that it can have.';
      return `${limit} Wait until one ends, or cancel one under “${words.jobs.title}”.`;
    },
    building: 'Building an index for this view',
    buildingWhy: (done: number, of: number) => `${numbers.format(done)} of ${counted(of, 'issue', 'issues')} done. The rows appear when it is ready.`,
  },
  unsent: {
    state: (state: 'sending' | 'waiting', changes: number) =>
      state === 'sending'
        ? `Sending ${counted(changes, 'change', 'changes')} …`
        : `${counted(changes, 'change', 'changes')} not sent. Waiting for the server; keep this page open.`,
    retry: 'Send now',
  },
  unsaved: { discard: 'Your entries here are not saved. Discard it?' },
  empty: {
    noMatch: 'No issues match the filter',
    noMatchWhy: (total: number) => `The project has ${counted(total, 'issue', 'issues')}.`,
    showAll: 'Show all issues',
    noIssues: 'This project has no issues yet',
    noIssuesWhy: 'Drop a CSV file here to import issues.',
  },
  status: {
    selected: (cells: number) => `${counted(cells, 'cell', 'cells')} selected`,
    writing: (done: number, of: number) => `Writing ${numbers.format(done)} of ${numbers.format(of)} …`,
    refused: (cells: number) => `${counted(cells, 'cell was', 'cells were')} refused`,
    misfits: (rows: number) => `${counted(rows, 'row', 'rows')} will move when you leave them`,
    noCount: 'Not counted.',
    late: (milliseconds: number) => `Index lag: ${lasting(milliseconds / 1000)}`,
    lateWhy: 'Changes by others are sorted, filtered and counted after this delay. Your own changes are included at once.',
    price: (units: number, dollars: number) =>
      `${amounts.format(units)} read units · ${money.format(dollars)} per million queries`,
  },
  refused: {
    title: 'Refused cells',
    what: 'Each cell keeps its old value. Edit the cell to correct the text.',
    none: 'No refused cells are left.',
    cell: (num: number, field: string) => `Issue ${numbers.format(num)}, ${field}`,
    more: (cells: number) => `${counted(cells, 'more cell', 'more cells')}.`,
  },
  explain: {
    title: 'Query plan and cost',
    none: 'The rows are still loading.',
    plan: 'Plan',
    calls: 'DynamoDB calls',
    rounds: 'Sequential rounds',
    items: 'Items read',
    units: 'Read units',
    million: 'Cost of a million queries',
    round: 'Round',
    operation: 'Call',
    target: 'Target',
    amount: (units: number) => amounts.format(units),
    dollars: (dollars: number) => money.format(dollars),
    used: (units: number, estimated: number | null) =>
      `${amounts.format(units)} units${estimated === null ? '' : ` (estimated ${amounts.format(estimated)})`}`,
  },
  toolbar: {
    label: 'View options',
    fields: 'Fields',
    filter: 'Filter',
    group: 'Group',
    sort: 'Sort',
    color: 'Color',
    height: 'Row height',
    heights: { 24: 'Compact', 32: 'Normal', 56: 'Tall' },
    search: 'Search names',
    more: 'More',
    openIssue: 'Show all fields of the issue',
    findField: 'Find a field',
    allFields: 'Reset columns',
    freeze: (field: string) => `Freeze ${field}`,
    moveUp: (field: string) => `Move ${field} to the left`,
    moveDown: (field: string) => `Move ${field} to the right`,
    colorBy: 'Color rows by',
    noColor: 'Nothing',
    noSort: 'Sorted by issue number.',
    noGroups: 'Not grouped.',
    field: 'Field',
    direction: 'Direction',
    ascending: 'Ascending',
    descending: 'Descending',
    nulls: 'Empty values',
    nullsLast: 'Empty last',
    nullsFirst: 'Empty first',
    unit: 'Unit',
    units: { none: 'Each value', year: 'Year', month: 'Month', day: 'Day' },
    earlier: 'Move up',
    remove: 'Remove',
    addKey: 'Add a field',
  },
  views: {
    title: 'Views',
    all: 'All issues',
    changed: 'edited',
    actions: (view: string) => `Actions for the view ${view}`,
    save: 'Save changes',
    discard: 'Discard changes',
    saveAs: 'Save as view',
    rename: 'Rename',
    name: 'View name',
    who: 'Visible to',
    visibility: { private: 'Only you', shared: 'Everyone', default: 'Everyone; the project opens with it' },
    moveUp: 'Move up',
    moveDown: 'Move down',
    copyLink: 'Copy link',
    copied: 'Link copied.',
    notCopied: 'Could not copy. Allow this page to use the clipboard.',
    saved: (view: string) => `Saved as “${view}”.`,
    delete: 'Delete view',
    deleteWhy: (view: string, isShared: boolean) =>
      `This permanently deletes “${view}”${isShared ? ' for everyone' : ''}. The issues do not change.`,
    failed: 'Could not load the views',
    refused: 'Could not save the view',
    missing: 'View not found. It was deleted, or it is private to another user.',
    gone: (parts: readonly string[]) => `Parts of this view no longer exist: ${parts.join(', ')}.`,
    parts: { sort: 'sort', filter: 'filter', columns: 'columns', groups: 'groups', group_order: 'order of groups', footers: 'summaries', color_by: 'color', rules: 'rules of colors' },
    gonePart: (part: string, field: string | undefined, value: string | undefined) =>
      field === undefined ? part : `${value === undefined ? field : `${field} “${value}”`} (${part})`,
    settle: 'Save without them',
  },
  comments: {
    title: 'Comments',
    none: 'No comments yet.',
    failed: 'Could not load the comments',
    refused: 'Could not save the comment',
    add: 'Comment',
    new: 'New comment',
    edited: 'edited',
    edit: (author: string) => `Edit the comment by ${author}`,
    delete: (author: string) => `Delete the comment by ${author}`,
    text: 'Comment text',
    save: 'Save',
    cancel: 'Cancel',
    more: 'More comments',
    hint: 'Type @ to mention someone.',
    mention: (name: string) => `Mention ${name}`,
    found: (people: number) => `${counted(people, 'person', 'people')} found. Choose from the list below.`,
    mentions: (names: readonly string[]) => `Mentions ${names.join(', ')}`,
  },
  history: {
    title: 'History',
    failed: 'Could not load the history',
    none: 'No recorded changes.',
    more: 'Earlier changes',
    unknownUser: 'Someone',
    undo: 'Undo',
    undoOf: (when: string) => `Undo the change of ${when}`,
    undoFailed: 'Could not undo the change',
    undoMany: (issues: number | null) => `Undo a change of ${issuesOf(issues)}?`,
    undoManyWhy: (issues: number | null) => `This change affected ${issuesOf(issues)}. Undo it only in this issue, or in all of them.`,
    undoOne: 'Only this issue',
    undoAll: (issues: number | null) => (issues === null ? 'All issues' : `All ${counted(issues, 'issue', 'issues')}`),
    undone: (issues: number | null) => (issues === null ? 'The change is undone.' : `Undone in ${counted(issues, 'issue', 'issues')}.`),
    stays: (issues: number, why: string) => `Not undone in ${counted(issues, 'issue', 'issues')}: ${why}`,
    kinds: { create: 'created the issue', update: 'changed', delete: 'deleted the issue', restore: 'restored the issue', comment: 'commented' },
  },
  deleted: {
    by: (who: string, when: string) => `Deleted by ${who}, ${when}`,
    until: (when: string) => `kept until ${when}`,
    restore: 'Restore',
    restoreOf: (name: string) => `Restore ${name}`,
    purge: 'Delete permanently',
    purgeOf: (name: string) => `Delete permanently: ${name}`,
    restored: (name: string) => `Restored “${name}”.`,
    purged: (name: string) => `Permanently deleted “${name}”.`,
    more: 'Show more',
    gone: 'No longer in this list',
    goneWhy: 'Someone restored it or deleted it permanently, or it expired.',
    clash: 'Someone else is changing this',
    noRoom: 'Could not restore it',
  },
  deletedFields: {
    title: 'Deleted fields…',
    what: 'Deleted fields stay here for 7 days. A restored field has its old place and its values in all issues.',
    failed: 'Could not load the deleted fields',
    count: (fields: number) => (fields === 0 ? 'No deleted fields.' : counted(fields, 'field', 'fields')),
    purgeWhy: (name: string) => `You cannot restore “${name}” and its values after that.`,
    just: (name: string, until: string) => `Deleted “${name}”. You can restore it until ${until}.`,
  },
  deletedProjects: {
    title: 'Deleted projects…',
    what: 'Deleted projects stay here for 7 days. A restored project has all its content.',
    failed: 'Could not load the deleted projects',
    count: (projects: number, more: boolean) =>
      projects === 0 && !more ? 'No deleted projects.' : `${counted(projects, 'project', 'projects')}${more ? ' and more' : ''}`,
    purgeWhy: (name: string) => `You cannot restore “${name}” and its issues after that.`,
    just: (name: string, until: string) => `Deleted “${name}”. You can restore it until ${until}.`,
  },
  trash: {
    title: 'Trash',
    what: 'Deleted issues stay here for 30 days. A restored issue has its old number.',
    failed: 'Could not load the trash',
    count: (issues: number, more: boolean) => (issues === 0 && !more ? 'The trash is empty.' : `${counted(issues, 'issue', 'issues')}${more ? ' and more' : ''}`),
    purgeWhy: (name: string) => `You cannot restore “${name}” after that.`,
  },
  jobs: {
    title: 'Background jobs',
    what: 'Jobs continue if you close this page. They stay in this list for 30 days.',
    failed: 'Could not load the jobs',
    refused: 'The request was refused',
    none: 'No jobs.',
    more: 'Earlier jobs',
    kinds: { update: 'Change of many issues', delete: 'Deletion of many issues', undo: 'Undo', export: 'Export' },
    name: (kind: string, when: string) => `${kind}, ${when}`,
    state: ({ kind, state, done, total, refused }: JobFigures) => {
      const begun = { waiting: 'Waiting', running: 'Running', done: 'Done', failed: 'Failed', cancelled: 'Cancelled' }[state];
      const [one, other] = kind === 'export' ? ['row', 'rows'] : ['issue', 'issues'];
      const far = total === null ? counted(done, one, other) : `${numbers.format(done)} of ${counted(total, one, other)}`;
      return `${begun}: ${far}${refused ? `, ${numbers.format(refused)} refused` : ''}.`;
    },
    running: (jobs: number, done: number, of: number) => `${counted(jobs, 'job', 'jobs')}: ${numbers.format(done)} of ${numbers.format(of)}`,
    cancel: 'Cancel',
    undoOf: (kind: string, when: string) => `Undo: ${kind}, ${when}`,
    notDone: (issues: number) => `${counted(issues, 'issue was', 'issues were')} refused`,
    moreRefused: 'Show more',
    openIssue: (num: number) => `Show all fields of issue ${numbers.format(num)}`,
    changeAll: (issues: number | null, filtered: boolean) => `Change all ${issues === null ? '' : `${numbers.format(issues)} `}${filtered ? 'matching' : 'issues'}`,
    deleteAll: (issues: number | null, filtered: boolean) => `Delete all ${issues === null ? '' : `${numbers.format(issues)} `}${filtered ? 'matching' : 'issues'}`,
    changeSelected: (issues: number) => `Change the ${counted(issues, 'selected issue', 'selected issues')}`,
    inAll: 'Change in all rows',
    changeMany: (issues: number | null) => (issues === null ? 'Change issues' : `Change ${counted(issues, 'issue', 'issues')}`),
    changeWhy: (fields: readonly string[]) => `A job sets ${fields.join(', ')} to the same value in all of them. You can undo it.`,
    deleteWhy: 'A job deletes them for everyone. You can undo it, or restore them from the trash for 30 days.',
    tooManyRuns: (most: number) => `The selection has more than ${numbers.format(most)} groups. Select fewer groups, or use a filter.`,
    ofAll: 'All issues of the project.',
    ofFilter: 'All issues that match the filter when the job starts.',
    ofRows: (from: number, to: number) => `The issues in the rows from ${numbers.format(from)} to ${numbers.format(to)}.`,
    field: 'Field',
    value: 'New value',
    change: 'Change',
    clear: (field: string) => `Clear ${field}`,
  },
  filter: {
    group: 'Conditions',
    join: 'Combine conditions',
    joins: { and: 'All of these', or: 'Any of these', nor: 'None of these', nand: 'Not all of these' },
    operator: 'Operator',
    operators: {
      eq: 'is',
      ne: 'is not',
      in: 'is one of',
      not_in: 'is none of',
      lt: 'comes before',
      lte: 'comes before or is',
      gt: 'comes after',
      gte: 'comes after or is',
      between: 'is between',
      starts_with: 'starts with',
      contains: 'contains',
      has_words: 'has the words',
      has_any: 'has any of',
      has_all: 'has all of',
      has_none: 'has none of',
      is_empty: 'is empty',
      is_not_empty: 'is not empty',
    },
    condition: (field: string, operator: string, value: string) => `${field} ${operator}${value && ` ${value}`}`,
    all: (parts: readonly string[]) => parts.join(' and '),
    any: (parts: readonly string[]) => parts.join(' or '),
    not: (text: string) => `not (${text})`,
    both: (values: readonly string[]) => values.join(' and '),
    oneOf: (values: readonly string[], more: number) => values.join(', ') + (more > 0 ? ` and ${numbers.format(more)} more` : ''),
    quoted: (text: string) => `“${text}”`,
    is: (text: string) => `Filter: ${text}.`,
    isFrozen: (parts: readonly string[]) => `The job keeps ${parts.join(' and ')} as of its start.`,
    value: 'Value',
    values: 'Values, one per line',
    kindOf: (value: string) => `${value}: exact or relative`,
    exactly: 'exactly …',
    oneUser: 'a user …',
    overdue: 'overdue (before today)',
    from: 'From',
    to: 'To',
    choose: 'Choose …',
    number: 'A number, such as 1200.5',
    addCondition: 'Condition',
    addGroup: 'Group',
    remove: 'Remove this condition',
    clear: 'Clear',
    apply: 'Apply',
    tooMany: (most: number) => `A filter has at most ${numbers.format(most)} conditions.`,
  },
  relative: {
    me: 'me',
    /** Days, or other units, from today. */
    day: (count: number, unit: keyof typeof DAY_UNITS) => {
      if (count === 0) return 'today';
      if (unit === 'day' && count === -1) return 'yesterday';
      return unit === 'day' && count === 1 ? 'tomorrow' : away(count, unit);
    },
    startOf: { week: startOf('week'), month: startOf('month'), quarter: startOf('quarter'), year: startOf('year') },
    /** The first instant of a day. */
    beginning: (day: string) => `the start of ${day}`,
    now: (seconds: number) => {
      if (seconds === 0) return 'now';
      return seconds < 0 ? `${lasting(-seconds)} ago` : `in ${lasting(seconds)}`;
    },
    periods: {
      today: 'today',
      yesterday: 'yesterday',
      tomorrow: 'tomorrow',
      last7: 'in the last 7 days',
      next7: 'in the next 7 days',
      week: 'this week',
      month: 'this month',
      quarter: 'this quarter',
    },
    inZone: (text: string, timezone: string) => `${text} (${timezone})`,
  },
  export: {
    open: 'Export as CSV',
    title: 'Export as CSV',
    what: (rows: number | null, columns: number) =>
      `${rows === null ? 'All rows' : counted(rows, 'row', 'rows')} with the current filter and order, in ${counted(columns, 'column', 'columns')}.`,
    raw: 'Raw values',
    rawWhy: 'Without raw values, text that a spreadsheet would run as a formula begins with an apostrophe. Choose raw values to import the file again.',
    state: (phase: 'running' | 'done' | 'cancelled' | 'failed', rows: number) =>
      `${{ running: 'Reading', done: 'Done', cancelled: 'Cancelled', failed: 'Failed' }[phase]}: ${counted(rows, 'row', 'rows')}.`,
    start: 'Export',
    cancel: 'Cancel',
    byJob: 'A job writes the file, even if you close this page. You can download it from “Background jobs” for 7 days.',
    download: 'Download',
    gone: 'The file was removed. Files are kept for 7 days. Export again.',
  },
  import: {
    open: 'Import CSV',
    title: (project: string) => `Import into ${project}`,
    choose: 'Choose a CSV file, or drop one onto the page.',
    drop: 'Drop the file to import it',
    unreadable: 'Could not read the file',
    looking: (file: string) => `Reading ${file} …`,
    what: (file: string, rows: number, columns: number) =>
      `${file} has ${counted(rows, 'row', 'rows')} and ${counted(columns, 'column', 'columns')}. Nothing is imported yet.`,
    preview: 'First rows',
    unnamed: (place: number) => `Column ${place}`,
    target: (column: string) => `Field for ${column}`,
    skip: 'Do not import',
    newField: 'New field',
    newOf: (type: string) => `New: ${type}`,
    noName: 'Every issue needs a name. Choose Name for one column.',
    start: (rows: number) => `Import ${counted(rows, 'row', 'rows')}`,
    written: 'Rows sent',
    state: (phase: 'fields' | 'rows' | 'index' | 'done' | 'cancelled' | 'failed', created: number, refused: number) =>
      `${{ fields: 'Creating fields', rows: 'Writing', index: 'Written', done: 'Done', cancelled: 'Cancelled', failed: 'Failed' }[phase]}: ${counted(created, 'issue', 'issues')} created${refused ? `, ${counted(refused, 'row', 'rows')} refused` : ''}.`,
    indexed: (indexed: number, created: number) =>
      indexed >= created ? 'All of them are indexed.' : `Indexed ${numbers.format(indexed)} of ${numbers.format(created)} so far.`,
    download: (rows: number) => `Download ${counted(rows, 'refused row', 'refused rows')}`,
    refusedFile: (file: string) => `refused ${file}`,
    reason: 'Why it was refused',
    reasons: 'Why rows were refused',
    because: (rows: number, reason: string) => `${counted(rows, 'row', 'rows')}: ${reason}`,
    moreReasons: (reasons: number) => `${counted(reasons, 'more reason', 'more reasons')} in the file of refused rows.`,
  },
  issue: {
    title: (num: number, name: string) => `${numbers.format(num)} ${name}`,
    number: (num: number) => `No. ${numbers.format(num)}`,
    previous: 'Previous issue (K)',
    next: 'Next issue (J)',
    failed: 'Could not load the issue',
    by: (user: string) => `by ${user}`,
    edit: 'Edit',
    follow: 'Open',
    version: 'Version',
  },
  summary: {
    of: (field: string) => `Summary of ${field}`,
    refused: 'refused',
    functions: {
      add: 'Summary',
      none: 'None',
      count: 'Filled',
      empty: 'Empty',
      distinct: 'Distinct',
      sum: 'Sum',
      avg: 'Average',
      median: 'Median',
      min: 'Min',
      max: 'Max',
    },
  },
  groups: {
    empty: '(Empty)',
    head: (field: string, value: string, count: number) => `${field}: ${value}, ${counted(count, 'issue', 'issues')}`,
    function: functionOf,
    figure: (fn: SummaryFunction, field: string, value: string) => `${functionOf(fn, field)} ${value}`,
    order: 'Sort groups by',
    byFields: 'Their fields',
    byCount: 'Number of issues',
    width: 'Width of the ranges',
    eachNumber: 'Each number',
    bounds: 'Saved ranges',
    notWidth: 'Not a width. Enter a number above 0, such as 50.',
    more: 'More groups',
    noFigures: (why: string) => `Could not compute the group summaries: ${why}`,
    close: 'Collapse all',
    open: 'Expand all',
  },
  range: {
    between: (from: string, to: string) => `${from} – ${to}`,
    below: (to: string) => `< ${to}`,
    from: (from: string) => `≥ ${from}`,
  },
  histogram: {
    of: (field: string) => `Distribution of ${field}`,
    bar: (label: string, count: number) => `${label}: ${counted(count, 'issue', 'issues')}`,
    none: 'No values.',
    tooMany: 'Too many years to draw.',
    drawn: (bars: number) => `${counted(bars, 'bar', 'bars')} at the end of the menu. Choose one to filter by it.`,
  },
  webhooks: {
    title: 'Webhooks',
    what: 'Each change in the project is sent to these URLs, signed with the secret of the webhook.',
    failed: 'Could not load the webhooks',
    refused: 'The request was refused',
    none: 'No webhooks yet.',
    new: 'New webhook',
    create: 'Add webhook',
    url: 'URL',
    view: 'Issues',
    all: 'All issues',
    eventTypes: 'Events',
    events: {
      create: 'New issues',
      update: 'Changes',
      delete: 'Deletions',
      restore: 'Restored issues',
      enter: 'Issues that enter the view',
      leave: 'Issues that leave the view',
      reset: 'Reset after skipped changes',
    },
    on: 'Enabled',
    off: 'Disabled',
    enable: 'Enable',
    disable: 'Disable',
    notice: (when: string, reason: string, enabled: boolean) => (enabled ? `${when}: ${reason}` : `Disabled automatically, ${when}: ${reason}`),
    confirm: 'Keep the filter',
    frozen: (view: string, when: string, by: string) => `View “${view}” as of ${when}, chosen by ${by}`,
    freezes: 'The webhook uses the view as it is when you choose it. Later changes to the view have no effect.',
    outdated: 'The view has changed. The webhook still uses the old version.',
    choose: 'Use the view as it is now',
    notFollowed: (view: string, obstacle: 'me' | 'now') => `${view} (uses ${obstacle === 'me' ? '“me”' : 'the time'})`,
    notFollowedWhy: 'A webhook has no user and no present moment: it cannot use a view whose filter has “me” or the time. “Today” works.',
    columns: 'Fields to send',
    allFields: 'All fields, including new ones',
    sent: (fields: readonly string[]) => (fields.length ? `Sends only these fields: ${fields.join(', ')}` : 'Sends no field values'),
    rotating: (until: string) => `The previous secret also signs until ${until}.`,
    secret: 'Secret',
    secretOf: (url: string) => `Copy the secret of ${url} now. You won’t see it again.`,
    copy: 'Copy secret',
    copied: 'Secret copied.',
    taken: 'I have copied it',
    rotate: 'New secret',
    rotateWhy: 'The webhook gets a new secret. For 24 hours, messages are signed with both.',
    edit: 'URL, issues, fields and events',
    delete: 'Delete webhook',
    deleteWhy: (url: string) => `This stops all messages to ${url} and deletes their log.`,
    deliveries: 'Messages of the last 7 days',
    noDeliveries: 'No messages yet.',
    of: (event: string, num: number, version: number) => `${event}: issue ${numbers.format(num)}, version ${numbers.format(version)}`,
    statuses: { pending: 'Retrying', delivered: 'Delivered', failed: 'Failed' },
    attempts: (attempts: number, last: string | null) => `${counted(attempts, 'attempt', 'attempts')}${last === null ? '' : `, last: ${last}`}`,
    next: (when: string) => `next ${when}`,
    replay: 'Send again',
    replayOf: (what: string) => `Send again: ${what}`,
    replayed: 'Sending again.',
    look: 'Refresh',
    more: 'Earlier messages',
  },
  settings: {
    open: 'Project settings',
    title: (project: string) => `Settings of ${project}`,
    general: 'Name, states, deletion',
    states: 'States',
    save: 'Save',
    keep: 'Cancel',
    deleteProject: 'Delete project',
    deleteProjectWhy: (project: string, issues: number | null) =>
      `This deletes ${project} and ${issues === null ? 'all its issues' : `its ${counted(issues, 'issue', 'issues')}`} for everyone. You can restore the project for 7 days.`,
    fields: 'Fields',
    name: 'Name',
    newField: 'Name of a new field',
    type: 'Type',
    types: {
      text: 'Text',
      number: 'Number',
      date: 'Date',
      datetime: 'Date and time',
      bool: 'Check box',
      enum: 'One option',
      multi_enum: 'Several options',
      user: 'User',
    },
    addField: 'Add field',
    required: 'Every issue needs a value',
    indexed: 'Indexed: sorts, filters and counts at any size, but each write costs more',
    search: 'Searchable by words',
    description: 'Description',
    format: 'Format',
    formatAs: 'Shown as',
    noFormat: 'As usual',
    formats: {
      long: 'Several lines',
      longDate: 'Long date',
      markdown: 'Markdown',
      url: 'Web address',
      email: 'E-mail address',
      phone: 'Phone number',
      plain: 'Number',
      currency: 'Amount of money',
      percent: 'Percent (0.25 is 25 %)',
      rating: 'Rating by stars',
      duration: 'Duration (of seconds)',
      progress: 'Progress bar (0 to 1)',
      iso: 'ISO date',
      short: 'Short date',
      check: 'Check box',
      star: 'Star',
    },
    currency: 'Currency',
    decimals: 'Digits after the point',
    stars: 'Stars',
    unit: 'Unit',
    thousands: 'Separate thousands',
    default: 'Value of new issues',
    noDefault: 'None',
    defaults: {
      text: 'None',
      number: 'None, or digits such as 1200.5',
      date: 'None, or a date such as 2024-05-31',
      datetime: 'None, or 2024-05-31T12:00:00Z',
      user: 'None, or the id of a user',
    },
    parts: {
      name: 'Name',
      required: 'Every issue needs a value',
      indexed: 'Indexed',
      search: 'Searchable by words',
      options: 'Options',
      states: 'States',
      description: 'Description',
      format: 'Format',
      default: 'Value of new issues',
    },
    options: 'Options',
    option: 'Option',
    optionsByLine: 'Options, one per line',
    colorOf: (option: string) => `Color of ${option}`,
    noColor: 'Automatic',
    colors: {
      gray: 'Gray',
      red: 'Red',
      orange: 'Orange',
      yellow: 'Yellow',
      green: 'Green',
      teal: 'Teal',
      blue: 'Blue',
      purple: 'Purple',
      pink: 'Pink',
    },
    earlier: (name: string) => `Move ${name} up`,
    later: (name: string) => `Move ${name} down`,
    dropOption: (option: string) => `Remove ${option}`,
    deleteField: 'Delete field',
    deleteFieldWhy: (field: string) => `This deletes ${field} and its values in all issues for everyone. You can restore the field for 7 days.`,
    indexes: 'Composite indexes',
    indexesWhy: 'They make a sort by several fields cheap if many issues share the first value.',
    noKeys: 'Choose two or three fields for a new index.',
    buildIndex: 'Build index',
    key: (field: string, direction: 'asc' | 'desc') => (direction === 'asc' ? field : `${field} descending`),
    indexStates: { building: 'Building', ready: 'Ready' },
    deleteIndex: 'Delete',
    deleteIndexWhy: 'Without it, a sort by these fields may be refused.',
    build: (state: 'building' | 'rebuilding' | 'reordering' | 'removing', done: number, of: number) =>
      `${{ building: 'Indexing', rebuilding: 'Rebuilding', reordering: 'Reordering', removing: 'Removing' }[state]}: ${numbers.format(done)} of ${numbers.format(of)}`,
  },
  unknown: { title: 'Page not found', back: 'All projects' },
} as const;
