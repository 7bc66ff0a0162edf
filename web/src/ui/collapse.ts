/**
 * Tools of a bar that has no room for all of them: they are not shown, and its menu offers them instead. A tool takes
 * part by `useCollapsed`, and the bar provides the context.
 */
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { Icon } from './icons';

export interface CollapsedTool {
  readonly label: string;
  readonly icon: Icon;
  readonly disabled?: boolean;
  readonly act: () => void;
}

export class Collapsing {
  /** Whether the bar is too narrow for all tools. */
  readonly on = signal(false);
  /** The button of the menu, beside which the panels of the tools open. */
  anchor: HTMLElement | null = null;
  private readonly present = new Map<object, () => CollapsedTool>();

  /** The tools that are not shown, in the order of the bar. */
  get tools(): readonly CollapsedTool[] {
    return this.on.value ? [...this.present.values()].map((tool) => tool()) : [];
  }

  join(key: object, tool: () => CollapsedTool): () => void {
    this.present.set(key, tool);
    return () => this.present.delete(key);
  }
}

export const CollapseContext = createContext<Collapsing | null>(null);

/** Take part with a tool, unless it `stays`. Returns the bar's state if the tool is not to be shown now. */
export function useCollapsed(tool: CollapsedTool, { stays = false }: { readonly stays?: boolean } = {}): Collapsing | null {
  const collapsing = useContext(CollapseContext);
  const latest = useRef(tool);
  latest.current = tool;
  useLayoutEffect(() => (stays ? undefined : collapsing?.join(latest, () => latest.current)), [collapsing, stays]);
  return !stays && collapsing?.on.value ? collapsing : null;
}
