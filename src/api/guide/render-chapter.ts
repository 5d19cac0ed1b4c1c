import { Marked, type RendererObject, type Token } from 'marked';
import { renderPage } from '../pages/show-page.js';
import { chapters, images, type Chapter } from './chapters.js';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');

/** The fragment of a heading, as GitHub makes it: links work there and here. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Where a file beside the chapters is served; `null`: the address is not of such a file. */
function servedAt(href: string): string | null {
  const [, file = '', fragment = ''] = /^([\w.-]+)(#.*)?$/.exec(href) ?? [];
  const path = chapters.find((chapter) => chapter.file === file)?.path;
  if (path !== undefined) return path + fragment;
  return images.includes(file) ? `/docs/guide/${file}` : null;
}

const renderer: RendererObject = {
  heading({ tokens, depth, text }) {
    const inner = this.parser.parseInline(tokens);
    return `<h${depth} id="${fragmentOf(text)}">${inner}</h${depth}>\n`;
  },
  /** What is wider than the page is scrolled, with the keyboard too. */
  code({ text, lang }) {
    const isCommand = lang?.startsWith('sh') === true;
    const [kind, label] = isCommand ? ['command', 'Command'] : ['answer', 'Answer'];
    return (
      `<pre class="${kind}" tabindex="0" role="region" aria-label="${label}">` +
      `<code>${escapeHtml(text)}</code></pre>\n`
    );
  },
};

function relink(token: Token): void {
  if (token.type === 'link' || token.type === 'image') {
    const href = String(token['href']);
    Object.assign(token, { href: servedAt(href) ?? href });
  }
}

const markdown = new Marked({ renderer, walkTokens: relink });

/** A table may be wider than the page too. */
const wrapTables = (html: string): string =>
  html
    .replaceAll(
      '<table>',
      '<div class="table" tabindex="0" role="region" aria-label="Table"><table>',
    )
    .replaceAll('</table>', '</table></div>');

/** The page of a chapter, with the way to all others. */
export function renderChapter(chapter: Chapter, text: string): string {
  const at = chapters.indexOf(chapter);
  return renderPage('guide', {
    title: chapter.name,
    content: wrapTables(markdown.parse(text, { async: false })),
    chapters: chapters.map((of) => ({ ...of, isCurrent: of === chapter })),
    next: chapters[at + 1] ?? null,
  });
}
