import type { Command, Literal, Node, Operand, Pipeline } from './ast.ts';
import type { TemplateFunction } from './functions.ts';
import { type Token, tokens } from './lexer.ts';
import { templateError } from './template-error.ts';

/** `{{if}}` within `{{if}}`, or parenthesis within parenthesis, this deep at most. */
const deepest = 64;

const closers = ['end', 'else'] as const;
const unsupported = new Set(['define', 'template', 'block']);

/** Text to nodes; every function and variable is known when it answers. */
export function parseTemplate(source: string, functions: ReadonlyMap<string, TemplateFunction>, variables: readonly string[]): readonly Node[] {
  const found = tokens(source);
  let position = 0;
  let depth = 0;
  let loops = 0;
  /** Innermost last; a variable lives until the end of the block it was declared in. */
  const scope: string[] = [...variables];

  const peek = (): Token => found[position]!;
  const next = (): Token => found[position++]!;
  const fail = (token: { readonly at: number }, message: string): Error => templateError(source, token.at, message);
  const nested = <T>(token: Token, work: () => T): T => {
    depth += 1;
    if (depth > deepest) {
      throw fail(token, `nested more than ${deepest} levels deep`);
    }
    const result = work();
    depth -= 1;
    return result;
  };
  const expect = (kind: Token['kind'], context: string): Token => {
    const token = next();
    if (token.kind !== kind) {
      throw fail(token, `unexpected ${shown(token)} in ${context}`);
    }
    return token;
  };
  const wordAhead = (): string | undefined => {
    const ahead = found[position + 1];
    return peek().kind === '{{' && ahead?.kind === 'word' ? ahead.text : undefined;
  };

  /** Up to the `{{end}}` or `{{else}}` that closes this list, or to the end of the template. */
  function list(): Node[] {
    const nodes: Node[] = [];
    for (;;) {
      const token = peek();
      if (token.kind === 'end' || closers.some((closer) => closer === wordAhead())) {
        return nodes;
      }
      nodes.push(token.kind === 'text' ? { kind: 'text', text: (next() as { text: string }).text, at: token.at } : action());
    }
  }

  function action(): Node {
    const open = expect('{{', 'template');
    const token = peek();
    if (token.kind === 'word') {
      if (token.text === 'if' || token.text === 'with' || token.text === 'range') {
        next();
        return control(token.text, open);
      }
      if (token.text === 'break' || token.text === 'continue') {
        next();
        if (loops === 0) {
          throw fail(token, `{{${token.text}}} outside {{range}}`);
        }
        expect('}}', token.text);
        return { kind: token.text, at: open.at };
      }
      if (unsupported.has(token.text)) {
        throw fail(token, `{{${token.text}}} is not supported`);
      }
    }
    if (token.kind === '}}') {
      throw fail(token, 'missing value for command');
    }
    const node: Node = { kind: 'action', pipeline: pipeline('command'), at: open.at };
    expect('}}', 'command');
    return node;
  }

  function control(kind: 'if' | 'with' | 'range', open: Token): Node {
    return nested(open, () => {
      const held = scope.length;
      const head = pipeline(kind);
      expect('}}', kind);
      loops += kind === 'range' ? 1 : 0;
      const body = list();
      loops -= kind === 'range' ? 1 : 0;
      const otherwise = wordAhead() === 'else' ? elseBranch(kind) : closed(open);
      scope.length = held;
      return { kind, pipeline: head, body, otherwise, at: open.at };
    });
  }

  function elseBranch(kind: 'if' | 'with' | 'range'): Node[] {
    const open = next();
    next();
    const again = peek();
    if (again.kind === 'word' && again.text === kind && kind !== 'range') {
      next();
      return [control(kind, open)];
    }
    expect('}}', 'else');
    const nodes = list();
    closed(open);
    return nodes;
  }

  function closed(open: Token): [] {
    if (peek().kind === 'end') {
      throw fail(open, 'unexpected end of the template: an {{end}} is missing');
    }
    next();
    const word = next() as { text: string; at: number };
    if (word.text !== 'end') {
      throw fail(word, 'unexpected {{else}}');
    }
    expect('}}', 'end');
    return [];
  }

  function pipeline(context: string): Pipeline {
    const start = peek();
    const { targets, declares } = declarations(context);
    const commands: Command[] = [];
    do {
      const piped = commands.length > 0;
      if (piped) {
        next();
      }
      commands.push(command(context, piped));
    } while (peek().kind === '|');
    if (declares) {
      scope.push(...targets);
    }
    return { targets, declares, commands, at: start.at };
  }

  function declarations(context: string): { targets: readonly string[]; declares: boolean } {
    const first = peek();
    const second = found[position + 1];
    if (first.kind !== 'variable' || second === undefined || !(second.kind === ':=' || second.kind === '=' || second.kind === ',')) {
      return { targets: [], declares: false };
    }
    const targets = [first.text];
    position += 1;
    if (peek().kind === ',') {
      next();
      const other = expect('variable', context) as { text: string; at: number };
      if (context !== 'range') {
        throw fail(other, `too many declarations in ${context}`);
      }
      targets.push(other.text);
    }
    const sign = next();
    if (sign.kind !== ':=' && sign.kind !== '=') {
      throw fail(sign, `unexpected ${shown(sign)} in ${context}`);
    }
    if (sign.kind === '=') {
      targets.forEach((name) => known(name, first));
    }
    return { targets, declares: sign.kind === ':=' };
  }

  function known(name: string, token: { readonly at: number }): void {
    if (name !== '' && !scope.includes(name)) {
      throw fail(token, `undefined variable "$${name}"`);
    }
  }

  function command(context: string, piped: boolean): Command {
    const token = peek();
    const first = operand(context);
    const rest: Operand[] = [];
    while (!['}}', '|', ')', 'end'].includes(peek().kind)) {
      if (!peek().spaced) {
        throw fail(peek(), `unexpected ${shown(peek())} in operand`);
      }
      rest.push(operand(context));
    }
    const given = rest.length + (piped ? 1 : 0);
    if (first.kind === 'call') {
      const [least, most] = functions.get(first.name)!.takes;
      if (given < least || given > most) {
        const wanted = least === most ? String(least) : most === Infinity ? `at least ${least}` : `${least} to ${most}`;
        throw fail(first, `wrong number of args for ${first.name}: want ${wanted} got ${given}`);
      }
    } else if (given > 0) {
      throw fail(token, piped ? 'only a function can stand after a pipe' : 'can not give arguments to something that is no function');
    }
    return { first, rest, at: token.at };
  }

  function operand(context: string): Operand {
    const token = next();
    const at = token.at;
    switch (token.kind) {
      case 'string':
        return { kind: 'literal', value: token.text, at };
      case 'char':
        return { kind: 'literal', value: BigInt(token.text.codePointAt(0)!), at };
      case 'number':
        return { kind: 'literal', value: numeral(token.text, () => fail(token, `bad number syntax: "${token.text}"`)), at };
      case '.':
        if (peek().kind === 'word' && !peek().spaced) {
          throw fail(token, 'unexpected . in operand');
        }
        return { kind: 'dot', chain: [], at };
      case 'field':
        return { kind: 'dot', chain: [token.text, ...chain()], at };
      case 'variable':
        known(token.text, token);
        return { kind: 'variable', name: token.text, chain: chain(), at };
      case '(':
        return nested(token, () => {
          const inner = pipeline('parenthesized pipeline');
          expect(')', 'parenthesized pipeline');
          return { kind: 'pipeline', pipeline: inner, chain: chain(), at };
        });
      case 'word':
        return named(token.text, token);
      default:
        throw fail(token, token.kind === '}}' || token.kind === '|' ? `missing value for ${context}` : `unexpected ${shown(token)} in ${context}`);
    }
  }

  function named(name: string, token: Token): Operand {
    const at = token.at;
    if (name === 'true' || name === 'false' || name === 'nil') {
      return { kind: 'literal', value: name === 'nil' ? null : name === 'true', at };
    }
    if (!functions.has(name)) {
      throw fail(token, `function "${name}" not defined`);
    }
    return { kind: 'call', name, at };
  }

  function chain(): string[] {
    const fields: string[] = [];
    while (peek().kind === 'field' && !peek().spaced) {
      fields.push((next() as { text: string }).text);
    }
    return fields;
  }

  const nodes = list();
  const rest = peek();
  if (rest.kind !== 'end') {
    throw fail(rest, `unexpected {{${wordAhead()}}}`);
  }
  return nodes;
}

/** Go's own distinction: what has a point or an exponent is a float, all else an int. */
function numeral(text: string, fail: () => Error): Literal {
  const plain = text.replaceAll('_', '');
  const digits = plain.replace(/^[+-]/, '');
  const negative = plain.startsWith('-');
  if (!/^0[xX]/.test(digits) && /[.eE]/.test(digits)) {
    const value = Number(digits);
    if (!Number.isFinite(value)) {
      throw fail();
    }
    return negative ? -value : value;
  }
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  if (/^0\d/.test(octal) || /^0[xXbBoO]$/.test(octal)) {
    throw fail();
  }
  const value = BigInt(octal) * (negative ? -1n : 1n);
  if (BigInt.asIntN(64, value) !== value) {
    throw fail();
  }
  return value;
}

function shown(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'end of the template';
    case 'string':
      return `"${token.text}"`;
    case 'field':
      return `<.${token.text}>`;
    case 'variable':
      return `<$${token.text}>`;
    case 'text':
    case 'number':
    case 'char':
    case 'word':
      return `<${token.text}>`;
    default:
      return `"${token.kind}"`;
  }
}
