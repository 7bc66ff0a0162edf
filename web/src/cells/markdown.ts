/** Renders Markdown as elements. The parser and the sanitizer are most of this chunk, so it loads with the first text. */
import createSanitizer from 'dompurify';
import { Marked, type Tokens } from 'marked';

/** The elements that Markdown without HTML has. Images could load from elsewhere, so only their texts are shown. */
const ELEMENTS = ['p', 'br', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a', 'hr', 'table', 'thead', 'tbody', 'tr', 'th', 'td'];
const ADDRESS = /^(?:https?|mailto|tel):/i;

const marked = new Marked({ gfm: true, breaks: true, async: false });
marked.use({
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    image: ({ text }: Tokens.Image) => escaped(text),
    // The panel has headings of its own, whose levels a text must not mix with.
    heading({ tokens }: Tokens.Heading) {
      return `<p><strong>${this.parser.parseInline(tokens)}</strong></p>`;
    },
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
});

const sanitizer = createSanitizer(window);
sanitizer.addHook('afterSanitizeAttributes', (element) => {
  if (element.tagName !== 'A') return;
  // A relative address, which the sanitizer lets pass, would lead into this page.
  if (!ADDRESS.test(element.getAttribute('href') ?? '')) {
    element.replaceWith(...element.childNodes);
    return;
  }
  element.setAttribute('rel', 'noopener noreferrer');
  element.setAttribute('target', '_blank');
});

/** The elements of a text. Its HTML is text; links lead to `https`, `http`, `mailto` and `tel` only. */
export function rendered(text: string): DocumentFragment {
  return sanitizer.sanitize(marked.parse(text, { async: false }), {
    ALLOWED_TAGS: ELEMENTS,
    ALLOWED_ATTR: ['href', 'start', 'align'],
    ALLOWED_URI_REGEXP: ADDRESS,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
