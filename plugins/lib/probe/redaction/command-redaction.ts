import { hidden, isSecretName, redactShapes, redactText } from './redaction.ts';
import {
  carriers,
  isKnownProgram,
  type SecretOptions,
  secretOptionsOf,
  wrapperOf,
} from './secret-options.ts';

const assignment = /^-{0,2}[\w.-]+=/;
const option = /^--?[a-zA-Z][\w.-]*$/;
/** Options that prompt for a secret, or name its source: what follows them is none. */
const switches =
  /^--?(?:no|ask|with|without|prompt|disable|enable|skip|allow|show|require|use)-|-(?:stdin|prompt|command|cmd|env|fd)$/;
const isPath = /^(?:\.{0,2}|~)\/|\.(?:pem|key|crt|cer|p12|pfx|jks|json|pub|txt)$/;
const strongName = /passw|secret|token|api|access|account|auth/i;
const header = /^['"]?[\w-]*(?:authorization|cookie|token|api-?key|secret):$/i;
const namedCommand = /^(?:--?[\w-]+|\w*Command)=|^\w*Command\s+/;
const scheme = /^(?:bearer|basic|digest|token|negotiate)$/i;
/** Options of wrappers without a value, after which a program may follow. */
const carrierSwitch =
  /^(?:--|--rm|--tty|--interactive|--detach|--init|-[itd]+|-l?c|-exec|-execdir|--args)$/;
const [deepest, scriptParts] = [
  3,
  /\s+|[;&|()`\n]+|(?:[^\s;&|()`'"\\]|\\[\s\S]|'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?)+|[\s\S]/g,
];

/** The arguments with their secrets hidden, before they leave this machine: by the name of an option, by the program, by shape. */
export const redactArguments = (args: readonly string[]): string[] =>
  new CommandRedaction(args, 0).shown();

/** A word of a line that may name a program: behind a blank, a bracket, a quote, a sign or the folders of its path. */
const maybeProgram = /(?<=^|[\s=(["'`[{:>;&|])(?:\.{0,2}\/[\w./-]*\/)?([A-Za-z][\w.-]*)(?=\s)/g;
/** Arguments in quotes, as the audit log and JSON write them: `a0="mysql" a1="-psecret"`, `["mysql","-psecret"]`. */
const quotedArguments = /"(?:[^"\\]|\\.)*"(?:(?:\s*,\s*|\s+a\d{1,3}=)"(?:[^"\\]|\\.)*")+/g;
const quotedArgument = /"((?:[^"\\]|\\.)*)"/g;

/** Longer lines are data, not commands; their secrets are known by their shapes. */
const longestCommandLine = 20_000;
/** Signs of a command with a secret: an option, what writes commands down, or words that have one behind them. Most lines have none. */
const mayHaveCommand =
  /\s-[-\w]|^\+ |COMMAND=|CMD \(|cmd|exec|<<<|argc=|",\s*"|\S%\S|add_user|change_password|login|passphrase|passw|sqlplus|unseal|_authToken/;

/** Words of a sentence about a program, which no command has without options. */
const prose = /\s(?:is|are|was|were|has|have|cannot|could|will|failed|not|the|to|for|from)\s/;
const judged = new Map<string, boolean>();
const mostJudged = 20_000;

/** Looks a word up once: the words of logs repeat. */
function isProgram(name: string): boolean {
  let known = judged.get(name);
  if (known === undefined) {
    known = isKnownProgram(name);
    if (judged.size >= mostJudged) {
      judged.clear();
    }
    judged.set(name, known);
  }
  return known;
}

/**
 * A line of a log with the secrets of the commands in it hidden, wherever they begin: what sudo, cron,
 * the audit log, shells and supervisors write.
 */
export function redactCommandsIn(line: string): string {
  if (line.length > longestCommandLine || !mayHaveCommand.test(line)) {
    return line;
  }
  const listed = line.replace(quotedArguments, (list) => {
    const args = [...list.matchAll(quotedArgument)].map(([, arg]) => arg!);
    const safe = isKnownProgram(baseName(args[0]!)) ? redactArguments(args) : args;
    let at = 0;
    return list.replace(quotedArgument, () => `"${safe[at++]!}"`);
  });
  const starts = [...listed.matchAll(maybeProgram)]
    .filter(([, name]) => isProgram(name!))
    .map(({ index }) => index);
  if (starts.length === 0) {
    return listed;
  }
  const parts = starts.map((start, i) => {
    const command = listed.slice(start, starts[i + 1]);
    return prose.test(command) && !/\s-\S/.test(command) ? command : redactScript(command, 1);
  });
  return `${listed.slice(0, starts[0])}${parts.join('')}`;
}

type Expected =
  | { readonly kind: 'secret' | 'plain' | 'header' }
  | { readonly kind: 'pair'; readonly sign: string };
const [secret, plain, headerValue] = [
  { kind: 'secret' },
  { kind: 'plain' },
  { kind: 'header' },
] as const;

/** One command on its way through the arguments: which program they belong to, and what the next one is. */
class CommandRedaction {
  readonly #args: readonly string[];
  readonly #depth: number;
  #program: string | undefined;
  #rows: readonly SecretOptions[] = [];
  #waiting: SecretOptions[] = [];
  #wrapper: ReturnType<typeof wrapperOf>;
  #operands = 0;
  #expected: Expected | undefined;
  #last: string | undefined;

  constructor(args: readonly string[], depth: number) {
    this.#args = args;
    this.#depth = depth;
  }

  shown(): string[] {
    return this.#args.map((arg, i) => {
      const expected = this.#expected;
      this.#expected = undefined;
      if (expected !== undefined) {
        return this.#value(arg, expected);
      }
      if (this.#program === undefined) {
        return this.#beforeProgram(arg);
      }
      return this.#argument(arg, this.#args[i - 1] ?? '', this.#args[i + 1]);
    });
  }

  #value(arg: string, expected: Expected): string {
    if (expected.kind === 'plain') {
      return this.#text(arg);
    }
    if (expected.kind === 'pair') {
      return this.#pair(arg, expected.sign);
    }
    if (expected.kind === 'header' && scheme.test(arg)) {
      this.#expected = secret;
      return arg;
    }
    return hidden;
  }

  #pair(value: string, sign: string): string {
    const at = value.indexOf(sign);
    return at === -1 ? this.#text(value) : `${value.slice(0, at + 1)}${hidden}`;
  }

  /** Redacts what precedes the name of the program: assignments, a wrapper with its options. */
  #beforeProgram(arg: string): string {
    if (arg.startsWith('-') && this.#wrapper !== undefined) {
      const valued =
        this.#wrapper.valued.has(arg) ||
        (arg[1] !== '-' && arg.length > 2 && this.#wrapper.valued.has(`-${arg.at(-1)}`));
      this.#expected = valued ? plain : undefined;
      return this.#text(arg);
    }
    if (assignment.test(arg)) {
      return this.#assigned(arg) ?? this.#text(arg);
    }
    if (this.#operands > 0) {
      this.#operands--;
    } else {
      this.#begin(arg);
    }
    return this.#text(arg);
  }

  #begin(name: string): void {
    const program = baseName(name);
    this.#wrapper = wrapperOf(program);
    this.#operands = this.#wrapper?.operands ?? 0;
    this.#program = this.#wrapper === undefined ? program : undefined;
    const rows = secretOptionsOf(program) ?? [];
    this.#rows = rows.filter(({ after }) => after === undefined);
    this.#waiting = rows.filter(({ after }) => after !== undefined);
    this.#last = this.#rows.find(({ last }) => last === '')?.last;
  }

  #argument(arg: string, before: string, next: string | undefined): string {
    if (arg.startsWith('-') || arg.startsWith('/')) {
      const own = this.#ofProgram(arg, next);
      if (own !== undefined) {
        return own;
      }
    }
    const assigned = this.#assigned(arg);
    if (assigned !== undefined) {
      return assigned;
    }
    if (!arg.startsWith('-')) {
      return this.#operand(arg, before, next === undefined);
    }
    if (
      option.test(arg) &&
      !switches.test(arg) &&
      isSecretName(arg) &&
      !this.#rows.some(({ shown }) => has(shown, arg))
    ) {
      this.#expected = next !== undefined && liesIn(arg, next) ? plain : secret;
    }
    return this.#text(arg);
  }

  #operand(arg: string, before: string, isLast: boolean): string {
    if (isLast && this.#last !== undefined && !arg.includes('=')) {
      return hidden;
    }
    for (const { login, behind } of this.#rows) {
      const match = login?.exec(arg);
      if (match) {
        return `${match[0]}${hidden}`;
      }
      if (behind?.test(before) && before !== this.#program) {
        return hidden;
      }
    }
    const opened = this.#waiting.filter(({ after }) => has(after, arg.toLowerCase()));
    if (opened.length > 0) {
      this.#rows = [...this.#rows, ...opened];
      this.#last ??= opened.find(({ last }) => last === '')?.last;
    } else if (
      carriers.has(this.#program!) &&
      (!before.startsWith('-') || carrierSwitch.test(before)) &&
      isKnownProgram(baseName(arg))
    ) {
      this.#begin(arg);
    } else if (header.test(arg)) {
      this.#expected = headerValue;
    }
    return this.#text(arg);
  }

  /** An option that the table knows for this program. */
  #ofProgram(arg: string, next: string | undefined): string | undefined {
    for (const row of this.#rows) {
      if (row.last !== undefined && row.last !== '' && arg[1] !== '-' && arg.includes(row.last)) {
        this.#last = row.last;
      }
      if (has(row.asks, arg)) {
        this.#expected = next === undefined || next.startsWith('-') ? undefined : secret;
        return arg;
      }
      const { name, rest } = optionOf(arg, row);
      if (rest === '' && (has(row.secret, name) || has(row.apart, name))) {
        this.#expected = secret;
        return arg;
      }
      if (rest !== '' && (has(row.secret, name) || has(row.joined, name))) {
        return `${arg.slice(0, arg.length - rest.length)}${hidden}`;
      }
      if (has(row.pair, name) && !has(row.shown, name)) {
        const sign = row.sign ?? ':';
        if (rest !== '') {
          return `${arg.slice(0, arg.length - rest.length)}${this.#pair(rest, sign)}`;
        }
        this.#expected = { kind: 'pair', sign };
        return arg;
      }
    }
    return undefined;
  }

  #assigned(arg: string): string | undefined {
    if (!assignment.test(arg)) {
      return undefined;
    }
    const at = arg.indexOf('=');
    const [name, value] = [arg.slice(0, at), arg.slice(at + 1)];
    const isSecret =
      value !== '' && isSecretName(name) && !this.#rows.some(({ shown }) => has(shown, name));
    return isSecret && !liesIn(name, value) ? `${name}=${hidden}` : undefined;
  }

  #text(arg: string): string {
    if (!arg.includes(' ')) {
      return redactShapes(arg);
    }
    // `--rsh=sshpass -p …`: the command follows the name.
    const [name = ''] = namedCommand.exec(arg) ?? [];
    return this.#depth < deepest
      ? redactShapes(`${name}${redactScript(arg.slice(name.length), this.#depth + 1)}`)
      : redactText(arg);
  }
}

const has = (list: string | undefined, name: string): boolean =>
  list !== undefined && name !== '' && ` ${list} `.includes(` ${name} `);
const baseName = (path: string): string =>
  path.slice(path.lastIndexOf('/') + 1).replace(/^['"`$({]+(?=.)/, '');
/** Returns whether an option names the location of a key, such as `--key server.pem`. */
const liesIn = (name: string, value: string): boolean =>
  !strongName.test(name) && /key$/i.test(name) && isPath.test(value);

/** An argument as the name of an option and what follows it: `--user=a:b`, `-ua:b`, `-sSua:b`, `/p:x`. */
function optionOf(
  arg: string,
  { bare = '', joined, secret: both }: SecretOptions,
): { name: string; rest: string } {
  const at = arg.indexOf('=');
  if (arg.startsWith('--')) {
    return at === -1
      ? { name: arg, rest: '' }
      : { name: arg.slice(0, at), rest: arg.slice(at + 1) };
  }
  const prefix = joined?.split(' ').find((flag) => flag.length > 2 && arg.startsWith(flag));
  if (prefix !== undefined && arg.length > prefix.length) {
    return { name: prefix, rest: arg.slice(prefix.length) };
  }
  let i = 1;
  while (i < arg.length - 1 && bare.includes(arg[i]!)) {
    i++;
  }
  const short = `-${arg[i] ?? ''}`;
  // For options of several letters, such as -pw, only the whole counts.
  const whole = arg.length > 2 && i === 1 && !has(joined, short) && !has(both, short);
  return whole &&
    bare === '' &&
    !arg.startsWith('/') &&
    arg.length <= 9 &&
    !/[^a-zA-Z\d-]/.test(arg)
    ? { name: arg, rest: '' }
    : { name: arg.startsWith('/') ? arg : short, rest: arg.slice(i + 1) };
}

const readsSecret =
  /\bsudo\b.*\s(?:-\w*S|--stdin)\b|\b(?:ch|smb)?passwd\b|-stdin\b|passphrase-fd|\bcryptsetup\b|--with-token|\bkinit\b|pass(?:in)? stdin/;

/**
 * Redacts a shell script in one argument: each of its commands separately, and what an echo pipes
 * into one that reads a secret.
 */
function redactScript(script: string, depth: number): string {
  const parts = script.match(scriptParts) ?? [];
  const shown = [...parts];
  for (let from = 0, i = 0; i <= parts.length; i++) {
    const part = parts[i];
    if (part !== undefined && !/^[;&|()`\n]/.test(part)) {
      continue;
    }
    const places = Array.from({ length: i - from }, (_, k) => from + k).filter(
      (place) => parts[place]!.trim() !== '',
    );
    const bare = places.map((place) => unquoted(parts[place]!));
    const tells =
      part === '|' &&
      /^(?:echo|printf)$/.test(bare[0]?.text ?? '') &&
      readsSecret.test(
        parts
          .slice(i + 1, i + 41)
          .join('')
          .slice(0, 400),
      );
    const safe = new CommandRedaction(
      bare.map(({ text }) => text),
      depth,
    ).shown();
    for (const [k, place] of places.entries()) {
      const { name, text, quote } = bare[k]!;
      const value = tells && k > 0 && !text.startsWith('-') ? hidden : safe[k]!;
      shown[place] =
        value === text
          ? parts[place]!
          : `${name}${quote}${value.slice(value.startsWith(name) ? name.length : 0)}${quote}`;
    }
    from = i + 1;
  }
  return shown.join('');
}

/** Unquotes a word of a script, or the value that it assigns. */
function unquoted(part: string): {
  readonly name: string;
  readonly text: string;
  readonly quote: string;
} {
  const name = assignment.exec(part)?.[0] ?? '';
  const first = part[name.length];
  const quote = first === '"' || first === "'" ? first : '';
  const whole =
    quote !== '' &&
    part.length > name.length + 1 &&
    part.indexOf(quote, name.length + 1) === part.length - 1;
  return whole
    ? { name, text: `${name}${part.slice(name.length + 1, -1)}`, quote }
    : { name: '', text: part, quote: '' };
}
