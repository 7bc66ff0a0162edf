/** Give the user a file: at once, or in pieces as they come. */
import { isAbort } from '../api/problem';
import type { Sink } from '../project/exporting';

/** Where the browser has the File System Access API. A file that is aborted leaves nothing behind. */
type Picker = (options: { readonly suggestedName: string }) => Promise<{ createWritable(): Promise<Sink> }>;

export function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * A file that is written piece by piece. A large one goes straight to a place that the user picks, where the browser can do that; null when they
 * pick none. It has to be called while the browser still knows of the click.
 */
export async function fileFor(name: string, { large }: { readonly large: boolean }): Promise<Sink | null> {
  const { showSaveFilePicker } = window as { readonly showSaveFilePicker?: Picker };
  if (!large || !showSaveFilePicker) return download(name);
  try {
    const file = await showSaveFilePicker({ suggestedName: name });
    return await file.createWritable();
  } catch (error) {
    if (isAbort(error)) return null;
    throw error;
  }
}

/** A download that begins when the file is whole. Each piece is a blob of its own, which browsers may keep on disk. */
function download(name: string): Sink {
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
