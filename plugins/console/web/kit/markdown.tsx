import type { ComponentChildren, VNode } from 'preact';

import { below } from '../browser/base.ts';
import { address } from '../browser/location.ts';
import { markdown as wording } from '../text/english/kit.ts';

/** Text of people and models as it is meant. It becomes elements and never HTML; pictures from elsewhere are not loaded but named. */
export function Markdown({ text }: { readonly text: string }) {
  return <div class="markdown">{blocks(text.replaceAll('\r\n', '\n').split('\n'))}</div>;
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)\s*$/;
const heading = /^ {0,3}(#{1,6})\s+(.+?)\s*#*$/;
const rule = /^ {0,3}(?:-\s*){3,}$|^ {0,3}(?:\*\s*){3,}$/;
const quote = /^ {0,3}>\s?/;
const item = /^( {0,8})([-*+]|\d{1,9}[.)])\s+(.*)$/;
const tableRule = /^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$/;

/** Max nesting of quotes and lists; beyond it the rest is plain text. */
const deepest = 6;

function blocks(lines: readonly string[], depth = 0): VNode[] {
  const out: VNode[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    const [, mark] = fence.exec(line) ?? [];
    const [, hashes, title] = heading.exec(line) ?? [];
    if (line.trim() === '') {
      at += 1;
    } else if (mark !== undefined) {
      const end = until(lines, at + 1, (next) => next.trim().startsWith(mark));
      out.push(<pre key={at}>{lines.slice(at + 1, end).join('\n')}</pre>);
      at = end + 1;
    } else if (hashes !== undefined) {
      // The page has its own first heading.
      const Heading = hashes.length <= 2 ? 'h2' : 'h3';
      out.push(<Heading key={at}>{inline(title!)}</Heading>);
      at += 1;
    } else if (rule.test(line)) {
      out.push(<hr key={at} />);
      at += 1;
    } else if (quote.test(line) && depth < deepest) {
      const end = until(lines, at, (next) => !quote.test(next));
      out.push(
        <blockquote key={at}>
          {blocks(
            lines.slice(at, end).map((next) => next.replace(quote, '')),
            depth + 1,
          )}
        </blockquote>,
      );
      at = end;
    } else if (item.test(line) && depth < deepest) {
      const end = endOfList(lines, at);
      out.push(<List key={at} lines={lines.slice(at, end)} depth={depth} />);
      at = end;
    } else if (line.includes('|') && tableRule.test(lines[at + 1] ?? '')) {
      const end = until(lines, at + 2, (next) => !next.includes('|'));
      out.push(
        <MarkdownTable key={at} head={cells(line)} rows={lines.slice(at + 2, end).map(cells)} />,
      );
      at = end;
    } else {
      const end = until(
        lines,
        at + 1,
        (next) =>
          next.trim() === '' ||
          fence.test(next) ||
          heading.test(next) ||
          item.test(next) ||
          quote.test(next),
      );
      out.push(<p key={at}>{inline(lines.slice(at, end).join('\n'))}</p>);
      at = end;
    }
  }
  return out;
}

function until(lines: readonly string[], from: number, ends: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && !ends(lines[at]!)) {
    at += 1;
  }
  return at;
}

/**
 * Returns the end of a list, which includes its items, indented lines, and single empty lines
 * between them.
 */
const endOfList = (lines: readonly string[], from: number): number =>
  until(lines, from, (line) => !(item.test(line) || /^\s+\S/.test(line) || line.trim() === '')) ||
  lines.length;

function List({ lines, depth }: { readonly lines: readonly string[]; readonly depth: number }) {
  const [, margin = '', bullet = '-'] = item.exec(lines[0]!) ?? [];
  const items: string[][] = [];
  for (const line of lines) {
    const [, indent, , text] = item.exec(line) ?? [];
    if (indent !== undefined && indent.length <= margin.length + 1) {
      items.push([text!]);
    } else {
      items
        .at(-1)
        ?.push(
          line.slice(
            Math.min(line.length - line.trimStart().length, margin.length + bullet.length + 1),
          ),
        );
    }
  }
  const Kind = /\d/.test(bullet) ? 'ol' : 'ul';
  return (
    <Kind>
      {items.map((own, at) => (
        <li key={at}>
          {own.some((line) => line.trim() !== '' && own.length > 1) && own.length > 1
            ? blocks(own, depth + 1)
            : inline(own[0]!)}
        </li>
      ))}
    </Kind>
  );
}

const cells = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());

const MarkdownTable = ({
  head,
  rows,
}: {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}) => (
  <table>
    <thead>
      <tr>
        {head.map((cell, at) => (
          <th key={at} scope="col">
            {inline(cell)}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row, at) => (
        <tr key={at}>
          {head.map((_, column) => (
            <td key={column}>{inline(row[column] ?? '')}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

/** Matches code, pictures, links, strong, emphasis, bare addresses and the evidence that an answer cites; everything else is text. */
const piece =
  /\\([!-/:-@[-`{-~])|`([^`\n]+)`|!\[([^\]\n]{0,200})\]\([^)\s]{0,2000}\)|\[((?:\\[!-/:-@[-`{-~]|[^\]\\\n]|\\(?![!-/:-@[-`{-~])){1,500})\]\(([^)\s]{1,2000})\)|\*\*([^*\n]{1,2000})\*\*|(?<![\w*])[*_]([^*_\n]{1,2000})[*_](?![\w*])|((?:https?|playbook):\/\/[^\s<>)\]]{1,2000})|\[(E[1-9]\d{0,14})\]/g;

/** A sign behind a backslash is itself, and no mark. */
const unescaped = (text: string): string => text.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1');

function inline(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let last = 0;
  for (const match of text.matchAll(piece)) {
    const [whole, sign, code, picture, label, href, strong, emphasis, bare, evidence] = match;
    out.push(text.slice(last, match.index));
    last = match.index + whole.length;
    const key = match.index;
    if (sign !== undefined) {
      out.push(sign);
    } else if (code !== undefined) {
      out.push(<code key={key}>{code}</code>);
    } else if (picture !== undefined) {
      out.push(<span key={key} class="soft">{`[${picture || wording.image}]`}</span>);
    } else if (label !== undefined) {
      out.push(<Link key={key} href={href!} label={unescaped(label)} />);
    } else if (strong !== undefined) {
      out.push(<strong key={key}>{unescaped(strong)}</strong>);
    } else if (emphasis !== undefined) {
      out.push(<em key={key}>{unescaped(emphasis)}</em>);
    } else if (evidence !== undefined) {
      out.push(
        <a key={key} href={address(['evidence', evidence])}>
          {whole}
        </a>,
      );
    } else {
      out.push(<Link key={key} href={bare!} label={bare!} />);
    }
  }
  out.push(text.slice(last));
  return out;
}

/** Scheme by which rules and reports name a document of the vault. */
const playbook = 'playbook://';

/** Link to a web page or a page of this console; its target is shown on hover. */
export function Link({ href, label }: { readonly href: string; readonly label: string }) {
  if (/^\/(?:ui\/[\w/?=&.%-]*)?$/.test(href)) {
    return <a href={below(href)}>{label}</a>;
  }
  if (href.startsWith(playbook)) {
    return (
      <a href={address(['knowledge'], { read: `vault/${href.slice(playbook.length)}` })}>
        {label.replace(playbook, '')}
      </a>
    );
  }
  return /^https?:\/\//i.test(href) ? (
    <a href={href} title={href} target="_blank" rel="noreferrer noopener">
      {label}
    </a>
  ) : (
    <span title={href}>{label}</span>
  );
}
