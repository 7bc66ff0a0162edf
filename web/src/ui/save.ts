/** Gives the user a file. */
import type { Sink } from '../project/exporting';

/** Characters of the name of a file, without its ending. */
const MOST_CHARACTERS = 100;

export function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A name of a file that every system accepts, made of these parts. */
export function fileName(parts: readonly (string | undefined)[], ending: string): string {
  // File systems refuse these characters.
  const clean = parts.flatMap((part) => part?.replace(/[\u0000-\u001f\u007f"*/:<>?\\|]+/g, ' ').replace(/\s+/g, ' ').trim() ?? []).filter(Boolean);
  return `${Array.from(clean.join(' - ')).slice(0, MOST_CHARACTERS).join('').replace(/^\.+/, '').trim() || 'export'}.${ending}`;
}

/** Let the browser fetch a file from a link that says how to save it. */
export function saveFrom(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.rel = 'noreferrer';
  link.click();
}

/**
 * A file that is written piece by piece, with a download when it is complete. Each piece is a blob, which browsers may
 * keep on disk.
 */
export function download(name: string): Sink {
  const parts: Blob[] = [];
  return {
    write: (text) => {
      parts.push(new Blob([text]));
      return Promise.resolve();
    },
    close: () => {
      save(new Blob(parts, { type: 'text/csv;charset=utf-8' }), name);
      return Promise.resolve();
    },
    abort: () => Promise.resolve(),
  };
}
