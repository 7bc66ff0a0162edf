/** Give the user a file. */
import type { Sink } from '../project/exporting';

export function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Have the browser fetch a file from a link that says how it is to be saved. */
export function saveFrom(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.rel = 'noreferrer';
  link.click();
}

/** A file that is written piece by piece, whose download begins when it is whole. Each piece is a blob of its own, which browsers may keep on disk. */
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
