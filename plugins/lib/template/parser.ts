import type { Command, Node, Operand, Pipeline } from './ast.ts';
import type { TemplateFunction } from './functions.ts';
import { numeral, shown, type Token, tokens } from './lexer.ts';
import { templateError } from './template-error.ts';

/** `{{if}}` within `{{if}}`, or parenthesis within parenthesis, this deep at most. */
const deepest = 64;

const closers = ['end', 'else'] as const;
const unsupported = new Set(['define', 'template', 'block']);

/** Text to nodes; every function and variable is known when it answers. */
export function parseTemplate(
  source: string,
  functions: ReadonlyMap<string, TemplateFunction>,
  variables: readonly string[],
): readonly Node[] {
  return new Parser(source, functions, variables).parse();
}

/** One template on its way from tokens to nodes: a method for each construct. */
class Parser {
  readonly #source: string;
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  readonly #tokens: readonly Token[];
  /** Innermost last; a variable lives until the end of the block it was declared in. */
  readonly #scope: string[];
  #position = 0;
  #depth = 0;
  #loops = 0;

  constructor(
    source: string,
    functions: ReadonlyMap<string, TemplateFunction>,
    variables: readonly string[],
  ) {
    this.#source = source;
    this.#functions = functions;
    this.#tokens = tokens(source);
    this.#scope = [...variables];
  }

  parse(): readonly Node[] {
    const nodes = this.#list();
    const rest = this.#peek();
    if (rest.kind !== 'end') {
      throw this.#fail(rest, `unexpected {{${this.#wordAhead()}}}`);
    }
    return nodes;
  }

  /** Up to the `{{end}}` or `{{else}}` that closes this list, or to the end of the template. */
  #list(): Node[] {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'end' || closers.some((closer) => closer === this.#wordAhead())) {
        return nodes;
      }
      nodes.push(
        token.kind === 'text'
          ? { kind: 'text', text: (this.#next() as { text: string }).text, at: token.at }
          : this.#action(),
      );
    }
  }

  #action(): Node {
    const open = this.#expect('{{', 'template');
    const token = this.#peek();
    if (token.kind === 'word') {
      if (token.text === 'if' || token.text === 'with' || token.text === 'range') {
        this.#next();
        return this.#control(token.text, open);
      }
      if (token.text === 'break' || token.text === 'continue') {
        this.#next();
        if (this.#loops === 0) {
          throw this.#fail(token, `{{${token.text}}} outside {{range}}`);
        }
        this.#expect('}}', token.text);
        return { kind: token.text, at: open.at };
      }
      if (unsupported.has(token.text)) {
        throw this.#fail(token, `{{${token.text}}} is not supported`);
      }
    }
    if (token.kind === '}}') {
      throw this.#fail(token, 'missing value for command');
    }
    const node: Node = { kind: 'action', pipeline: this.#pipeline('command'), at: open.at };
    this.#expect('}}', 'command');
    return node;
  }

  #control(kind: 'if' | 'with' | 'range', open: Token): Node {
    return this.#nested(open, () => {
      const held = this.#scope.length;
      const head = this.#pipeline(kind);
      this.#expect('}}', kind);
      this.#loops += kind === 'range' ? 1 : 0;
      const body = this.#list();
      this.#loops -= kind === 'range' ? 1 : 0;
      const otherwise = this.#wordAhead() === 'else' ? this.#elseBranch(kind) : this.#closed(open);
      this.#scope.length = held;
      return { kind, pipeline: head, body, otherwise, at: open.at };
    });
  }

  #elseBranch(kind: 'if' | 'with' | 'range'): Node[] {
    const open = this.#next();
    this.#next();
    const again = this.#peek();
    if (again.kind === 'word' && again.text === kind && kind !== 'range') {
      this.#next();
      return [this.#control(kind, open)];
    }
    this.#expect('}}', 'else');
    const nodes = this.#list();
    this.#closed(open);
    return nodes;
  }

  #closed(open: Token): [] {
    if (this.#peek().kind === 'end') {
      throw this.#fail(open, 'unexpected end of the template: an {{end}} is missing');
    }
    this.#next();
    const word = this.#next() as { text: string; at: number };
    if (word.text !== 'end') {
      throw this.#fail(word, 'unexpected {{else}}');
    }
    this.#expect('}}', 'end');
    return [];
  }

  #pipeline(context: string): Pipeline {
    const start = this.#peek();
    const { targets, declares } = this.#declarations(context);
    const commands: Command[] = [];
    do {
      const piped = commands.length > 0;
      if (piped) {
        this.#next();
      }
      commands.push(this.#command(context, piped));
    } while (this.#peek().kind === '|');
    if (declares) {
      this.#scope.push(...targets);
    }
    return { targets, declares, commands, at: start.at };
  }

  #declarations(context: string): { targets: readonly string[]; declares: boolean } {
    const first = this.#peek();
    const second = this.#tokens[this.#position + 1];
    if (
      first.kind !== 'variable' ||
      second === undefined ||
      !(second.kind === ':=' || second.kind === '=' || second.kind === ',')
    ) {
      return { targets: [], declares: false };
    }
    const targets = [first.text];
    this.#position += 1;
    if (this.#peek().kind === ',') {
      this.#next();
      const other = this.#expect('variable', context) as { text: string; at: number };
      if (context !== 'range') {
        throw this.#fail(other, `too many declarations in ${context}`);
      }
      targets.push(other.text);
    }
    const sign = this.#next();
    if (sign.kind !== ':=' && sign.kind !== '=') {
      throw this.#fail(sign, `unexpected ${shown(sign)} in ${context}`);
    }
    if (sign.kind === '=') {
      targets.forEach((name) => this.#known(name, first));
    }
    return { targets, declares: sign.kind === ':=' };
  }

  #known(name: string, token: { readonly at: number }): void {
    if (name !== '' && !this.#scope.includes(name)) {
      throw this.#fail(token, `undefined variable "$${name}"`);
    }
  }

  #command(context: string, piped: boolean): Command {
    const token = this.#peek();
    const first = this.#operand(context);
    const rest: Operand[] = [];
    while (!['}}', '|', ')', 'end'].includes(this.#peek().kind)) {
      if (!this.#peek().spaced) {
        throw this.#fail(this.#peek(), `unexpected ${shown(this.#peek())} in operand`);
      }
      rest.push(this.#operand(context));
    }
    const given = rest.length + (piped ? 1 : 0);
    if (first.kind === 'call') {
      const [least, most] = this.#functions.get(first.name)!.takes;
      if (given < least || given > most) {
        const wanted =
          least === most
            ? String(least)
            : most === Infinity
              ? `at least ${least}`
              : `${least} to ${most}`;
        throw this.#fail(
          first,
          `wrong number of args for ${first.name}: want ${wanted} got ${given}`,
        );
      }
    } else if (given > 0) {
      throw this.#fail(
        token,
        piped ? 'only a function can stand after a pipe' : 'only a function takes arguments',
      );
    }
    return { first, rest, at: token.at };
  }

  #operand(context: string): Operand {
    const token = this.#next();
    const at = token.at;
    switch (token.kind) {
      case 'string':
        return { kind: 'literal', value: token.text, at };
      case 'char':
        return { kind: 'literal', value: BigInt(token.text.codePointAt(0)!), at };
      case 'number':
        return {
          kind: 'literal',
          value: numeral(token.text, () => this.#fail(token, `bad number syntax: "${token.text}"`)),
          at,
        };
      case '.':
        if (this.#peek().kind === 'word' && !this.#peek().spaced) {
          throw this.#fail(token, 'unexpected . in operand');
        }
        return { kind: 'dot', chain: [], at };
      case 'field':
        return { kind: 'dot', chain: [token.text, ...this.#chain()], at };
      case 'variable':
        this.#known(token.text, token);
        return { kind: 'variable', name: token.text, chain: this.#chain(), at };
      case '(':
        return this.#nested(token, () => {
          const inner = this.#pipeline('parenthesized pipeline');
          this.#expect(')', 'parenthesized pipeline');
          return { kind: 'pipeline', pipeline: inner, chain: this.#chain(), at };
        });
      case 'word':
        return this.#named(token.text, token);
      default:
        throw this.#fail(
          token,
          token.kind === '}}' || token.kind === '|'
            ? `missing value for ${context}`
            : `unexpected ${shown(token)} in ${context}`,
        );
    }
  }

  #named(name: string, token: Token): Operand {
    const at = token.at;
    if (name === 'true' || name === 'false' || name === 'nil') {
      return { kind: 'literal', value: name === 'nil' ? null : name === 'true', at };
    }
    if (!this.#functions.has(name)) {
      throw this.#fail(token, `function "${name}" not defined`);
    }
    return { kind: 'call', name, at };
  }

  #chain(): string[] {
    const fields: string[] = [];
    while (this.#peek().kind === 'field' && !this.#peek().spaced) {
      fields.push((this.#next() as { text: string }).text);
    }
    return fields;
  }

  #peek(): Token {
    return this.#tokens[this.#position]!;
  }

  #next(): Token {
    return this.#tokens[this.#position++]!;
  }

  #expect(kind: Token['kind'], context: string): Token {
    const token = this.#next();
    if (token.kind !== kind) {
      throw this.#fail(token, `unexpected ${shown(token)} in ${context}`);
    }
    return token;
  }

  #wordAhead(): string | undefined {
    const ahead = this.#tokens[this.#position + 1];
    return this.#peek().kind === '{{' && ahead?.kind === 'word' ? ahead.text : undefined;
  }

  #nested<T>(token: Token, work: () => T): T {
    this.#depth += 1;
    if (this.#depth > deepest) {
      throw this.#fail(token, `nested more than ${deepest} levels deep`);
    }
    const result = work();
    this.#depth -= 1;
    return result;
  }

  #fail(token: { readonly at: number }, message: string): Error {
    return templateError(this.#source, token.at, message);
  }
}
