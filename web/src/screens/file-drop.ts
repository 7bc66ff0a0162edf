/** Files that are dropped onto a part of the page. */
import { useState } from 'preact/hooks';

interface DropHandlers {
  readonly onDragOver?: (event: DragEvent) => void;
  readonly onDragLeave?: (event: DragEvent) => void;
  readonly onDrop?: (event: DragEvent) => void;
}

/** Whether a file is held over the part, and the handlers that the part needs. */
export function useFileDrop(allowed: boolean, onFile: (file: File) => void): readonly [dropping: boolean, handlers: DropHandlers] {
  const [dropping, setDropping] = useState(false);
  if (!allowed) return [false, {}];
  return [
    dropping,
    {
      // Columns are dragged too; only files are taken.
      onDragOver: (event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setDropping(true);
      },
      onDragLeave: (event) => {
        if (!(event.currentTarget instanceof Node) || !(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) setDropping(false);
      },
      onDrop: (event) => {
        setDropping(false);
        const file = event.dataTransfer?.files[0];
        if (!file) return;
        event.preventDefault();
        onFile(file);
      },
    },
  ];
}
