/** Placeholder for differing parts of a template, as in LogQL's pattern filters. */
const anything = '<_>';

/** Template of similar lines, with their number. */
export interface Template {
  /** `<_>` where they differ; a LogQL pattern filter `|> "…"` finds them. */
  readonly pattern: string;
  readonly count: number;
  /** Text of the first line. */
  readonly example: string;
  /** Milliseconds. */
  readonly first: number;
  readonly last: number;
  /** Lines by the beginning of their time step, in the order of first sight. */
  readonly steps: ReadonlyMap<number, number>;
}

export interface TemplateTreeOptions {
  /** Length of a time step; infinite for one step in all. */
  readonly stepMs: number;
  readonly maxTemplates?: number;
}

/** A template as it grows: words between separators that are the same for all of its lines. */
interface Growing {
  readonly words: string[];
  /** Words of the message within a line of fields; empty where there is none. */
  readonly message: string[];
  readonly separators: readonly string[];
  readonly example: string;
  count: number;
  first: number;
  last: number;
  readonly steps: Map<number, number>;
}

/** Words of a line that lead to its leaf, after how it is divided. */
const depth = 2;
const maxBranches = 100;
/** Max length of a line that is compared; the rest is ignored. */
const longestLine = 4_096;
const maxWords = 200;
/** Min share of equal words between two lines of one template. */
const leastAlike = 0.5;
const separator = /([\s,;=:"'{}[\]()|&]+)/;

/**
 * Finds the templates of lines incrementally, each with one descent of a tree of fixed depth: lines
 * with the same word boundaries and the same beginning are compared word by word, and where they
 * differ the template drops the word.
 */
export class TemplateTree {
  readonly #stepMs: number;
  readonly #most: number;
  readonly #leaves = new Map<string, Growing[]>();
  readonly #branches = new Map<string, number>();
  #size = 0;
  /** Number of lines beyond the templates kept. */
  others = 0;

  constructor({ stepMs, maxTemplates = 1_000 }: TemplateTreeOptions) {
    this.#stepMs = stepMs;
    this.#most = maxTemplates;
  }

  add(line: string, atMs: number): void {
    const parts = masked(line.length > longestLine ? line.slice(0, longestLine) : line).split(
      separator,
      2 * maxWords,
    );
    const words = parts.filter((_, at) => at % 2 === 0);
    const separators = parts.filter((_, at) => at % 2 === 1);
    const message = messageOf(line);
    const leaf = this.#leafOf(words, separators.join(''), levelOf(line));
    const known = closest(leaf, words, message);
    if (known === undefined && this.#size >= this.#most) {
      this.others += 1;
      return;
    }
    const template = known ?? {
      words,
      message: [...message],
      separators,
      example: line.slice(0, longestLine),
      count: 0,
      first: atMs,
      last: atMs,
      steps: new Map<number, number>(),
    };
    if (known === undefined) {
      leaf.push(template);
      this.#size += 1;
    }
    template.words.forEach((word, at) => word !== words[at] && (template.words[at] = anything));
    message.forEach(
      (word, at) => word !== template.message[at] && (template.message[at] = anything),
    );
    template.count += 1;
    template.first = Math.min(template.first, atMs);
    template.last = Math.max(template.last, atMs);
    const step = this.#stepMs === Infinity ? 0 : Math.floor(atMs / this.#stepMs) * this.#stepMs;
    template.steps.set(step, (template.steps.get(step) ?? 0) + 1);
  }

  /** The most frequent first. */
  templates(): Template[] {
    const found = [...this.#leaves.values()]
      .flat()
      .map(({ words, separators, message: _message, ...template }) => ({
        ...template,
        pattern: patternOf(words, separators),
      }));
    return found.sort((a, b) => b.count - a.count || (a.pattern < b.pattern ? -1 : 1));
  }

  /** A place with too many different words takes all further ones for one. */
  #leafOf(words: readonly string[], divided: string, level: string): Growing[] {
    let key = `${words.length} ${divided} ${level}`;
    for (const word of words.slice(0, depth)) {
      const own = `${key}\n${word}`;
      const taken = this.#branches.get(key) ?? 0;
      const isNew = !this.#branches.has(own);
      const isRoom = taken < maxBranches && !/\d/.test(word);
      if (isNew && isRoom) {
        this.#branches.set(key, taken + 1).set(own, 0);
      }
      key = isNew && !isRoom ? `${key}\n${anything}` : own;
    }
    const leaf = this.#leaves.get(key) ?? [];
    this.#leaves.set(key, leaf);
    return leaf;
  }
}

function closest(
  leaf: readonly Growing[],
  words: readonly string[],
  message: readonly string[],
): Growing | undefined {
  let best: Growing | undefined;
  let most = -1;
  for (const template of leaf) {
    const alike = shared(template.words, words);
    // Fields that are the same for all lines say nothing: what a line says is its message.
    if (alike > most && saysTheSame(template.message, message)) {
      [best, most] = [template, alike];
    }
  }
  return most >= leastAlike * words.length ? best : undefined;
}

const saysTheSame = (known: readonly string[], message: readonly string[]): boolean =>
  known.length === message.length &&
  (message.length === 0 || shared(known, message) > leastAlike * message.length);

const shared = (one: readonly string[], other: readonly string[]): number =>
  one.reduce((sum, word, at) => sum + (word === other[at] ? 1 : 0), 0);

const level =
  /(?:^|[\s{,"])(?:level|lvl|severity|loglevel|log\.level)"?\s*[:=]\s*"?([A-Za-z]{3,11})|(?:^|[\s[|<(])(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRIT(?:ICAL)?|ALERT|EMERG|PANIC)(?=[\s\]|>):]|$)/;
const lead = 400;

/** Returns the severity that a line states: an error is no variant of a success. */
function levelOf(line: string): string {
  const [, named, written] = level.exec(line.slice(0, lead)) ?? [];
  return (named ?? written ?? '').toLowerCase();
}

const saying = /(?:^|[\s{,])"?(?:message|msg|event)"?\s*[:=]\s*"((?:[^"\\]|\\.)*)"/;

/** Words of the message in a line of JSON or logfmt; none in other lines, which are messages themselves. */
function messageOf(line: string): readonly string[] {
  const [, text] = saying.exec(line.slice(0, longestLine)) ?? [];
  return text === undefined ? [] : masked(text).split(/\s+/).filter(Boolean);
}

/** Builds the pattern; adjacent placeholders with only blanks between them are merged. */
const patternOf = (words: readonly string[], separators: readonly string[]): string =>
  words
    .map((word, at) => word + (separators[at] ?? ''))
    .join('')
    .replace(/<_>(?:\s*<_>)+/g, anything)
    .trim();

// oxlint-disable-next-line no-control-regex -- colours of terminals
const colour = /\u001b\[[\d;]*m/g;

/** Variable parts that are never part of a template, most specific first. */
const variable: readonly RegExp[] = [
  // Instants.
  /(?<![\w<])\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?!\w)/gi,
  // UUIDs.
  /(?<![\w<])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)/gi,
  // Addresses of networks and cards, with ports.
  /(?<![\w<])(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2}|:\d{1,5})?(?!\w)/g,
  /(?<![\w<])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?!\w)/gi,
  /(?<![\w<])\[?(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{0,4}(?:\]:\d{1,5})?(?!\w)/gi,
  // Times of day.
  /(?<![\w<])\d\d:\d\d:\d\d(?:[.,]\d+)?(?!\w)/g,
  // Paths.
  /(?<![\w<])(?:\/[\w.@%+~=-]+){2,}\/?(?!\w)/g,
  // Hex, and numbers with their units.
  /(?<![\w<])(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,})(?!\w)/gi,
  /(?<![\w<])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?[a-z%µ]{0,3}(?!\w)/gi,
];

/** The text with a placeholder for each of them. */
export const masked = (text: string): string =>
  variable.reduce((left, form) => left.replace(form, anything), text.replace(colour, ''));
