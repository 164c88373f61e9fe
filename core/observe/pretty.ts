import { inert } from './inert.ts';

const colours: Readonly<Record<string, string>> = { debug: '\x1b[90m', info: '\x1b[32m', warn: '\x1b[33m', error: '\x1b[31m' };
const dim = '\x1b[2m';
const plain = '\x1b[0m';

/**
 * One log line for people: `time LEVEL component message field=value`, an error's stack indented below.
 * Takes the finished JSON line, so that nothing reaches a terminal which has not passed the choke point.
 */
export function pretty(line: string, colour: boolean): string {
  const { time, level, component, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const paint = (code: string, text: string): string => (colour ? `${code}${text}${plain}` : text);
  const stacks: string[] = [];
  const shown = Object.entries(fields).map(([key, value]) => `${inert(key)}=${shownValue(value, stacks)}`);
  const head = [
    paint(dim, String(time)),
    paint(colours[String(level)] ?? '', String(level).toUpperCase().padEnd(5)),
    inert(String(component)),
    inert(String(message)),
    ...(shown.length > 0 ? [paint(dim, shown.join(' '))] : []),
  ].join(' ');
  // Only a real line begins in the first column, so text inside a stack cannot pose as one.
  const below = stacks.flatMap((stack) => stack.split('\n')).map((text) => `    ${inert(text)}\n`);
  return `${head}\n${below.join('')}`;
}

/** A field as `key=value` shows it; the stack of an error is lifted out. */
function shownValue(value: unknown, stacks: string[]): string {
  if (typeof value === 'string') {
    return /^[\w.:/@+-]+$/.test(value) ? value : inert(JSON.stringify(value));
  }
  if (isPlainError(value)) {
    const { stack, ...rest } = value;
    stacks.push(stack);
    return inert(JSON.stringify(rest));
  }
  return inert(JSON.stringify(value) ?? 'undefined');
}

const isPlainError = (value: unknown): value is { stack: string } =>
  typeof value === 'object' && value !== null && 'stack' in value && typeof value.stack === 'string';
