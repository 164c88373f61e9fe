import { pino } from 'pino';

import { type Clock, type LogFields, type Logger, timestamp } from '../sdk/index.ts';
import { inert } from './inert.ts';
import type { Observers } from './observers.ts';
import { redact, redactText } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogOptions {
  readonly level: LogLevel;
  /** Lines for people, or one JSON object a line for collectors. */
  readonly format: 'pretty' | 'json';
  /** Gets every finished line with its end; default: standard output. */
  readonly write?: (line: string) => void;
  /** Colours of pretty lines; default: if standard output is a terminal and `NO_COLOR` is unset. */
  readonly colour?: boolean;
  readonly clock: Clock;
  /** Gets every line besides, when it wants lines. */
  readonly observers?: Pick<Observers, 'wantsLines' | 'line'>;
}

/** Lines kept while standard output takes none; beyond it they are lost. */
const keptBytes = 1024 * 1024;

/** Names that belong to the line itself; a field of that name moves aside instead of forging it. */
const reserved = new Set(['time', 'level', 'component', 'message']);

/** Logs, written synchronously: what was logged before an exit or a crash is there. */
export class Logs {
  readonly #output: { write(line: string): unknown; flushSync(): void };
  readonly #root: ReturnType<typeof pino>;
  /**
   * Level and component of the line being written: the writer below is called before the logging
   * call returns.
   */
  #spoken: { readonly level: LogLevel; readonly component: string } = {
    level: 'info',
    component: '',
  };

  constructor({
    level,
    format,
    write,
    colour = process.stdout.isTTY && !process.env['NO_COLOR'],
    clock,
    observers,
  }: LogOptions) {
    const output = write ? { write, flushSync: () => undefined } : standardOutput();
    const finished =
      format === 'pretty'
        ? (line: string) => pretty(line, colour)
        : (line: string) => `${inert(line)}\n`;
    this.#output = output;
    this.#root = pino(
      {
        level,
        base: null,
        messageKey: 'message',
        depthLimit: 10,
        timestamp: () => `,"time":"${timestamp(clock.now())}"`,
        formatters: {
          level: (label) => ({ level: label }),
          log: ({ component, fields }) => ({ component, ...safe(fields as LogFields) }),
        },
      },
      {
        write: (line: string) => {
          const text = line.trimEnd();
          output.write(finished(text));
          if (observers?.wantsLines) {
            observers.line({ at: clock.now(), ...this.#spoken, text: inert(text) });
          }
        },
      },
    );
  }

  /** Returns the logger of one part of the service; `component` is on each of its lines. */
  logger(component: string): Logger {
    const at = (severity: LogLevel) => (fields: LogFields, message: string) => {
      if (this.#root.isLevelEnabled(severity)) {
        this.#spoken = { level: severity, component };
        this.#root[severity]({ component, fields }, redactText(message));
      }
    };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  /** Sets the level from the next line on, for every logger ever made. */
  setLevel(next: LogLevel): void {
    this.#root.level = next;
  }

  /** Writes what a full disk or a slow reader has kept back so far. */
  flush(): void {
    this.#output.flushSync();
  }
}

function standardOutput() {
  const output = pino.destination({ dest: 1, sync: true, maxLength: keptBytes });
  // A full disk behind a redirected log must not end the process, and there is no second place to
  // report it.
  output.on('error', () => undefined);
  return output;
}

function safe(fields: LogFields): Record<string, unknown> {
  const entries = Object.entries(redact(fields) as Record<string, unknown>);
  return Object.fromEntries(
    entries.map(([key, value]) => [reserved.has(key) ? `${key}_` : key, value]),
  );
}

const colours: Readonly<Record<string, string>> = {
  debug: '\x1b[90m',
  info: '\x1b[32m',
  warn: '\x1b[33m',
  error: '\x1b[31m',
};
const dim = '\x1b[2m';
const plain = '\x1b[0m';

/**
 * One log line for people: `time LEVEL component message field=value`, an error's stack indented below.
 * Takes the finished JSON line, so that nothing reaches a terminal which has not passed the choke point.
 */
function pretty(line: string, colour: boolean): string {
  const { time, level, component, message, ...fields } = JSON.parse(line) as Record<
    string,
    unknown
  >;
  const paint = (code: string, text: string): string => (colour ? `${code}${text}${plain}` : text);
  const stacks: string[] = [];
  const shown = Object.entries(fields).map(
    ([key, value]) => `${inert(key)}=${shownValue(value, stacks)}`,
  );
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
  typeof value === 'object' &&
  value !== null &&
  'stack' in value &&
  typeof value.stack === 'string';
