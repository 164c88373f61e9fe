import { Marked, type Tokens } from 'marked';
import { escapedHtml } from 'svc/template';

import { chapters } from './chapters.ts';

/** Heading with everything up to the next one. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface Rendered {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

/** Markdown of the manual as HTML. HTML within it is shown as text, and addresses of files lead to their page here, or nowhere. */
export function rendered(file: string): Rendered {
  // A leading comment is for the file's author.
  const markdown = file.replace(/^<!--.*?-->\s*/s, '');
  const ids = new Map<string, number>();
  const found: { id: string; title: string }[] = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => escapedHtml(text),
      heading({ tokens, depth, text }) {
        const id = idOf(text, ids);
        found.push({ id, title: plain(text) });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const to = addressOf(href);
        const text = this.parser.parseInline(tokens);
        return to === undefined ? text : `<a href="${escapedHtml(to)}">${text}</a>`;
      },
      image: ({ href, text }: Tokens.Image) => {
        const [, name] = /^(?:docs\/)?pictures\/([a-z0-9-]+\.png)$/.exec(href) ?? [];
        return name === undefined
          ? escapedHtml(text)
          : `<img src="/docs/pictures/${name}" alt="${escapedHtml(text)}" loading="lazy">`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { title: found[0]?.title ?? 'Manual', html, sections: sectionsOf(markdown, found) };
}

/**
 * Returns the address of a link such as `docs/roles.md#users`: the page of that file; addresses of
 * other servers unchanged; undefined for other files.
 */
function addressOf(href: string): string | undefined {
  if (/^(?:https?:\/\/|#|\/docs\/)/.test(href)) {
    return href;
  }
  const [path = '', anchor] = href.split('#');
  const name = path.replace(/^(?:\.\.\/|\.\/|docs\/)+/, '');
  const chapter = chapters.find(
    ({ file }) => file !== undefined && (file === name || file === `docs/${name}`),
  );
  return chapter && `/docs/${chapter.name}${anchor === undefined ? '' : `#${anchor}`}`;
}

function idOf(text: string, ids: Map<string, number>): string {
  const id = plain(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');
  const times = ids.get(id) ?? 0;
  ids.set(id, times + 1);
  return times === 0 ? id : `${id}-${times}`;
}

/** Removes markup. */
const plain = (text: string): string => text.replaceAll(/[`*_]|\[([^\]]*)\]\([^)]*\)/g, '$1');

function sectionsOf(
  markdown: string,
  headings: readonly { readonly id: string; readonly title: string }[],
): readonly Section[] {
  let isCode = false;
  let at = -1;
  const texts = headings.map(() => [] as string[]);
  for (const line of markdown.split('\n')) {
    isCode = /^\s*(?:```|~~~)/.test(line) ? !isCode : isCode;
    if (!isCode && /^#{1,6}\s/.test(line)) {
      at += 1;
    } else {
      texts[at]?.push(line);
    }
  }
  return headings.map((heading, index) => ({
    ...heading,
    text: texts[index]!.join(' ').replaceAll(/[`*|]|\s+/g, ' '),
  }));
}
