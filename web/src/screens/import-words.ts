/** The texts of an import, which load with its window. */
import { counted, words } from '../words';

export const importWords = {
  title: (project: string) => `Import into ${project}`,
  choose: 'Choose a CSV file, or drop one onto the page.',
  drop: 'Drop the file to import it',
  unreadable: 'Could not read the file',
  encoding: 'The file is not UTF-8 text. Save it as UTF-8 (in a spreadsheet, as “CSV UTF-8”), then import it again.',
  malformed: (line: number) => `Line ${words.count(line)} is not CSV: its quotes do not fit. Write each quote in a quoted cell twice.`,
  reasonsOfRows: {
    wide: 'The row has more cells than the header.',
    unsent: 'The import ended before this row.',
    unknown: 'The server did not answer. The issue may exist.',
  },
  wideRows: (rows: number) => `${counted(rows, 'row has', 'rows have')} more cells than the header. The import refuses ${rows === 1 ? 'it' : 'them'}.`,
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
  leave: 'The import is still running. Stop it?',
  stalled: 'The server does not answer. The import goes on as soon as it does.',
  state: (phase: 'fields' | 'rows' | 'index' | 'done' | 'cancelled' | 'failed', created: number, refused: number, unsent: number) =>
    `${{ fields: 'Creating fields', rows: 'Writing', index: 'Written', done: 'Done', cancelled: 'Cancelled', failed: 'Failed' }[phase]}: ${counted(created, 'issue', 'issues')} created${refused ? `, ${counted(refused, 'row', 'rows')} refused` : ''}${unsent ? `, ${counted(unsent, 'row', 'rows')} not sent` : ''}.`,
  indexed: (indexed: number, created: number) =>
    indexed >= created ? 'All of them are indexed.' : `Indexed ${words.count(indexed)} of ${words.count(created)} so far.`,
  download: (rows: number) => `Download ${counted(rows, 'refused row', 'refused rows')}`,
  downloadRest: (rows: number) => `Download ${counted(rows, 'row that was', 'rows that were')} not imported`,
  refusedFile: (file: string) => `refused ${file}`,
  reason: 'Why it was refused',
  reasons: 'Why rows were refused',
  because: (rows: number, reason: string) => `${counted(rows, 'row', 'rows')}: ${reason}`,
  moreReasons: (reasons: number) => `${counted(reasons, 'more reason', 'more reasons')} in the file of refused rows.`,
  computed: (columns: readonly string[]) => `Formulas compute ${columns.join(', ')}. The import skips ${columns.length === 1 ? 'this column' : 'these columns'}.`,
} as const;
