import { type CharSet, classOf, escapeOf, hasCase } from './char-set.ts';

/**
 * Syntax tree of RE2's syntax, for reasoning only: what the engine would refuse may pass here, and
 * what is not understood is `undefined`, about which nothing is claimed.
 */
export type Node =
  | { readonly kind: 'text'; readonly text: string; readonly fold: boolean }
  /** One character out of several; which ones, where that is understood. */
  | { readonly kind: 'one'; readonly set?: CharSet }
  | { readonly kind: 'any'; readonly newline: boolean }
  /** The first and the last place of the subject. */
  | { readonly kind: 'begin' | 'end' }
  /** Another condition on a place. */
  | { readonly kind: 'place' }
  | { readonly kind: 'concat' | 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'group'; readonly part: Node }
  | {
      readonly kind: 'repeat';
      readonly part: Node;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    };

interface Flags {
  readonly fold: boolean;
  readonly dotAll: boolean;
  readonly lines: boolean;
  readonly lazy: boolean;
}

export function readSyntax(
  text: string,
  flags: { readonly fold: boolean; readonly dotAll: boolean },
): Node | undefined {
  const reader = new SyntaxReader(text);
  try {
    const node = reader.either({ ...flags, lines: false, lazy: false }, 0);
    return reader.done ? node : undefined;
  } catch (error) {
    if (error === notUnderstood) {
      return undefined;
    }
    throw error;
  }
}

const notUnderstood = new Error('not understood');
const deepest = 200;

const repeatForm = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/;
const groupForm = /^\(\?(?:P?<(\w+)>|([imsU]*)(?:-([imsU]+))?([:)]))/;
const classForm = /^\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]/;
const escapedCode =
  /^\\(?:x\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|([1-7][0-7]{1,2}|0[0-7]{0,2}))/;
const controls: Readonly<Record<string, string>> = {
  a: '\x07',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

class SyntaxReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get done(): boolean {
    return this.#at >= this.#text.length;
  }

  either(outer: Flags, depth: number): Node {
    if (depth > deepest) {
      throw notUnderstood;
    }
    const branches: Node[][] = [[]];
    let flags = outer;
    while (!this.done && this.#peek() !== ')') {
      if (this.#peek() === '|') {
        this.#at++;
        branches.push([]);
        continue;
      }
      const changed = this.#flagsAlone(flags);
      if (changed !== undefined) {
        flags = changed;
        continue;
      }
      const branch = branches.at(-1)!;
      for (const node of this.#atoms(flags, depth)) {
        branch.push(node);
      }
      this.#repeats(branch, flags);
    }
    const parts = branches.map((branch): Node =>
      branch.length === 1 ? branch[0]! : { kind: 'concat', parts: branch },
    );
    return parts.length === 1 ? parts[0]! : { kind: 'either', parts };
  }

  #peek(): string {
    return String.fromCodePoint(this.#text.codePointAt(this.#at)!);
  }

  #take(form: RegExp): RegExpExecArray | undefined {
    const found = form.exec(this.#text.slice(this.#at));
    if (found === null) {
      return undefined;
    }
    this.#at += found[0].length;
    return found;
  }

  /** `(?i)`: from here to the end of the group. */
  #flagsAlone(flags: Flags): Flags | undefined {
    const found = groupForm.exec(this.#text.slice(this.#at, this.#at + 16));
    if (found?.[4] !== ')') {
      return undefined;
    }
    this.#at += found[0].length;
    return withFlags(flags, found);
  }

  #atoms(flags: Flags, depth: number): readonly Node[] {
    const char = this.#peek();
    switch (char) {
      case '(':
        return [this.#group(flags, depth)];
      case '[':
        return [this.#class(flags)];
      case '.':
        this.#at++;
        return [{ kind: 'any', newline: flags.dotAll }];
      case '^':
        this.#at++;
        return [{ kind: flags.lines ? 'place' : 'begin' }];
      case '$':
        this.#at++;
        return [{ kind: flags.lines ? 'place' : 'end' }];
      case '\\':
        return this.#escape(flags);
      case '*':
      case '+':
      case '?':
        throw notUnderstood;
      default:
        this.#at += char.length;
        return [textNode(char, flags)];
    }
  }

  #group(flags: Flags, depth: number): Node {
    const special = this.#text.startsWith('(?', this.#at) ? this.#take(groupForm) : undefined;
    if (special === undefined) {
      this.#at++;
    }
    const part = this.either(special === undefined ? flags : withFlags(flags, special), depth + 1);
    if (this.done) {
      throw notUnderstood;
    }
    this.#at++;
    return special === undefined || special[1] !== undefined ? { kind: 'group', part } : part;
  }

  #class(flags: Flags): Node {
    const found = this.#take(classForm);
    if (found === undefined) {
      throw notUnderstood;
    }
    const single = /^\[([^\\^\]])\]$/u.exec(found[0]) ?? /^\[\\([^\w\s])\]$/.exec(found[0]);
    return single === null ? oneOf(classOf(found[0]), flags) : textNode(single[1]!, flags);
  }

  #escape(flags: Flags): readonly Node[] {
    const rest = this.#text.slice(this.#at + 1, this.#at + 3);
    const char = rest[0];
    if (char === 'Q') {
      return this.#quoted(flags);
    }
    const code = this.#take(escapedCode);
    if (code !== undefined) {
      const point =
        code[3] === undefined
          ? Number.parseInt((code[1] ?? code[2])!, 16)
          : Number.parseInt(code[3], 8);
      return point > 0x10ffff || (point >= 0xd800 && point < 0xe000)
        ? [{ kind: 'one' }]
        : [textNode(String.fromCodePoint(point), flags)];
    }
    if (char === 'p' || char === 'P') {
      this.#at +=
        rest[1] === '{' ? Math.max(1, this.#text.indexOf('}', this.#at) + 1 - this.#at) : 3;
      return [{ kind: 'one' }];
    }
    this.#at += 2;
    if (char === undefined || /[^\x20-\x7e]|[1-9CZzAEG]/.test(char)) {
      return this.#edge(char);
    }
    if (/[dDsSwW]/.test(char)) {
      return [oneOf(escapeOf(char), flags)];
    }
    if (/[bB]/.test(char)) {
      return [{ kind: 'place' }];
    }
    const control = controls[char];
    if (control === undefined && /\w/.test(char) && char !== '_') {
      throw notUnderstood;
    }
    return [textNode(control ?? char, flags)];
  }

  #edge(char: string | undefined): readonly Node[] {
    if (char === 'A' || char === 'z') {
      return [{ kind: char === 'A' ? 'begin' : 'end' }];
    }
    throw notUnderstood;
  }

  /** Parses `\Q…\E`; a repetition after it applies to the last character only. */
  #quoted(flags: Flags): readonly Node[] {
    const end = this.#text.indexOf('\\E', this.#at);
    const quoted = this.#text.slice(this.#at + 2, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#text.length : end + 2;
    return Array.from(quoted, (char) => textNode(char, flags));
  }

  #repeats(branch: Node[], flags: Flags): void {
    while (!this.done) {
      const bounds = this.#bounds();
      if (bounds === undefined) {
        return;
      }
      const marked = this.#text[this.#at] === '?';
      this.#at += marked ? 1 : 0;
      const part = branch.pop();
      if (part === undefined) {
        throw notUnderstood;
      }
      branch.push({
        kind: 'repeat',
        part,
        min: bounds[0],
        max: bounds[1],
        lazy: marked !== flags.lazy,
      });
    }
  }

  #bounds(): readonly [min: number, max: number] | undefined {
    const simple = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] } as const;
    const char = this.#text[this.#at]!;
    if (char === '*' || char === '+' || char === '?') {
      this.#at++;
      return simple[char];
    }
    const found = char === '{' ? this.#take(repeatForm) : undefined;
    if (found === undefined) {
      return undefined;
    }
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === undefined ? Infinity : Number(found[3]);
    if (max < min) {
      throw notUnderstood;
    }
    return [min, max];
  }
}

function withFlags(flags: Flags, [, , on = '', off = '']: RegExpExecArray): Flags {
  const has = (letter: string, before: boolean): boolean =>
    (on.includes(letter) || before) && !off.includes(letter);
  return {
    fold: has('i', flags.fold),
    dotAll: has('s', flags.dotAll),
    lines: has('m', flags.lines),
    lazy: has('U', flags.lazy),
  };
}

/** Folding means nothing to a character without case; that is only claimed of ASCII. */
const textNode = (text: string, { fold }: Flags): Node => ({
  kind: 'text',
  text,
  fold: fold && !/^[\x20-\x40[-`{-~]$/.test(text),
});

const oneOf = (set: CharSet | undefined, { fold }: Flags): Node =>
  set === undefined || (fold && hasCase(set)) ? { kind: 'one' } : { kind: 'one', set };
