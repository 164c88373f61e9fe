import { createHash } from 'node:crypto';

import { escapedHtml } from 'svc/template';

import { parts } from './chapters.ts';
import type { Rendered } from './rendered.ts';
import type { Hit } from './search.ts';

const style = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 14%,transparent);--soft:color-mix(in srgb,currentColor 5%,transparent)}
*{box-sizing:border-box}
body{margin:0;font:16px/1.6 system-ui,sans-serif;display:grid;grid-template:auto 1fr/15rem minmax(0,1fr);min-height:100vh}
header,nav{border-right:1px solid var(--line);padding:1.5rem 1rem 0;font-size:14px}header a{display:none}nav{grid-row:2;padding:0 1rem 1.5rem}nav h2{font-size:12px;font-weight:600;opacity:.7;margin:1.4rem 0 .3rem}
nav a{display:block;padding:.15rem .5rem;border-radius:.3rem;color:inherit;text-decoration:none}
nav a:hover,nav a[aria-current]{background:var(--soft)}
nav a[aria-current]{font-weight:600}
input{width:100%;font:inherit;padding:.35rem .5rem;border:1px solid var(--line);border-radius:.35rem;background:transparent;color:inherit}
main{grid-area:1/2/span 2;padding:1.5rem clamp(1rem,4vw,3.5rem) 5rem;max-width:62rem;overflow-wrap:break-word}h1{line-height:1.25}
h2{margin-top:2.4rem;padding-bottom:.2rem;border-bottom:1px solid var(--line)}

code,pre{font:13px/1.5 ui-monospace,monospace}code{background:var(--soft);padding:.1em .25em;border-radius:.2rem}
pre{overflow:auto;padding:.8rem 1rem;background:var(--soft);border-radius:.4rem}pre code{background:none;padding:0}img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:.4rem}
table{border-collapse:collapse;display:block;overflow:auto;font-size:14px}td,th{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--line)}
blockquote{margin:0;padding-left:1rem;border-left:3px solid var(--line)}a{text-underline-offset:.15em}dt{margin-top:1rem}dd{margin:0;opacity:.85}
@media(max-width:46rem){body{display:block}header{display:flex;align-items:center;gap:1rem;padding-bottom:1rem}header form{flex:1}header a{display:inline}
header,nav{border:0;border-bottom:1px solid var(--line)}nav{display:none}nav:target{display:block}main{max-width:100%}}
`;

/** Content policy: the page's one style sheet, its own pictures, and its own search. */
export const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

/**
 * Renders one chapter between the table of contents and the search, without script. `root` leads
 * from its address to that of svc.
 */
export const chapterPage = (name: string, { title, html }: Rendered, root: string): string =>
  from(root, page(title, name, '', html));

export function foundPage(words: string, hits: readonly Hit[], root: string): string {
  const list = hits.map(
    ({ chapter, section, excerpt }) =>
      `<dt><a href="/docs/${chapter.name}#${escapedHtml(section.id)}">${escapedHtml(chapter.title)}${section.title === '' ? '' : ` · ${escapedHtml(section.title)}`}</a></dt><dd>${escapedHtml(excerpt)}</dd>`,
  );
  const body =
    list.length === 0
      ? '<p>No page has any of these words. Try fewer, or a part of one.</p>'
      : `<dl>${list.join('')}</dl>`;
  return from(root, page(`Search: ${words}`, '', words, `<h1>${escapedHtml(words)}</h1>${body}`));
}

/** Addresses as seen from the page, so that they hold below whatever path a proxy has put in front of svc. */
const from = (root: string, html: string): string =>
  html.replaceAll(/ (href|src|action)="\/(?=(?:docs|api)\b)/g, ` $1="${root}`);

const page = (
  title: string,
  current: string,
  words: string,
  body: string,
): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>${escapedHtml(title)} · svc</title><style>${style}</style></head>
<body><header><form action="/docs/search" role="search"><input type="search" name="q" value="${escapedHtml(words)}" placeholder="Search" aria-label="Search the manual" maxlength="1000"></form><a href="#all-pages">Pages</a></header>
<nav id="all-pages" aria-label="Pages">
${parts.map(({ title: part, chapters }) => `<h2>${part}</h2>${chapters.map((chapter) => `<a href="/docs/${chapter.name}"${chapter.name === current ? ' aria-current="page"' : ''}>${escapedHtml(chapter.title)}</a>`).join('')}`).join('\n')}
<h2>API</h2><a href="/api/docs">Every route</a></nav>
<main>${body}</main></body></html>
`;
