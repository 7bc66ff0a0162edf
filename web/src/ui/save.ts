/** Gives the user a file. */
import type { Sink } from '../project/exporting';

export function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
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
