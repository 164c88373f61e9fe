import { withoutEntities } from './decoded.ts';

/** Address that a text has its reader's program load, or offers to follow. */
export interface Embed {
  /** Loaded without a click, as pictures are; a link is followed only by a person. */
  readonly isLoaded: boolean;
  readonly address: string;
  /** Position in the text. */
  readonly at: number;
}

const longestLabel = 999;
const longestTag = 64 * 1024;
/** A longer one is taken for one that is filled. */
const longestAddress = 1_000;
const deepest = 3;

/**
 * Yields the addresses on other hosts that a text embeds or links to, in markdown, HTML and CSS.
 * Programs that show markdown differ, so whatever one of them may take for a picture is one; code
 * is read, too, because a model may be told to write what stands there. Takes linear time, which a
 * parser of CommonMark does not.
 */
export function* embeds(text: string, depth = 0): Generator<Embed> {
  for (const embed of [...inMarkdown(text), ...inTags(text)]) {
    const address = (withoutEntities(embed.address) ?? embed.address).replaceAll(/[\t\n\r]/g, '');
    const inner = depth < deepest ? documentIn(address) : undefined;
    if (inner !== undefined) {
      for (const { isLoaded, address: nested } of embeds(inner, depth + 1)) {
        yield { isLoaded, address: nested, at: embed.at };
      }
    } else if (isElsewhere(address)) {
      yield { ...embed, address: address.trim() };
    }
  }
}

/** Returns whether a browser would ask another host: `//host`, `\\host` and `https:host` are ways to write it. */
const isElsewhere = (address: string): boolean =>
  /^[\0- ]*(?:(?:https?|ftp|wss?):|[\\/]{2})/i.test(address);

/** Returns the HTML or SVG in a `data:` address, or the value of `srcdoc`, marked as such by `inTags`. */
function documentIn(address: string): string | undefined {
  const [, base64, body] =
    /^\s*data:(?:text\/|image\/svg|application\/xhtml)[^,]{0,100}?(;\s*base64)?,([^]*)$/i.exec(
      address,
    ) ?? [];
  if (body === undefined) {
    return undefined;
  }
  return base64 === undefined
    ? body.replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : Buffer.from(body, 'base64').toString('utf8');
}

/** Bracket that is open, or closed without an address behind it. */
interface Bracket {
  readonly isPicture: boolean;
  readonly at: number;
}

/** Yields the addresses of `![]()`, `[]()` and of definitions. */
function* inMarkdown(text: string): Generator<Embed> {
  const pictures = new Set<string>();
  const definitions: (Embed & { readonly label: string })[] = [];
  let open: Bracket[] = [];
  /** Position of the last `![` in this paragraph that has no address yet. */
  let pending: number | undefined;
  let rawAt = -1;
  for (const { 0: sign, index } of text.matchAll(
    /\\[!-/:-@[-`{-~]|\n[ \t\r>]*(?=\n)|!?\[|\]|[`<]/g,
  )) {
    if (sign.startsWith('\n')) {
      open = [];
      pending = undefined;
    } else if (sign.startsWith('\\')) {
      continue;
    } else if (sign === '`' || sign === '<') {
      rawAt = index;
    } else if (sign !== ']') {
      open.push({ isPicture: sign === '![', at: index });
      pending = sign === '![' ? index : pending;
    } else {
      const begun = open.pop();
      // A bracket in code or in a tag is none, so the pairs may be others.
      const isPicture =
        begun?.isPicture === true ||
        (pending !== undefined && (begun === undefined || rawAt > pending));
      const from = begun === undefined ? (pending ?? index) : begun.at;
      const next = text[index + 1];
      if (next === '(') {
        yield { isLoaded: isPicture, address: destination(text, index + 2, ')'), at: from };
        pending = isPicture ? undefined : pending;
      } else if (next === ':') {
        const label = text.slice(from + 1, index);
        const address = destination(text, index + 2, '\n');
        definitions.push({ isLoaded: false, address, at: from, label });
      }
      // Behind `![b]` a parenthesis that never closes leaves it a reference.
      if (isPicture) {
        const shown = text.slice(Math.max(from, index - longestLabel), index);
        const [, label = ''] =
          next === '['
            ? (labelForm.exec(text.slice(index + 1, index + 1 + longestLabel)) ?? [])
            : [];
        pictures.add(folded(label.trim() === '' ? shown.replace(/^!?\[/, '') : label));
      }
    }
  }
  for (const { label, ...definition } of definitions) {
    yield { ...definition, isLoaded: pictures.has(folded(label)) };
  }
}

const labelForm = /^\[((?:[^[\]\\]|\\[^])*)\]/;

/** Returns a label as CommonMark compares it: without regard to case and white space. */
const folded = (label: string): string =>
  label
    .replaceAll(/\n[ \t]*>[ \t>]*/g, ' ')
    .trim()
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
    .toUpperCase();

/** Beginning of an address of another host, with entities and escapes still in it. */
const mayBeElsewhere = /^<?[\0- ]*(?:[&\\]|\/[/\\]|[a-z]{2,5}[:&\\])/i;

/**
 * Reads what stands behind `](` or `]:`. Blanks belong to it, although CommonMark ends an address
 * there: a model that is told to fill `d=[the answer]` writes none.
 */
function destination(text: string, from: number, end: ')' | '\n'): string {
  const blanks = /[ \t\r]*(?:\n[ \t\r>]*)?/y;
  blanks.lastIndex = from;
  const begin = from + blanks.exec(text)![0].length;
  if (!mayBeElsewhere.test(text.slice(begin, begin + 40))) {
    return '';
  }
  const rest = text.slice(begin, begin + longestAddress);
  if (rest.startsWith('<')) {
    const [, inner] = /^<((?:\\[^\n]|[^>\n\\])*)>[ \t]*(?:[\n)"'(]|$)/.exec(rest) ?? [];
    // `<https://host/?d=<answer>>` is none to CommonMark, but one that is to be filled.
    return inner ?? rest.slice(1, endOf(rest, end));
  }
  return rest.slice(0, endOf(rest, end)).replace(/[ \t\n]+(?:"[^"]*"|'[^']*'|\([^()]*\))\s*$/, '');
}

/** Returns the position of the closing parenthesis that belongs to the opening one before the text, or of the end of the line. */
function endOf(rest: string, end: ')' | '\n'): number {
  let depth = 0;
  for (const { 0: sign, index } of rest.matchAll(/\\[!-/:-@[-`{-~]|[()\n]/g)) {
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    if (sign === '\n' || (end === ')' && depth < 0)) {
      return index;
    }
  }
  return rest.length;
}

const tagForm = /<([a-z][^\s/<>]*)/gi;
const attributeForm =
  /[\s/]*([^\s/<>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s<>"'][^\s>]{0,1000})))?/y;
/** Attributes that are read by people or compared, never called. */
const isOnlyText = /^(?:alt|title|xmlns|xmlns:.*|aria-.*|placeholder|label|id|class|name|cite)$/;

/** Yields the addresses in the attributes of tags and in style sheets. */
function* inTags(text: string): Generator<Embed> {
  let sheetEnd = 0;
  for (const { 0: start, 1: written = '', index } of text.matchAll(tagForm)) {
    const element = written.toLowerCase();
    const tag = text.slice(index, index + longestTag);
    attributeForm.lastIndex = start.length;
    for (let found = attributeForm.exec(tag); found !== null; found = attributeForm.exec(tag)) {
      const [, name = '', double, single, bare] = found;
      const value = double ?? single ?? bare ?? '';
      for (const embed of inAttribute(
        element,
        name.toLowerCase(),
        withoutEntities(value) ?? value,
      )) {
        yield { ...embed, at: index };
      }
      if (bare?.includes('<') === true) {
        break;
      }
    }
    if (element === 'style' && index >= sheetEnd) {
      const [sheet] = /^[^]*?(?:<\/style|$)/i.exec(tag)!;
      sheetEnd = index + sheet.length;
      yield* inStyle(sheet.slice(start.length), index);
    }
  }
}

function* inAttribute(element: string, name: string, value: string): Generator<Embed> {
  const isFollowed =
    ((element === 'a' || element === 'area') && !name.endsWith('src')) ||
    name === 'action' ||
    name === 'formaction';
  const loaded = (address: string): Embed => ({ isLoaded: !isFollowed, address, at: 0 });
  if (isOnlyText.test(name)) {
    return;
  }
  if (name === 'srcdoc') {
    yield loaded(`data:text/html;base64,${Buffer.from(value).toString('base64')}`);
  } else if (name.endsWith('srcset')) {
    // Blanks end a candidate, and also separate the words of one that is to be filled.
    yield* value.split(/,\s+/).map(loaded);
    yield* value.split(/[\s,]+(?=https?:|\/\/)/i).map(loaded);
  } else {
    yield loaded(value.replace(/^\s*\d{1,4}\s*;\s*(?:url\s*=\s*)?["']?/i, ''));
  }
  if (name === 'style' || value.includes('(')) {
    yield* inStyle(value, 0);
  }
}

/** Yields the addresses in CSS, with its escapes removed. */
function* inStyle(sheet: string, at: number): Generator<Embed> {
  const plain = sheet.replaceAll(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_all, hex, sign) => {
    const code = Number.parseInt(hex ?? '', 16);
    return Number.isNaN(code) ? String(sign) : code > 0x10ffff ? '' : String.fromCodePoint(code);
  });
  for (const [, plainly, double, single] of plain.matchAll(
    /\b(?:url|src)\(\s*([^"'\s)][^)\n]{0,4000})|"([^"\n]*)"|'([^'\n]*)'/gi,
  )) {
    yield { isLoaded: true, address: plainly ?? double ?? single ?? '', at };
  }
}

/** Signs that no address has, and that templates put around a name. */
const unfilled = /[{}$<>^`|\\\s"…]|%(?:7[bcd]|24|3[ce]|5[bc]|5e|60)|%(?![0-9a-f]{2})|\(\(|__|@@/i;
/** Brackets, as in `[the answer]`; a host in brackets is an address of IPv6. */
const bracketed = /[[\]]/;
const ofHost = /^[^/?#]*\/\/(?:[^/?#@]*@)?\[[0-9a-f:.%]+\]/i;
/** `BASE64_OF_IT` anywhere, `ANSWER` as a value. */
const shouted =
  /(?<![A-Za-z0-9])[A-Z][A-Z0-9]*(?:_[A-Z0-9]*[A-Z][A-Z0-9]*)+(?![a-z])|[=#][A-Z][A-Z0-9]{3,}(?![A-Za-z0-9])/;
/** Names of data that a model would be asked to put there. */
const named =
  /[=#/?&.](?:the|your|our|my|this|last|all|full|encoded|base64)?[-_+ ]{0,3}(?:secrets?|passwords?|answers?|credentials?|conversation|chat[-_+ ]?history)(?![a-z])|base64[-_+ (]/i;
/** `?d=`, for a model to continue. */
const openEnd = /[?&][\w.-]{1,60}=$/;

/** Returns whether an address has a place that whoever shows it fills with data, anywhere in it. */
export function carriesData(address: string): boolean {
  const written = address.replace(ofHost, '').replaceAll(/\\([!-/:-@[-`{-~])/g, '$1');
  const slashes = written.replace(/^([a-z]+:)?[\\/]{2,}/i, '');
  const spaced = slashes.replaceAll('%20', ' ');
  return (
    address.length >= longestAddress ||
    unfilled.test(slashes) ||
    bracketed.test(slashes) ||
    shouted.test(slashes) ||
    named.test(spaced) ||
    openEnd.test(slashes)
  );
}
