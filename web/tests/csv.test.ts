import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LosslessNumber } from 'lossless-json';
import { guarded } from '../src/cells/guard';
import { ColumnValues, listOf, valueOfCell } from '../src/csv/infer';
import { jsonOf } from '../src/csv/json';
import { issueOf, inspect } from '../src/csv/plan';
import { CsvReader, delimiterOf, EncodingError, MalformedError, rowsOf } from '../src/csv/read';
import { cellText, csvLine, headersOf } from '../src/csv/write';
import type { FieldType } from '../src/api/types';
import { fieldsOf, plainField } from '../src/fields/fields';

/** The same cases as for the API. */
const GOLDEN = JSON.parse(readFileSync(new URL('../../tests/unit/maintenance/golden/csv_lines.json', import.meta.url), 'utf-8')) as {
  readonly guarded: readonly (readonly string[])[];
  readonly lines: readonly { readonly cells: readonly string[]; readonly raw: string; readonly guarded: string }[];
};

const read = (text: string, delimiter = ',') => {
  const reader = new CsvReader(delimiter);
  return [...reader.push(text), ...reader.end()];
};

describe('reading', () => {
  const NASTY = '\ufeffname,note\r\n"a ""b"", c","line 1\nline 2"\r\n\r\nlast, open "quote"\r"",x\n';
  const ROWS = [['name', 'note'], ['a "b", c', 'line 1\nline 2'], ['last', ' open "quote"'], ['', 'x']];

  it('handles quotes, all line ends and empty lines', () => {
    expect(read(NASTY)).toEqual(ROWS);
    expect(read('a;b', ';')).toEqual([['a', 'b']]);
    expect(read('')).toEqual([]);
  });

  it('returns the same rows wherever the text is split', () => {
    for (let cut = 0; cut <= NASTY.length; cut += 1) {
      const reader = new CsvReader(',');
      expect([...reader.push(NASTY.slice(0, cut)), ...reader.push(NASTY.slice(cut)), ...reader.end()]).toEqual(ROWS);
    }
  });

  it.each([
    ['a,"5 inch\nb,c\n', 1],
    ['a\r\n"b\r\nc",d\r\n"e', 4],
    ['name\n"Hello" he said\n', 2],
  ])('refuses quotes that do not fit, and names the line: %j', (text, line) => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const reader = new CsvReader(',');
      const readAll = () => [...reader.push(text.slice(0, cut)), ...reader.push(text.slice(cut)), ...reader.end()];
      expect(readAll).toThrow(expect.objectContaining({ line }));
    }
    expect(() => read(text)).toThrow(MalformedError);
  });

  it('finds the delimiter outside quotes', () => {
    expect(delimiterOf('"a,b,c";d;e\n1,2,3,4,5')).toBe(';');
    expect(delimiterOf('a\tb\n')).toBe('\t');
    expect(delimiterOf('alone')).toBe(',');
  });

  it('reads files', async () => {
    const rows: string[][] = [];
    for await (const batch of rowsOf(new Blob(['name;größe\nä;1\n']))) rows.push(...batch);
    expect(rows).toEqual([['name', 'größe'], ['ä', '1']]);
  });

  const bytesOf = (text: string, unit: 'le' | 'be') => {
    const view = new DataView(new ArrayBuffer(text.length * 2));
    Array.from({ length: text.length }, (_, at) => view.setUint16(at * 2, text.charCodeAt(at), unit === 'le'));
    return new Uint8Array(view.buffer);
  };
  /** A file that is read in pieces of so many bytes. */
  const inPieces = (bytes: Uint8Array<ArrayBuffer>, size: number) => {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, (at + 1) * size));
    return Object.assign(new Blob([bytes]), { stream: () => streamOf(pieces) });
  };
  const streamOf = (pieces: readonly Uint8Array[]) =>
    new ReadableStream<Uint8Array>({
      start: (sink) => {
        for (const piece of pieces) sink.enqueue(piece);
        sink.close();
      },
    });
  const readAll = async (file: Blob) => {
    const rows: string[][] = [];
    for await (const batch of rowsOf(file)) rows.push(...batch);
    return rows;
  };

  it('puts characters together that pieces have cut', async () => {
    const text = 'name;größe\n漢字;😀\n';
    const rows = [['name', 'größe'], ['漢字', '😀']];
    const utf8 = new TextEncoder().encode(text);
    for (const size of [1, 2, 3, 5]) {
      expect(await readAll(inPieces(utf8, size))).toEqual(rows);
      for (const unit of ['le', 'be'] as const) expect(await readAll(inPieces(bytesOf(`\ufeff${text}`, unit), size))).toEqual(rows);
    }
    // The head of the file, which shows the delimiter, ends within a character.
    const long = 'é'.repeat(40_000);
    expect(await readAll(new Blob([`a;b\n${long};1\n`]))).toEqual([['a', 'b'], [long, '1']]);
  });

  it.each([
    ['Windows-1252', Uint8Array.from(Buffer.from('name\nMüller\n', 'latin1'))],
    ['half a character at the end', Uint8Array.of(0x61, 0x0a, 0xc3)],
    ['UTF-16 without a mark', bytesOf('name\nMüller\n', 'le')],
    ['half a unit of UTF-16', bytesOf('\ufeffname\nx', 'be').slice(0, -1)],
    ['a program', Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0)],
  ])('refuses a file that is not UTF-8 before it is imported: %s', async (_, bytes) => {
    await expect(inspect(rowsOf(new Blob([bytes])), [], { mayDefine: true })).rejects.toBeInstanceOf(EncodingError);
  });

  it('refuses a file that stops being UTF-8 far from its beginning', async () => {
    const file = new Blob(['name\n', 'plain\n'.repeat(50_000), Uint8Array.of(0x4d, 0xfc, 0x0a)]);
    await expect(inspect(rowsOf(file), [], { mayDefine: true })).rejects.toBeInstanceOf(EncodingError);
  });
});

describe('writing', () => {
  it('prevents spreadsheets from running typed text', () => {
    for (const [text = '', safe] of GOLDEN.guarded) {
      expect(guarded(text)).toBe(safe);
      expect(read(csvLine([text, 'end'], { raw: false }))).toEqual([[safe, 'end']]);
      expect(read(csvLine([text, 'end'], { raw: true }))).toEqual([[text, 'end']]);
    }
  });

  it('writes the same lines as the API', () => {
    for (const { cells, raw, guarded: safe } of GOLDEN.lines) {
      expect(csvLine(cells, { raw: true })).toBe(raw);
      expect(csvLine(cells, { raw: false })).toBe(safe);
      expect(read(raw)).toEqual(cells.join('') === '' && cells.length === 1 ? [] : [cells]);
    }
  });

  it('writes cells that are read back unchanged', () => {
    const cells = ['a"b', 'x,y', 'two\nlines', ' spaces ', ''];
    expect(read(csvLine(cells, { raw: true }))).toEqual([cells]);
  });

  it('writes values that an import accepts', () => {
    const digits = '12345678901234567890.123456789';
    expect(valueOfCell('number', cellText(new LosslessNumber(digits)))).toBe(digits);
    expect(listOf(cellText(['a;b', 'c\\', 'd']))).toEqual(['a;b', 'c\\', 'd']);
    expect(valueOfCell('bool', cellText(true))).toBe(true);
    expect(valueOfCell('datetime', cellText('2024-05-01T10:00:00.123456Z'))).toBe('2024-05-01T10:00:00.123456Z');
    expect(cellText(null)).toBe('');
  });
});

it('rows as JSON have each field, also of two with the same name', () => {
  const some = [plainField('name', 'Name', 'text'), plainField('due', 'Due', 'date'), plainField('due_2', 'Due', 'date')];
  const row = { num: 1, version: 1, values: { name: 'A', due: '2024-05-01', due_2: '2024-06-01' } };
  expect(JSON.parse(jsonOf(some, [row]))).toEqual([{ Name: 'A', 'Due (due)': '2024-05-01', 'Due (due_2)': '2024-06-01' }]);
});

describe('types', () => {
  const typeOf = (...cells: string[]) => {
    const column = new ColumnValues();
    for (const cell of cells) column.add(cell);
    return column.type;
  };

  it.each<[FieldType, string[]]>([
    ['number', ['1', '-2.5', '', '1e3', '.5', '+5', '5.', '9e125', '1e-130', '0e999']],
    ['text', ['1e126']],
    ['text', ['12e125']],
    ['text', ['1e-131']],
    ['text', ['2024-01-01 24:00']],
    ['text', ['0000-01-01']],
    ['multi_enum', ['a;b', 'a', 'b;a', 'b', 'a;b', 'a;b', 'a', 'b;a', 'b', 'a;b', 'a;b', 'a', 'b;a', 'b', 'a;b', 'a;b']],
    ['text', ['a;', 'b', 'a;', 'a;b']],
    ['text', Array.from({ length: 8 }, (_, at) => (at % 2 ? 'é' : 'e\u0301'))],
    ['text', ['007', '1']],
    ['text', ['1'.repeat(39)]],
    ['date', ['2024-02-29', ' 2025-01-01 ']],
    ['text', ['2023-02-29']],
    ['datetime', ['2024-01-01 10:00', '2024-01-01T10:00:00+0200']],
    ['bool', ['yes', 'No', 'TRUE']],
    ['enum', ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'a']],
    ['text', ['a', 'b', 'c', 'd']],
    ['multi_enum', ['a;b', 'a', 'b;a', 'b', 'a;b']],
    ['text', ['', ' ']],
    ['text', ['2024-01-01', '2024-01-01 10:00']],
  ])('are inferred as %s from %j', (type, cells) => {
    expect(typeOf(...cells)).toBe(type);
  });

  it('give numbers the form that the API accepts', () => {
    const forms = { '.5': '0.5', '+5': '5', '5.': '5', '-.50': '-0.50', '1E3': '1E3' };
    for (const [cell, number] of Object.entries(forms)) expect(valueOfCell('number', cell)).toBe(number);
  });

  it('recognize the points in time that the API accepts', () => {
    expect(valueOfCell('datetime', '2024-01-01 10:00')).toBe('2024-01-01T10:00:00Z');
    expect(valueOfCell('datetime', '2024-01-01T10:00:00+0200')).toBe('2024-01-01T10:00:00+02:00');
    expect(valueOfCell('datetime', 'soon')).toBeUndefined();
  });
});

describe('an import plan', () => {
  const attribute = plainField;
  const builtIn = fieldsOf(
    { id: 'p', name: 'p', states: [], issues: 0, version: 1, created: '', updated: '', history: { enabled: true, days: 90 }, created_by: '', updated_by: '' },
    { num: 'No.', name: 'Name', state: 'State', created: 'Created', updated: 'Updated', created_by: 'Created by', updated_by: 'Updated by' },
  );
  const FIELDS = [...builtIn, attribute('cost', 'Cost (GBP)', 'number')];
  const file = (text: string) => rowsOf(new Blob([text]));

  it('matches fields by name or id, proposes new ones, and skips fields that the server writes', async () => {
    const { columns, rows, sample } = await inspect(file('Title,cost,Due,created,No.\nA,1,2024-01-01,x,1\nB,2,,y,2\n'), FIELDS, { mayDefine: true });
    expect(rows).toBe(2);
    expect(sample[1]).toEqual(['B', '2', '', 'y', '2']);
    expect(columns.map(({ target }) => target)).toEqual([
      { kind: 'field', field: 'name' },
      { kind: 'field', field: 'cost' },
      { kind: 'new', type: 'date', options: [] },
      { kind: 'skip' },
      { kind: 'skip' },
    ]);
  });

  it('distinguishes fields of the same name as exports do', async () => {
    const some = [...builtIn, attribute('cost', 'Cost', 'number'), attribute('cost_2', 'Cost', 'number')];
    const headers = headersOf(some.slice(-2));
    expect(headers).toEqual(['Cost (cost)', 'Cost (cost_2)']);
    expect(headersOf([...some.slice(-2), attribute('x', 'Cost (cost)', 'number')])).toEqual(['Cost (cost)', 'Cost (cost_2)', 'Cost (cost)_']);
    expect(headersOf(FIELDS.slice(0, 2))).toEqual(FIELDS.slice(0, 2).map(({ name }) => name));
    const { columns } = await inspect(file(`Title,${[...headers].reverse().join(',')}\nA,1,2\n`), some, { mayDefine: true });
    expect(columns.map(({ target }) => target)).toEqual(['name', 'cost_2', 'cost'].map((id) => ({ kind: 'field', field: id })));
  });

  it('matches names before ids, so that the former name of a renamed field means the field that has it now', async () => {
    const some = [...builtIn, attribute('due', 'Deadline', 'date'), attribute('due_2', 'Due', 'date'), attribute('created_2', 'Created', 'date')];
    const targetsOf = async (headers: readonly string[], fields = some) => {
      const { columns } = await inspect(file(`Title,${headers.join(',')}\nA${',2024-01-01'.repeat(headers.length)}\n`), fields, { mayDefine: true });
      return columns.slice(1).map(({ target }) => (target.kind === 'field' ? target.field : target.kind));
    };
    expect(await targetsOf(['Due', 'Deadline'])).toEqual(['due_2', 'due']);
    expect(await targetsOf(['Deadline', 'due'])).toEqual(['due', 'due_2']);
    expect(await targetsOf(['Due'])).toEqual(['due_2']);
    // Names that differ only in case.
    const cased = [...builtIn, attribute('a', 'DUE', 'date'), attribute('b', 'Due', 'date')];
    expect(await targetsOf(['Due', 'DUE'], cased)).toEqual(['b', 'a']);
    // As the API exports them.
    expect(await targetsOf(['created', 'Created'])).toEqual(['skip', 'created_2']);
  });

  it('counts rows with values beyond the header', async () => {
    const { rows, wide } = await inspect(file('name,cost\nA,1\nB,2, ,\nC,1,000\n'), FIELDS, { mayDefine: true });
    expect([rows, wide]).toEqual([3, 1]);
  });

  it('lets a column have any type, and options where there are few enough', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => `${at},${at % 3},x\n`);
    const { columns } = await inspect(file(`many,few,same\n${rows.join('')}`), FIELDS, { mayDefine: true });
    expect(columns.map(({ values }) => values.types)).toEqual([
      ['number', 'text', 'date', 'datetime', 'bool', 'user'],
      ['number', 'text', 'date', 'datetime', 'bool', 'enum', 'multi_enum', 'user'],
      ['enum', 'text', 'number', 'date', 'datetime', 'bool', 'multi_enum', 'user'],
    ]);
    expect(columns[1]?.values.options('enum')).toEqual(['0', '1', '2']);
  });

  it('proposes no new field to users who cannot define fields', async () => {
    const { columns } = await inspect(file('name,due\nA,2024-01-01\n'), FIELDS, { mayDefine: false });
    expect(columns.map(({ target }) => target.kind)).toEqual(['field', 'skip']);
  });

  it('turns rows into issues, and leaves invalid values to the API', () => {
    const name = builtIn.find(({ id }) => id === 'name') ?? null;
    const cost = FIELDS.at(-1) ?? null;
    expect(issueOf([' A ', '12.50'], [name, cost])).toEqual({ name: ' A ', fields: { cost: '12.50' } });
    expect(issueOf(['A', 'dear', 'x'], [name, cost, null])).toEqual({ name: 'A', fields: { cost: 'dear' } });
    expect(issueOf(['A', ' '], [name, cost])).toEqual({ name: 'A', fields: {} });
    const share = cost && { ...cost, format: { as: 'percent' as const } };
    expect(issueOf(['A', '25%'], [name, share])).toEqual({ name: 'A', fields: { cost: '0.25' } });
    expect(issueOf(['A', '25 kg'], [name, share])).toEqual({ name: 'A', fields: { cost: '25 kg' } });
  });

  it('chooses the exact option, or the only one that is equal without case and accents', () => {
    const options = ['open', 'closed', 'Résumé', 'Straße', 'beam', 'Beam'].map((value, id) => ({ id: String(id), value, color: null }) as never);
    const [one, some] = [{ ...attribute('one', 'One', 'enum'), options }, { ...attribute('some', 'Some', 'multi_enum'), options }];
    const state = { ...one, id: 'state', custom: false };
    const taken = (cell: string) => issueOf([cell, cell], [one, state]);
    for (const [cell, option] of [['Closed', 'closed'], ['RESUME', 'Résumé'], ['strasse', 'Straße'], ['Beam', 'Beam']] as const) {
      expect(taken(cell)).toEqual({ state: option, fields: { one: option } });
    }
    // Two options are equally near, so neither is taken: the API reports it.
    for (const cell of ['BEAM', 'shut']) expect(taken(cell)).toEqual({ state: cell, fields: { one: cell } });
    expect(issueOf(['Closed;CLOSED;OPEN;new'], [some])).toEqual({ fields: { some: ['closed', 'open', 'new'] } });
  });
});
