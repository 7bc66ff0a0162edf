/** A text in Markdown: its characters until the renderer is loaded, and if that fails. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useResource } from './resource';

export function MarkdownText({ id, text }: { readonly id: string; readonly text: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [renderer] = useResource(() => import('../cells/markdown'), []);
  const isReady = renderer.kind === 'ready';
  useLayoutEffect(() => {
    place.current?.replaceChildren(isReady ? renderer.value.rendered(text) : text);
  }, [text, isReady]);
  return <div id={id} ref={place} class={isReady ? 'markdown' : 'markdown is-plain'} />;
}
