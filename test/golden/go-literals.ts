/**
 * Value of a test table written in Go: no more of the language than such tables need. `{name}` is a
 * word, `{call, args}` a call, `{fields}` a composite literal, whose fields may have keys.
 */
export type GoValue =
  | string
  | number
  | { readonly name: string }
  | { readonly call: string; readonly args: readonly GoValue[] }
  | { readonly type: string; readonly fields: readonly GoField[] };

export interface GoField {
  readonly key?: GoValue;
  readonly value: GoValue;
}

/** The body of a function, without what surrounds it. */
export function functionBody(source: string, name: string): string {
  const start = source.search(new RegExp(`^func ${name}\\(`, 'm'));
  if (start < 0) {
    throw new Error(`there is no function ${name}`);
  }
  return source.slice(start, source.indexOf('\n}', start));
}

/** The literal that begins at the first match of `opening`, whose last character is the brace. */
export function literalAt(text: string, opening: RegExp): readonly GoField[] {
  const found = opening.exec(text);
  if (found === null) {
    throw new Error(`there is no ${String(opening)}`);
  }
  return new Reader(text, found.index + found[0].length - 1).composite();
}

/** The rows of a table of tests: what follows `[]struct {…}`. */
export function tableOf(source: string, name: string): readonly (readonly GoField[])[] {
  const body = functionBody(source, name);
  const reader = new Reader(body, body.indexOf('[]struct') + '[]struct'.length);
  reader.skipBlock();
  return reader.composite().map(({ value }) => fieldsOf(value));
}

export function fieldsOf(value: GoValue): readonly GoField[] {
  return typeof value === 'object' && 'fields' in value ? value.fields : [];
}

const isBuilder = (value: GoValue): value is Extract<GoValue, { readonly call: string }> =>
  typeof value === 'object' && 'call' in value && value.call.startsWith('.With');

class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  /** Skips `{ … }` with any content. */
  skipBlock(): void {
    this.#blank();
    let depth = 0;
    for (;;) {
      if (this.#quoted() !== undefined) {
        continue;
      }
      const character = this.#text[this.#at++]!;
      depth += character === '{' ? 1 : character === '}' ? -1 : 0;
      if (depth === 0) {
        return;
      }
    }
  }

  composite(): GoField[] {
    this.#expect('{');
    const fields: GoField[] = [];
    while (!this.#take('}')) {
      const first = this.value();
      fields.push(this.#take(':') ? { key: first, value: this.value() } : { value: first });
      this.#take(',');
    }
    return fields;
  }

  value(): GoValue {
    let left = this.#operand();
    for (;;) {
      this.#blank();
      const sign = this.#text[this.#at]!;
      if (!'+-*/'.includes(sign)) {
        return left;
      }
      this.#at += 1;
      const right = this.#operand();
      left =
        sign === '+' && typeof left === 'string' && typeof right === 'string'
          ? left + right
          : { call: sign, args: [left, right] };
    }
  }

  #operand(): GoValue {
    this.#blank();
    const text = this.#quoted();
    if (text !== undefined) {
      return text;
    }
    if (this.#text[this.#at] === '{') {
      return { type: '', fields: this.composite() };
    }
    if (this.#take('&') || this.#take('*')) {
      return this.#operand();
    }
    if (this.#take('(')) {
      const inner = this.value();
      this.#expect(')');
      return inner;
    }
    const number = this.#matched(/-?(?:0x[\da-f]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)/iy);
    if (number !== '') {
      return Number(number.replaceAll('_', ''));
    }
    if (this.#text.startsWith('func', this.#at) && /^func\s*\(/.test(this.#text.slice(this.#at))) {
      this.#at = this.#text.indexOf('{', this.#at);
      this.skipBlock();
      return { name: 'func' };
    }
    return this.#named(
      this.#matched(
        /(?:\[[^\]]*\]|map\[[^\]]*\])*\*?(?:[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*)(?:\[\w+\])?/uy,
      ),
    );
  }

  #named(name: string): GoValue {
    if (name === '') {
      throw new Error(`cannot read ${this.#text.slice(this.#at, this.#at + 80)}`);
    }
    let value: GoValue = { name };
    for (;;) {
      if (this.#text[this.#at] === '{') {
        value = { type: name, fields: this.composite() };
      } else if (this.#text[this.#at] === '(') {
        this.#at += 1;
        const args: GoValue[] = [];
        while (!this.#take(')')) {
          args.push(this.value());
          this.#take('...');
          this.#take(',');
        }
        // What a builder is given comes behind what it has so far.
        value = isBuilder(value)
          ? { ...value, args: [...value.args, ...args] }
          : { call: name, args };
      } else if (this.#text[this.#at] === '.') {
        const method = this.#matched(/\.\w+/y);
        value = { call: method, args: [value] };
      } else {
        return value;
      }
    }
  }

  #quoted(): string | undefined {
    const raw = this.#matched(/`[^`]*`/y);
    if (raw !== '') {
      return raw.slice(1, -1).replaceAll('\r', '');
    }
    const text = this.#matched(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/y);
    return text === '' ? undefined : unescaped(text.slice(1, -1));
  }

  #matched(form: RegExp): string {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #blank(): void {
    this.#matched(/(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y);
  }

  #take(sign: string): boolean {
    this.#blank();
    const found = this.#text.startsWith(sign, this.#at);
    this.#at += found ? sign.length : 0;
    return found;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) {
      throw new Error(`expected ${sign} at ${this.#text.slice(this.#at, this.#at + 80)}`);
    }
  }
}

const plain: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([0-7]{3})|(.))/gi,
    (_, x?: string, u?: string, long?: string, octal?: string, one?: string) =>
      one === undefined
        ? String.fromCodePoint(
            octal === undefined ? parseInt((x ?? u ?? long)!, 16) : parseInt(octal, 8),
          )
        : (plain[one] ?? one),
  );
}
