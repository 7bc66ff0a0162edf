/** A value of a field beside the grid, and the grid's editor in its place. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Api } from '../api/client';
import { editorFor } from '../cells/editors';
import type { Typed } from '../cells/editors/editor';
import { showValue } from '../cells/show';
import type { Field } from '../fields/fields';
import type { CellValue } from '../fields/values';
import { findUsers } from '../project/queries';
import { words } from '../words';

export function ShownValue({ id, field, value }: { readonly id: string; readonly field: Field; readonly value: CellValue }) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!place.current) return;
    if (value === null && field.type !== 'bool') place.current.textContent = words.cell.empty;
    else showValue(place.current, field, value, { links: false }); // it may be in a button
  }, [field, value]);
  return <span id={id} ref={place} class={value === null ? 'soft' : `value-${field.type}`} />;
}

interface ValueEditorProps {
  readonly api: Api;
  readonly field: Field;
  readonly value: CellValue;
  /** Whether the user may add options to the field. */
  readonly mayCreate?: boolean;
  /** A text that was refused, with which the editing begins. */
  readonly refused?: string | null;
  /** Called when the editing begins; returns a function to call at its end. */
  readonly begin?: () => () => void;
  /**
   * The entered value, or null if it stays as it was. Also whether a key ended the editing, so that no other element
   * took the focus.
   */
  readonly onEnd: (typed: Typed | null, byKey: boolean) => void;
}

export function ValueEditor({ api, field, value, mayCreate = false, refused = null, begin, onEnd }: ValueEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    let over = false;
    const ended = begin?.();
    const end = (taken: boolean, byKey: boolean) => {
      if (over) return;
      over = true;
      onEnd(taken ? editor.result() : null, byKey);
    };
    const editor = editorFor({
      field,
      value,
      begin: refused === null ? null : { text: refused, isTyped: false },
      suggestUsers: (prefix) => findUsers(api, prefix),
      mayCreate,
      done: () => end(true, true),
    });
    element.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      end(event.key === 'Enter', true);
    });
    element.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) end(true, false);
    });
    element.append(editor.element);
    editor.open();
    return () => {
      over = true;
      editor.close();
      ended?.();
    };
  }, []);
  return <div ref={place} class="issue-editor" />;
}
