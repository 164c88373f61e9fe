import type { Logger } from 'svc/sdk';

/** Line that a program printed, as passed to the log. */
export interface SaidLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const levels: Readonly<Record<string, keyof Logger>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warn: 'warn',
  warning: 'warn',
  error: 'error',
  err: 'error',
  fatal: 'error',
  critical: 'error',
  panic: 'error',
};
const mostFields = 20;
const event = 'programs.said';

/** Parses a line of JSON or logfmt, so that it keeps its level and is not nested. */
export function saidLine(line: string): SaidLine {
  const { level: named, message, msg, time: _, component, ...rest } = objectIn(line) ?? {};
  const text = [message, msg].find((one) => typeof one === 'string');
  if (text === undefined) {
    const level = levelOf(/(?:^|\s)level="?(\w+)/.exec(line)?.[1]);
    return { level, message: line, fields: { event } };
  }
  const fields = Object.fromEntries(Object.entries(rest).slice(0, mostFields));
  return {
    level: levelOf(named),
    message: text,
    fields: { event, ...fields, ...(component !== undefined && { program_component: component }) },
  };
}

const levelOf = (name: unknown): keyof Logger =>
  typeof name === 'string' && Object.hasOwn(levels, name.toLowerCase())
    ? levels[name.toLowerCase()]!
    : 'info';

function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) {
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // It only looks like JSON.
    return undefined;
  }
}
