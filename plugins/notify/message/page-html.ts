import { createHash } from 'node:crypto';

import type { Background, ChannelMessage } from 'svc/contracts/notify';
import { escapedHtml } from 'svc/template';

const style = `
:root { color-scheme: light dark; --line: #8884; --good: #388e3c; --info: #1976d2; --warning: #ef6c00; --critical: #d32f2f; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; border-left: .4rem solid var(--info); padding-left: .7rem; }
h1.good { border-color: var(--good); } h1.warning { border-color: var(--warning); } h1.critical { border-color: var(--critical); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); }
th { white-space: nowrap; font-weight: 600; } svg { width: 100%; height: auto; margin: 1rem 0; } footer { margin-top: 2rem; opacity: .7; font-size: .85rem; }
`;

/** The page brings its one style sheet with it and may load nothing else. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const document = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${escapedHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`;

export interface PageParts {
  readonly hour?: Background['hour'];
  readonly threshold?: number | undefined;
  /** Instances, if there are several. */
  readonly list?: List | undefined;
  /** Link for actions; empty if there is none. */
  readonly act: string;
}

/** One message as a page: what is known, how it went in the last hour, and what to do. */
export function messagePage(
  { title, tone, about, facts, steps }: ChannelMessage,
  { hour, threshold, list, act }: PageParts,
): string {
  const rows = facts.map(
    ({ name, text }) =>
      `<tr><th scope="row">${escapedHtml(name)}</th><td>${linked(text)}</td></tr>`,
  );
  return document(
    title,
    [
      `<h1 class="${tone}">${escapedHtml(title)}</h1>`,
      ...about.map((line) => `<p>${escapedHtml(line)}</p>`),
      hour === undefined ? '' : chart(hour, threshold),
      rows.length === 0 ? '' : `<table>${rows.join('')}</table>`,
      steps.length === 0
        ? ''
        : `<h2>What to do</h2><ol>${steps.map((step) => `<li>${escapedHtml(step)}</li>`).join('')}</ol>`,
      list === undefined ? '' : `<h2>${list.total} instances of the last day</h2>${listOf(list)}`,
      act === ''
        ? ''
        : `<p><a href="${escapedHtml(act)}">Acknowledge, silence, or extend its silence</a> (signed in)</p>`,
      '<footer>This page is read-only. Its link expires a week after it was sent.</footer>',
    ].join('\n'),
  );
}

export interface Listed {
  readonly text: string;
  readonly more: string;
  readonly link?: string;
}

/** A part of a list that may be long. */
export interface List {
  readonly items: readonly Listed[];
  /** Number of entries before it. */
  readonly from: number;
  readonly total: number;
}

/** Everything that one message was about, over as many pages as that takes. */
export const listPage = (title: string, list: List): string =>
  document(title, `<h1>${escapedHtml(title)}</h1>${listOf(list)}`);

function listOf({ items, from, total }: List): string {
  const rows = items.map(({ text, more, link }) => {
    const head =
      link === undefined
        ? escapedHtml(text)
        : `<a href="${escapedHtml(link)}">${escapedHtml(text)}</a>`;
    return `<li>${head}${more === '' ? '' : `<br><small>${escapedHtml(more)}</small>`}</li>`;
  });
  const next = from + items.length;
  const rest = total - next;
  return `<ol start="${from + 1}">${rows.join('')}</ol>${items.length === 0 || rest <= 0 ? '' : `<p><a rel="next" href="?from=${next}">and ${rest} more</a></p>`}`;
}

export const notePage = (title: string, text: string): string =>
  document(title, `<h1>${escapedHtml(title)}</h1><p>${escapedHtml(text)}</p>`);

/** A fact that is an address leads there, and nothing else does. */
const linked = (text: string): string =>
  /^https?:\/\/[^\s"'<>]+$/.test(text)
    ? `<a rel="noreferrer" href="${escapedHtml(text)}">${escapedHtml(text)}</a>`
    : escapedHtml(text);

const [width, height, edge] = [720, 180, 24];

/** Draws the measurements, with the threshold; contains nothing but numbers. */
function chart(points: NonNullable<Background['hour']>, threshold: number | undefined): string {
  const values = [
    ...points.map(([, value]) => value),
    ...(threshold === undefined ? [] : [threshold]),
  ];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [points[0]![0], points.at(-1)![0]];
  const x = (time: number): string =>
    (edge + ((time - first) / Math.max(1, last - first)) * (width - 2 * edge)).toFixed(1);
  const y = (value: number): string =>
    (height - edge - ((value - low) / (high - low || 1)) * (height - 2 * edge)).toFixed(1);
  const path = points.map(([time, value]) => `${x(time)},${y(value)}`).join(' ');
  const bound =
    threshold === undefined
      ? ''
      : `<line x1="${edge}" x2="${width - edge}" y1="${y(threshold)}" y2="${y(threshold)}" stroke="#d32f2f" stroke-dasharray="6 4"/>`;
  const label = (at: number, value: number): string =>
    `<text x="${edge}" y="${at}" font-size="12" fill="currentColor">${Number(value.toPrecision(4))}</text>`;
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="the last hour">${bound}<polyline points="${path}" fill="none" stroke="#1976d2" stroke-width="2"/>${label(16, high)}${label(height - 6, low)}</svg>`;
}
