/** Value that a condition compares: found by the probe, or written in the condition. */
export type Operand =
  | {
      readonly kind: 'placeholder';
      readonly name: Placeholder;
      readonly path: readonly (string | number)[];
    }
  | { readonly kind: 'call'; readonly call: 'len' | 'has'; readonly of: Operand }
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'pattern'; readonly glob: string }
  | { readonly kind: 'any'; readonly of: readonly Operand[] };

export const placeholders = [
  'STATUS',
  'RESPONSE_TIME',
  'BODY',
  'HEADER',
  'IP',
  'CONNECTED',
  'BANNER',
  'DNS_RCODE',
  'DNS_ANSWERS',
  'CERTIFICATE_EXPIRATION',
  'CERTIFICATE_ISSUER',
  'DOMAIN_EXPIRATION',
  'REDIRECTS',
  'URL',
] as const;
export type Placeholder = (typeof placeholders)[number];

export const comparisons = ['==', '!=', '<=', '>=', '<', '>'] as const;
export type Comparison = (typeof comparisons)[number];

/** One condition, such as `[STATUS] == 200` or `len([BODY].items) > 0`. */
export interface Condition {
  readonly left: Operand;
  readonly comparison: Comparison;
  readonly right: Operand;
}

/** Reads a condition; returns why it is not one. */
export function parseCondition(text: string): Condition | { readonly fault: string } {
  const parts = /^(.*?\S)\s+(==|!=|<=|>=|<|>)\s+(\S.*)$/.exec(text.trim());
  if (parts === null) {
    return {
      fault: `use VALUE OPERATOR VALUE, such as [STATUS] == 200; operators: ${comparisons.join(' ')}`,
    };
  }
  const [left, right] = [parseOperand(parts[1]!), parseOperand(parts[3]!.trim())];
  const fault = [left, right].find((side): side is { fault: string } => 'fault' in side);
  if (fault !== undefined) {
    return fault;
  }
  return {
    left: left as Operand,
    comparison: parts[2] as Comparison,
    right: right as Operand,
  };
}

function parseOperand(text: string): Operand | { readonly fault: string } {
  const [, call, inside] = /^(len|has|pat|any)\((.*)\)$/.exec(text) ?? [];
  if (call === 'pat') {
    return { kind: 'pattern', glob: inside! };
  }
  if (call === 'any') {
    const of = inside!.split(',').map((part) => parseOperand(part.trim()));
    const fault = of.find((one): one is { fault: string } => 'fault' in one);
    return fault ?? { kind: 'any', of: of as Operand[] };
  }
  if (call !== undefined) {
    const of = parseOperand(inside!);
    return 'fault' in of ? of : { kind: 'call', call: call as 'len' | 'has', of };
  }
  const [, name, path] = /^\[([A-Z_]+)\](.*)$/.exec(text) ?? [];
  if (name === undefined) {
    return { kind: 'literal', text: unquoted(text) };
  }
  const known = placeholders.find((one) => one === name);
  if (known === undefined) {
    return {
      fault: `there is no [${name}]; known: ${placeholders.map((one) => `[${one}]`).join(' ')}`,
    };
  }
  const steps = parsePath(path!);
  if (steps === undefined || (steps.length > 0 && known !== 'BODY' && known !== 'HEADER')) {
    return {
      fault: `${text} has no valid path; only [BODY] and [HEADER] have one, such as [BODY].items[0].id`,
    };
  }
  return { kind: 'placeholder', name: known, path: steps };
}

/** `.a.b[0]` or `[0].a`; undefined if it is no path. */
function parsePath(text: string): readonly (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  let rest = text;
  while (rest !== '') {
    const [all, key, index] = /^(?:\.([^.[\]]+)|\[(\d{1,6})\])/.exec(rest) ?? [];
    if (all === undefined) {
      return undefined;
    }
    steps.push(key ?? Number(index));
    rest = rest.slice(all.length);
  }
  return steps;
}

const unquoted = (text: string): string => /^"(.*)"$/.exec(text)?.[1] ?? text;
